"""The spec table of a comparison: a chosen baseline, conditions kept apart, what is missing said, derived apart."""

import re

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator

H100_M3 = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
SIX = (
    "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40&a=nvidia-geforce-rtx-4090&a=amd-mi300x"
    "&a=google-tpu-v5p&a=nvidia-a100-sxm4-80gb"
)


def sheets_at(client, url):
    return client.get(url).context["comparison"].sheets


def row_of(sheets, field, condition=""):
    (line,) = [line for line in sheets.rows if (line.row.field, line.row.condition) == (field, condition)]
    return line


# --- the baseline ---


def test_factors_are_against_the_first_until_another_is_chosen(client, curated, db):
    first = row_of(sheets_at(client, H100_M3), "memory_bandwidth_gb_s")
    assert [cell.factor for cell in first.cells] == ["", "0.12×"]
    second = row_of(sheets_at(client, H100_M3 + "&base=apple-m3-max-40"), "memory_bandwidth_gb_s")
    assert [cell.factor for cell in second.cells] == ["8.4×", ""]
    assert [cell.is_best for cell in second.cells] == [True, False]


def test_headers_link_to_other_baselines(client, curated, db):
    page = client.get(H100_M3 + "&only=differences").content.decode()
    other = "?a=nvidia-h100-sxm5-80gb&amp;a=apple-m3-max-40&amp;base=apple-m3-max-40&amp;only=differences#specs"
    assert f'href="{other}"' in page
    assert page.count('class="base"') == 2
    heads = sheets_at(client, SIX + "&base=amd-mi300x").heads
    assert "base=" in heads[0].remove_url
    assert "base=" not in heads[3].remove_url
    response = client.get(H100_M3 + "&base=nvidia-t4")  # no subject here: the first is
    assert response.context["comparison"].sheets.base.name == "nvidia-h100-sxm5-80gb"
    assert "is not one of the subjects compared" in response.content.decode()


# --- conditions ---


def test_other_conditions_have_no_factor_or_mark(client, curated, db):
    sheets = sheets_at(client, SIX)
    line = row_of(sheets, "fp16_tensor_tflops", "dense, fp16 accumulate")
    h100, apple, rtx = line.cells[:3]
    assert (rtx.text, rtx.is_published) == ("330.3", True)
    assert (h100.text, h100.condition, h100.is_published) == ("989.4", "dense, fp32 accumulate", False)
    assert not any(cell.factor or cell.is_best for cell in line.cells)
    assert apple.missing == "no matrix units in the GPU before A19 and M5"
    assert not any(cell.is_best for line in sheets.rows if line.row.better is None for cell in line.cells)
    assert row_of(sheets, "tdp_w").row.better is None  # less power is no merit without the speed
    sheets = sheets_at(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=nvidia-geforce-rtx-4090")
    (line,) = [line for line in sheets.rows if line.row.field == "launch_price_usd"]
    h100, rtx = line.cells
    assert (h100.text, h100.condition) == ("", "")  # a shop's listing is no launch price
    assert (rtx.text, rtx.factor) == ("1,599", "")


def test_factors_need_equal_conditions(client, curated, db):
    rows = sheets_at(client, SIX + "&base=nvidia-geforce-rtx-4090").rows
    without_base = [line for line in rows if not line.cells[2].is_published]
    assert without_base
    assert not any(cell.factor and not cell.is_like for line in without_base for cell in line.cells)
    beside = [cell for line in rows for cell in line.cells if not cell.is_published]
    assert not any(cell.is_best or (cell.factor and not cell.is_like) for cell in beside)


def test_what_cannot_be_is_told_from_what_is_not_published(client, curated, db):
    comparison = client.get(H100_M3 + "&a=nvidia-geforce-rtx-4090").context["comparison"]
    assert row_of(comparison.sheets, "fp64_tflops", "dense").cells[1].missing == "Metal has no fp64"
    assert row_of(comparison.sheets, "interconnect").cells[1].missing == "not published"
    tiles = {tile.title: tile for tile in comparison.tiles}
    assert tiles["Price: street price, least first"].rest == "sold in Macs, not by itself: M3 Max (40-core GPU)"


# --- derived figures ---


def test_derived_figures_list_missing_inputs(client, curated, db):
    sheets = sheets_at(client, H100_M3)
    assert [group.name for group in sheets.groups][-1] == "derived"
    ridge = row_of(sheets, "ridge-point", "bf16 tensor, dense")
    assert (ridge.cells[0].text, ridge.row.unit) == ("295.3", "FLOP/B")
    assert ridge.cells[0].note == "989.4 TFLOPS ÷ 3,350 GB/s"
    assert "bf16 tensor" in ridge.cells[1].missing
    assert "memory bandwidth" in ridge.row.meaning


def test_only_differences_leaves_no_empty_group(client, curated, db):
    whole = sheets_at(client, H100_M3)
    assert [group.title for group in whole.groups][:3] == ["Product", "Memory", "Peak rates"]
    assert sum(len(group.rows) for group in whole.groups) == len(whole.rows)
    folded = sheets_at(
        client, "/compare/?a=nvidia-h100-sxm5-80gb&a=nvidia-h100-sxm5-80gb&a=nvidia-h100-pcie-80gb&only=differences"
    )
    assert folded.groups
    assert all(group.rows for group in folded.groups)
    assert all(line.differs for group in folded.groups for line in group.rows)


# --- the page ---


@pytest.mark.parametrize("query", ["", "&base=apple-m3-max-40&only=differences"])
def test_six_sheets_of_four_stacks_take_less_than_110_kb(client, curated, db, query):
    assert len(client.get(SIX + query).content) < 110_000


def test_sheets_of_one_stack_share_a_column(client, curated, db):
    stacks = client.get(SIX).context["comparison"].stacks
    titles = ["H100 SXM5 80GB, GeForce RTX 4090, A100 SXM4 80GB", "M3 Max (40-core GPU)", "Instinct MI300X", "TPU v5p"]
    assert [column.title for column in stacks.drawing.columns] == titles
    assert [column.hue.vendor for column in stacks.drawing.columns] == ["nvidia", "apple", "amd", "google"]
    assert stacks.undescribed == ()
    slugs = ("amd-mi300x", "intel-max-1550", "google-tpu-v5p", "huawei-ascend-910b", "intel-gaudi3")
    response = client.get("/compare/?" + "&".join(f"a={slug}" for slug in slugs))
    stacks = response.context["comparison"].stacks
    assert (len(stacks.drawing.columns), stacks.undescribed) == (4, ("Gaudi 3",))
    assert len(response.content) < 100_000


@pytest.mark.parametrize("count", [2, 6])
def test_sheet_query_count_is_constant(client, curated, db, count, django_assert_num_queries):
    query = "&".join(SIX.partition("?")[2].split("&")[:count])
    client.get(f"/compare/?{query}")  # what is public and the described stacks are read once
    for further in ("", "&base=apple-m3-max-40&only=differences"):
        cache.clear()
        with django_assert_num_queries(2):  # the editions, what public machines measured
            client.get(f"/compare/?{query}{further}")
        with django_assert_num_queries(2):
            client.get(f"/compare/?{query}{further}")


def test_parameters_that_mean_nothing_are_left_out_with_a_note(client, curated, db):
    response = client.get(H100_M3 + "&only=everything&at=tomorrow&<b>=1&sort=price")
    text = re.sub(r"<[^>]+>", "", response.content.decode())
    assert response.status_code == 200
    unknown = ("choice “everything”", "parameter “&lt;b&gt;”", "parameter “sort”")
    for note in (*(f"Unknown {named}" for named in unknown), "“tomorrow” is not a past moment"):
        assert note in text
    assert "<b>=" not in response.content.decode()


def test_hidden_sheet_leaves_comparisons(client, curated, db):
    Accelerator.objects.filter(slug="apple-m3-max-40").update(is_public=False)
    assert [head.name for head in sheets_at(client, H100_M3).heads] == ["nvidia-h100-sxm5-80gb"]
