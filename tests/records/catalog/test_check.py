"""check_catalogue: each check lets the right through and names the wrong with what it expected."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA, disagreements, published_by
from stackviz.records.catalog.check import check_catalogue, check_lines
from stackviz.records.catalog.checks import CHECKS, is_host_of
from stackviz.records.catalog.files import ExceptionLine
from stackviz.records.catalog.models import Accelerator, Alias, SpecValue

DENSE, SPARSE = "sparsity=dense", "sparsity=sparse"


@pytest.fixture
def says(card, sheet_source):
    """`says("tdp_w", "70", "W")`: a public value of one card, preferred unless said otherwise."""

    def say(field, value, unit="", condition="", **others) -> SpecValue:
        chosen = {"status": "public", "is_preferred": True, "source": sheet_source, **others}
        return SpecValue.objects.create(
            accelerator=card, field=field, value=value, unit=unit, condition=condition, **chosen
        )

    return say


def changed(row: SpecValue, **columns) -> None:
    """What no form would let through, as a bulk write or another program might leave it."""
    SpecValue.objects.filter(pk=row.pk).update(**columns)


def problems(name: str, exceptions=()) -> list[tuple[str, str]]:
    """(what is said, what was expected) of one check."""
    (outcome,) = [outcome for outcome in check_catalogue(exceptions).outcomes if outcome.name == name]
    return [(problem.actual, problem.expected) for problem in outcome.problems]


def excused(name: str, exceptions=()) -> int:
    (outcome,) = [outcome for outcome in check_catalogue(exceptions).outcomes if outcome.name == name]
    return outcome.excused


# --- each value by itself ---


def test_a_value_with_a_source_on_the_web_passes(bandwidth):
    assert problems("source") == []


@pytest.mark.parametrize(
    "url", ["https://", "http://localhost/sheet", "https://acme.example/a sheet", "https://acme.example/"]
)
def test_a_source_that_is_no_page_on_the_web_is_named(bandwidth, sheet_source, url):
    type(sheet_source).objects.filter(pk=sheet_source.pk).update(url=url)
    assert problems("source") == [("3350 GB/s", f"the web address of a page for its source, not {url!r}")]


def test_what_is_not_public_needs_no_source(says):
    says("tdp_w", "70", "W", status="unreviewed", is_preferred=False, source=None)
    assert check_catalogue(()).reviewed_values == 0
    assert problems("source") == []


def test_what_a_hidden_accelerator_says_is_not_public(bandwidth, card):
    Accelerator.objects.filter(pk=card.pk).update(is_public=False)
    assert (check_catalogue(()).public_accelerators, check_catalogue(()).reviewed_values) == (0, 0)


def test_a_field_nobody_registered_is_named(bandwidth):
    changed(bandwidth, field="speed")
    assert problems("field") == [("3350 GB/s", "a field of the registry")]


def test_a_field_that_cannot_be_of_such_a_product_is_named(says):
    says("architecture", "One")
    assert problems("field") == []
    says("min_macos", "26")
    assert problems("field") == [("26", "no such value: the field does not apply to gpu of Acme")]


def test_a_unit_of_another_kind_is_named(bandwidth):
    assert problems("unit") == []
    changed(bandwidth, unit="GB")
    assert problems("unit") == [("3350 GB", "memory_bandwidth_gb_s is measured in GB/s; GB measures something else")]


def test_an_amount_that_is_not_the_printed_value_is_named(bandwidth):
    changed(bandwidth, amount=3350.0)
    assert problems("unit") == [("3350 GB/s", "an amount of 3350000000000.0, not 3350.0")]


def test_a_figure_that_its_source_does_not_print_is_named(bandwidth):
    for note in ("source prints 3350; and 3.35 TB/s", "another source prints 2000", "source prints the sum"):
        changed(bandwidth, note=note)
        assert problems("printed") == []
    changed(bandwidth, note="rounded; source prints 3352.3")
    assert problems("printed") == [("3350 GB/s", "3352.3 GB/s, which its note says the source prints")]


def test_a_figure_out_of_range_is_named_with_the_range(says):
    power = says("tdp_w", "70", "W")
    assert problems("range") == []
    changed(power, value="70000", amount=70000.0)
    assert problems("range") == [("70000 W", "1 – 30000 W")]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("accumulate=fp32; sparsity=dense", "written 'sparsity=dense; accumulate=fp32'"),
        ("dense", "'dense' is not key=value"),
        ("", "a rate that says whether it is dense or sparse"),
        ("accumulate=fp32", "a rate that says whether it is dense or sparse"),
    ],
)
def test_a_condition_that_is_not_canonical_is_named(says, condition, expected):
    rate = says("fp16_tensor_tflops", "100", "TFLOPS", DENSE)
    assert problems("condition") == []
    changed(rate, condition=condition)
    assert problems("condition") == [("100 TFLOPS", expected)]


def test_a_date_that_is_none_is_named(says):
    released = says("release_date", "2022-10")
    assert problems("unit") == []
    changed(released, value="soon")
    assert problems("unit") == [("soon", "release_date is written 2022, 2022-10 or 2022-10-13, not 'soon'")]


@pytest.mark.parametrize(
    ("vendor", "url", "is_own"),
    [
        ("nvidia", "https://docs.nvidia.com/cuda/", True),
        ("nvidia", "http://images.nvidia.cn/sheet.pdf", True),
        ("nvidia", "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/a/README.md", True),
        ("nvidia", "https://github.com/somebody/NVIDIA", False),
        ("nvidia", "https://nvidia.copies.example/sheet", False),
        ("amd", "https://www.nvidia.com/en-us/", False),
        ("amd", "https://gpuopen.com/learn/", True),
        ("google", "https://docs.jax.dev/en/latest/", True),
        ("nvidia", "https://[broken", False),
    ],
)
def test_hosts_of_a_vendor(vendor, url, is_own):
    assert is_host_of(vendor, url) is is_own


def test_a_copy_elsewhere_is_no_document_of_the_vendor(bandwidth, sheet_source):
    type(sheet_source).objects.filter(pk=sheet_source.pk).update(kind="maker", url="https://copies.example/acme.pdf")
    name = bandwidth.accelerator.vendor.name
    assert problems("vendor") == [("3350 GB/s", f"a page of {name}, not https://copies.example/acme.pdf")]


# --- values against each other ---


def test_a_cell_without_a_preferred_value_is_named(says):
    says("tdp_w", "70", "W")
    assert problems("preferred") == []
    says("memory_gb", "16", "GB", is_preferred=False)
    assert problems("preferred") == [("16 GB", "one preferred value, not 0")]


def test_wrong_bandwidth_is_reported_with_its_formula(bandwidth, says):
    says("memory_type", "HBM3")
    says("memory_bus_bits", "5120", "bit")
    assert problems("formula") == []
    changed(bandwidth, value="2000", amount=2e12)
    assert problems("formula") == [("2000 GB/s", "5120 bit × 4.8 … 6.4 Gbit/s (HBM3) / 8 = 2,980 – 4,219")]


@pytest.fixture
def wrong_fp32(says) -> SpecValue:
    """Half of what lanes and clock give."""
    says("cuda_cores", "1000", "count")
    says("boost_clock_mhz", "1000", "MHz")
    return says("fp32_tflops", "1.000", "TFLOPS", DENSE)


def test_exception_excuses_a_differing_figure(wrong_fp32):
    line = ExceptionLine("acme-one", "fp32_tflops", DENSE, "runs at half rate", "acme-sheet")
    assert problems("formula") == [("1.000 TFLOPS", "2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06")]
    assert (problems("formula", [line]), excused("formula", [line])) == ([], 1)
    assert check_catalogue([line]).idle == ()


def test_an_exception_that_excuses_nothing_is_said(says):
    line = ExceptionLine("acme-one", "fp32_tflops", DENSE, "runs at half rate", "acme-sheet")
    verdict = check_catalogue([line])
    assert verdict.is_clean
    assert verdict.idle == (("acme-one", "fp32_tflops", DENSE),)
    assert any("acme-one, fp32_tflops" in text and "no longer needed" in text for text in check_lines(verdict))


def test_note_excuses_a_differing_figure(wrong_fp32):
    changed(wrong_fp32, note="approximate")
    assert len(problems("formula")) == 1
    changed(wrong_fp32, note=f"{NOT_BY_FORMULA} the maker halves the rate")
    assert (problems("formula"), excused("formula")) == ([], 1)


def test_another_source_that_lost_needs_a_note(wrong_fp32, says):
    changed(wrong_fp32, value="2.0", amount=2e12)
    other = says("fp32_tflops", "1.000", "TFLOPS", DENSE, is_preferred=False)
    assert len(problems("formula")) == 1
    changed(other, note="a preliminary figure")
    assert (problems("formula"), excused("formula")) == ([], 1)


def test_a_value_not_yet_saved_is_held_against_its_sheet(wrong_fp32, card):
    sheet = published_by(card.slug, SpecValue.objects.filter(accelerator=card))
    proposed = SpecValue(accelerator=card, field="fp32_tflops", value="2.0", unit="TFLOPS", condition=DENSE)
    proposed.normalise()
    assert disagreements(proposed, sheet) == []
    assert [str(one) for one in disagreements(wrong_fp32, sheet)] == ["2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06"]


def test_a_dense_rate_below_the_sparse_one_passes(says):
    says("bf16_tensor_tflops", "989.4", "TFLOPS", DENSE)
    says("bf16_tensor_tflops", "1979", "TFLOPS", SPARSE)
    assert problems("sparse") == []


def test_a_sparse_rate_in_a_dense_field_is_named(says):
    says("bf16_tensor_tflops", "1979", "TFLOPS", DENSE)
    says("bf16_tensor_tflops", "1978.9", "TFLOPS", SPARSE)
    assert problems("sparse") == [("1979 TFLOPS", "less than the sparse rate, 1978.9 TFLOPS")]


def test_a_dense_rate_twice_that_of_another_source_is_named(says):
    says("bf16_tensor_tflops", "1979", "TFLOPS", DENSE)
    says("bf16_tensor_tflops", "989.4", "TFLOPS", DENSE, is_preferred=False)
    assert problems("sparse") == [("1979 TFLOPS", "the dense rate of another source, 989.4 TFLOPS")]


def test_a_dense_rate_twice_that_of_its_sibling_is_named(says):
    says("fp16_tensor_tflops", "1979", "TFLOPS", DENSE)
    says("bf16_tensor_tflops", "989.4", "TFLOPS", DENSE)
    assert problems("sparse") == [("1979 TFLOPS", "the rate of bf16_tensor_tflops, 989.4 TFLOPS")]


def test_explained_rate_is_not_taken_for_sparse(says):
    says("architecture", "CDNA")
    says("fp16_tensor_tflops", "184.6", "TFLOPS", DENSE)
    says("bf16_tensor_tflops", "92.3", "TFLOPS", DENSE)
    assert problems("sparse") == []


# --- names ---


@pytest.fixture
def other_card(card) -> Accelerator:
    return Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")


def test_a_name_of_one_sheet_passes(card, other_card):
    Alias.objects.create(accelerator=card, name="Acme 1")
    Alias.objects.create(accelerator=card, name="ACME-1", memory_bytes=8 * 10**9)
    Alias.objects.create(accelerator=other_card, name="Acme 2")
    assert problems("name") == []


def test_a_name_of_two_sheets_is_named(card, other_card):
    Alias.objects.create(accelerator=card, name="Acme GPU")
    Alias.objects.create(accelerator=other_card, name="ACME-GPU")
    assert problems("name") == [
        ("ACME-GPU", "a memory size or GPU core count that tells it from acme-one, or kind undecided")
    ]


@pytest.mark.parametrize(
    ("one", "two", "clean"),
    [
        ({"memory_bytes": 8 * 10**9}, {"memory_bytes": 16 * 10**9}, True),
        ({"memory_bytes": 8 * 10**9}, {"memory_bytes": 8 * 10**9}, False),
        ({"memory_bytes": 8 * 10**9}, {}, False),
        ({"gpu_cores": 30}, {"gpu_cores": 40}, True),
        ({"gpu_cores": 30}, {"memory_bytes": 8 * 10**9}, False),
        ({}, {"kind": "undecided", "note": "the PCI device id decides"}, True),
    ],
)
def test_duplicate_names_need_a_distinction(card, other_card, one, two, clean):
    Alias.objects.create(accelerator=card, name="Acme GPU", **one)
    Alias.objects.create(accelerator=other_card, name="Acme GPU", **two)
    assert (problems("name") == []) is clean


# --- the command ---


def test_the_command_ends_well_where_all_is_well(bandwidth):
    out = StringIO()
    call_command("check_catalogue", stdout=out)
    assert out.getvalue().startswith("1 public accelerators, 1 reviewed values, 0 names\nok    source ")


def test_check_command_fails_and_groups_problems(wrong_fp32):
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("check_catalogue", stdout=out)
    assert (
        "WRONG formula    figures agree with their formula, or say why not (1 checked, 1 wrong)\n"
        "      acme-one\n"
        "        fp32_tflops (dense): 1.000 TFLOPS; expected 2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06\n"
    ) in out.getvalue()


def test_the_command_says_the_same_as_json(wrong_fp32):
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("check_catalogue", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert (answer["is_clean"], answer["public_accelerators"], answer["reviewed_values"]) == (False, 1, 3)
    assert [check["name"] for check in answer["checks"]] == list(CHECKS)
    (formula,) = [check for check in answer["checks"] if check["name"] == "formula"]
    assert formula["problems"] == [
        {
            "device": "acme-one",
            "field": "fp32_tflops",
            "condition": "sparsity=dense",
            "said": "1.000 TFLOPS",
            "expected": "2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06",
        }
    ]


@pytest.mark.parametrize("column", ["title", "url"])
def test_a_source_that_names_a_hostile_clone_is_a_problem(says, sheet_source, column):
    says("tdp_w", "70", "W")
    named = {"title": "X (copy github.com/Reox007/RightNow-GPU-Database)", "url": "https://github.com/reox007/x"}
    type(sheet_source).objects.filter(pk=sheet_source.pk).update(**{column: named[column]})
    ((_figure, expected),) = problems("never-named")
    assert expected.startswith("github.com/RightNow-AI/RightNow-GPU-Database instead of github.com/reox007")


def test_a_note_that_names_a_hostile_clone_is_a_problem(says):
    value = says("tdp_w", "70", "W")
    assert problems("never-named") == []
    changed(value, note="read in github.com/reox007/RightNow-GPU-Database")
    assert len(problems("never-named")) == 1
