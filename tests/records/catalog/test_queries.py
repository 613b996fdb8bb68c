"""What other rooms read: rows for comparison, headlines, peaks; constant query counts."""

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import accelerators_by_slug, peaks, usual_peak
from stackviz.records.catalog.spec_table import spec_table

SLUGS = ["nvidia-h100-sxm5-80gb", "apple-m3-max-40", "nvidia-geforce-rtx-4090", "nvidia-v100-sxm2"]


@pytest.fixture
def chosen(curated, db) -> list[Accelerator]:
    found = accelerators_by_slug(SLUGS)
    return [found[slug] for slug in SLUGS]


def rows_of(table, field):
    return [row for row in table if row.field == field]


def texts(row):
    return [cell.text if cell else None for cell in row.cells]


def test_figures_stand_side_by_side_in_one_unit(chosen):
    (row,) = rows_of(spec_table(chosen[:2]), "memory_bandwidth_gb_s")
    assert (row.unit, texts(row), row.better) == ("GB/s", ["3,350", "400"], True)


def test_dense_and_sparse_never_share_a_row(chosen):
    rows = rows_of(spec_table(chosen[:1]), "bf16_tensor_tflops")
    assert [(row.condition, texts(row)) for row in rows] == [("dense", ["989.4"]), ("with 2:4 sparsity", ["1,978.9"])]


def test_what_is_not_published_is_none(chosen):
    (row,) = [row for row in rows_of(spec_table(chosen[:2]), "bf16_tensor_tflops") if row.condition == "dense"]
    assert texts(row) == ["989.4", None]


def test_unnamed_accumulate_type_is_marked(chosen):
    rows = rows_of(spec_table(chosen), "fp16_tensor_tflops")
    first = rows[0]
    assert first.condition == "dense, fp32 accumulate"
    assert texts(first) == ["989.4", None, "165.2", "125"]
    assert "the source does not name the accumulate type" in first.cells[0].note


def test_memory_sizes_of_one_product_share_a_cell(chosen):
    (row,) = rows_of(spec_table(chosen), "memory_gb")
    assert texts(row) == ["80", "48 / 64 / 128", "24", "16 / 32"]
    assert [cell.amount for cell in row.cells] == [80e9, 128e9, 24e9, 32e9]


def test_every_cell_has_a_source_with_an_address(chosen):
    cells = [cell for row in spec_table(chosen) for cell in row.cells if cell]
    assert len(cells) > 100
    assert all(cell.source_title and cell.source_url.startswith("http") for cell in cells)


def test_rows_follow_the_registry(chosen):
    fields = [row.field for row in spec_table(chosen)]
    assert (
        fields.index("memory_gb") < fields.index("fp32_tflops") < fields.index("tdp_w") < fields.index("process_node")
    )


@pytest.mark.parametrize("count", [1, 4])
def test_a_comparison_costs_one_query(chosen, django_assert_num_queries, count):
    with django_assert_num_queries(1):
        spec_table(chosen[:count])


def test_peak_is_dense_rate_with_fp32_accumulate(chosen, django_assert_num_queries):
    h100, apple, rtx, _v100 = (item.pk for item in chosen)
    with django_assert_num_queries(1):
        found = peaks([h100, apple, rtx])
    assert usual_peak(found, rtx, "fp16_tensor_tflops") == ("sparsity=dense; accumulate=fp32", 165.2e12)
    assert usual_peak(found, h100, "fp16_tensor_tflops") == ("sparsity=dense", 989.4e12)
    assert usual_peak(found, apple, "fp16_tensor_tflops") is None
    assert usual_peak(found, apple, "memory_bandwidth_gb_s") == ("", 400e9)


def test_what_is_not_public_is_not_found(curated, db):
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    assert accelerators_by_slug(["nvidia-t4"]) == {}


def test_hidden_accelerators_have_no_figures(chosen):
    h100 = chosen[0]
    assert peaks([h100.pk])
    Accelerator.objects.filter(pk=h100.pk).update(is_public=False)
    assert peaks([h100.pk]) == {}
    assert spec_table([h100]) == ()
