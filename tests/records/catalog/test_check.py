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
OTHER = {"is_preferred": False}
BANDWIDTH = ("memory_bandwidth_gb_s", "3350", "GB/s")
POWER = ("tdp_w", "70", "W")
FP16, BF16 = (f"{kind}_tensor_tflops" for kind in ("fp16", "bf16"))
EXCEPTION = ExceptionLine("acme-one", "fp32_tflops", DENSE, "runs at half rate", "acme-sheet")


@pytest.fixture
def says(card, sheet_source):
    """`says("tdp_w", "70", "W")`: a public value of one card, preferred unless said otherwise."""

    def say(field, value, unit="", condition="", others=None) -> SpecValue:
        chosen = {"accelerator": card, "status": "public", "is_preferred": True, "source": sheet_source} | (
            others or {}
        )
        return SpecValue.objects.create(field=field, value=value, unit=unit, condition=condition, **chosen)

    return say


def changed(row: SpecValue, **columns) -> None:
    """What no form would let through, as a bulk write or another program might leave it."""
    SpecValue.objects.filter(pk=row.pk).update(**columns)


def outcome_of(name: str, exceptions=()):
    return next(outcome for outcome in check_catalogue(exceptions).outcomes if outcome.name == name)


def problems(name: str, exceptions=()) -> list[tuple[str, str]]:
    """(what is said, what was expected) of one check."""
    return [(problem.actual, problem.expected) for problem in outcome_of(name, exceptions).problems]


def to(value: str, amount: float) -> dict[str, object]:
    return {"value": value, "amount": amount}


@pytest.mark.parametrize(
    ("check", "values", "change", "expected"),
    [
        ("field", [BANDWIDTH], {"field": "speed"}, "a field of the registry"),
        ("field", [("architecture", "26")], {"field": "min_macos"},
         "no such value: the field does not apply to gpu of Acme"),
        ("unit", [BANDWIDTH], {"unit": "GB"}, "memory_bandwidth_gb_s is measured in GB/s; GB measures something else"),
        ("unit", [BANDWIDTH], {"amount": 3350.0}, "an amount of 3350000000000.0, not 3350.0"),
        ("unit", [("release_date", "2022-10")], {"value": "soon"},
         "release_date is written 2022, 2022-10 or 2022-10-13, not 'soon'"),
        ("printed", [BANDWIDTH], {"note": "rounded; source prints 3352.3"},
         "3352.3 GB/s, which its note says the source prints"),
        ("range", [POWER], to("70000", 70000.0), "1 – 30000 W"),
        ("condition", [(FP16, "100", "TFLOPS", DENSE)], {"condition": "accumulate=fp32; sparsity=dense"},
         "written 'sparsity=dense; accumulate=fp32'"),
        ("condition", [(FP16, "100", "TFLOPS", DENSE)], {"condition": "dense"}, "'dense' is not key=value"),
        ("condition", [(FP16, "100", "TFLOPS", DENSE)], {"condition": ""},
         "a rate that says whether it is dense or sparse"),
        ("condition", [(FP16, "100", "TFLOPS", DENSE)], {"condition": "accumulate=fp32"},
         "a rate that says whether it is dense or sparse"),
        ("preferred", [POWER, ("memory_gb", "16", "GB")], OTHER, "one preferred value, not 0"),
        ("never-named", [POWER], {"note": "read in github.com/reox007/RightNow-GPU-Database"},
         "github.com/RightNow-AI/RightNow-GPU-Database instead of"),
        # values against each other
        ("formula", [("memory_type", "HBM3"), ("memory_bus_bits", "5120", "bit"), BANDWIDTH], to("2000", 2e12),
         "5120 bit × 4.8 … 6.4 Gbit/s (HBM3) / 8 = 2,980 – 4,219"),
        ("sparse", [(BF16, "1978.9", "TFLOPS", SPARSE), (BF16, "989.4", "TFLOPS", DENSE)], to("1979", 1979e12),
         "less than the sparse rate, 1978.9 TFLOPS"),
        ("sparse", [(BF16, "989.4", "TFLOPS", DENSE, OTHER), (BF16, "989.4", "TFLOPS", DENSE)], to("1979", 1979e12),
         "the dense rate of another source, 989.4 TFLOPS"),
        ("sparse", [(BF16, "989.4", "TFLOPS", DENSE), (FP16, "989.4", "TFLOPS", DENSE)], to("1979", 1979e12),
         "the rate of bf16_tensor_tflops, 989.4 TFLOPS"),
        ("pins", [("memory_bus_bits", "384", "bit"), ("memory_type", "GDDR6 with ECC"), ("memory_bandwidth_gb_s",
         "960", "GB/s")], to("1960", 1960e9),
         "10 – 20 Gbit/s of a pin (GDDR6), not 40.8"),
        ("pins", [("memory_bus_bits", "256", "bit"), ("memory_type", "GDDR7"), ("memory_bandwidth_gb_s", "896",
         "GB/s")], to("811.5", 811.5e9),
         "24, 28, 30, 32 Gbit/s of a pin (GDDR7), not 25.4"),
        ("chips", [("memory_bus_bits", "192", "bit"), ("memory_type", "GDDR6"), ("memory_gb", "12", "GB")],
         to("16", 16e9),
         "memory chips of 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8 GB on 192 bit, not 2.67 GB each"),
        *(("bin", [("macs_shipped_in", "iMac", "", "machine=Mac16,2"), ("release_date", right)], {"value": wrong},
         "2024-10 or later, when Apple showed the first Mac with this bin")
          for right, wrong in (("2024-10-28", "2024-05-07"), ("2024", "2023"))),
        ("clock", [("cuda_cores", "10000", "count"), ("boost_clock_mhz", "2000", "MHz"), ("fp32_tflops", "40",
         "TFLOPS", DENSE)], to("80", 80e12),
         "a clock of 1,500 – 2,200 MHz behind it, not 4000"),
        *(("date", [("architecture", "Hopper"), ("release_date", right)], {"value": wrong},
         "2022-03 or later, when Hopper was first shown")
          for right, wrong in (("2022-03-22", "2022-02-28"), ("2022-03", "2021"), ("2022", "2021"))),
        ("power", [("form_factor", "PCIe single-slot low-profile"), ("tdp_w", "300", "W", "scope=module"), ("tdp_w",
         "72", "W")], to("320", 320.0),
         "at most 300 W: that of module; at most 75 W: a card of the form low-profile"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_what_was_expected(says, check, values, change, expected):
    *_, row = [says(*value) for value in values]

    def told() -> list[str]:
        return [wanted for said, wanted in problems(check) if said.split(" ")[0] == row.value]

    assert told() == []
    changed(row, **change)
    row.refresh_from_db()
    assert [wanted[: len(expected)] for wanted in told()] == [expected]


# --- sources ---


@pytest.mark.parametrize(
    ("url", "is_page"),
    [
        ("https://acme.example/one", True),
        ("https://", False),
        ("http://localhost/sheet", False),
        ("https://acme.example/a sheet", False),
        ("https://acme.example/", False),
    ],
)
def test_a_source_is_a_page_on_the_web(bandwidth, sheet_source, url, is_page):
    type(sheet_source).objects.filter(pk=sheet_source.pk).update(url=url)
    expected = [("3350 GB/s", f"the web address of a page for its source, not {url!r}")]
    assert problems("source") == ([] if is_page else expected)


def test_what_is_not_public_needs_no_source(says, bandwidth, card):
    says(*POWER, others={"status": "unreviewed", "is_preferred": False, "source": None})
    assert (check_catalogue(()).reviewed_values, problems("source")) == (1, [])
    Accelerator.objects.filter(pk=card.pk).update(is_public=False)
    assert (check_catalogue(()).public_accelerators, check_catalogue(()).reviewed_values) == (0, 0)


@pytest.mark.parametrize("column", ["title", "url"])
def test_a_source_that_names_a_hostile_clone_is_a_problem(says, sheet_source, column):
    says(*POWER)
    named = {"title": "X (copy github.com/Reox007/RightNow-GPU-Database)", "url": "https://github.com/reox007/x"}
    type(sheet_source).objects.filter(pk=sheet_source.pk).update(**{column: named[column]})
    ((_figure, expected),) = problems("never-named")
    assert expected.startswith("github.com/RightNow-AI/RightNow-GPU-Database instead of github.com/reox007")


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
    assert problems("vendor") == [("3350 GB/s", "a page of Acme, not https://copies.example/acme.pdf")]


# --- what lets a wrong or odd figure through ---


@pytest.fixture
def wrong_fp32(says) -> SpecValue:
    """Half of what lanes and clock give."""
    says("cuda_cores", "1000", "count")
    says("boost_clock_mhz", "1000", "MHz")
    return says("fp32_tflops", "1.000", "TFLOPS", DENSE)


def test_an_exception_excuses_one_figure(wrong_fp32):
    assert problems("formula") == [("1.000 TFLOPS", "2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06")]
    outcome = outcome_of("formula", [EXCEPTION])
    assert (outcome.problems, outcome.excused, check_catalogue([EXCEPTION]).idle) == ((), 1, ())


def test_an_exception_that_excuses_nothing_is_said(says):
    verdict = check_catalogue([EXCEPTION])
    assert verdict.is_clean
    assert verdict.idle == (("acme-one", "fp32_tflops", DENSE),)
    assert any("acme-one, fp32_tflops" in text for text in check_lines(verdict))


def test_a_note_excuses_a_figure_and_one_of_another_source(wrong_fp32, says):
    changed(wrong_fp32, note="approximate")
    assert len(problems("formula")) == 1
    changed(wrong_fp32, note=f"{NOT_BY_FORMULA} the maker halves the rate")
    assert (problems("formula"), outcome_of("formula").excused) == ([], 1)
    changed(wrong_fp32, value="2.0", amount=2e12)
    other = says("fp32_tflops", "1.000", "TFLOPS", DENSE, OTHER)
    assert len(problems("formula")) == 1
    changed(other, note="a preliminary figure")
    assert (problems("formula"), outcome_of("formula").excused) == ([], 1)


def test_a_value_not_yet_saved_is_held_against_its_sheet(wrong_fp32, card):
    sheet = published_by(card.slug, SpecValue.objects.filter(accelerator=card))
    proposed = SpecValue(accelerator=card, field="fp32_tflops", value="2.0", unit="TFLOPS", condition=DENSE)
    proposed.normalise()
    assert disagreements(proposed, sheet) == []
    assert [str(one) for one in disagreements(wrong_fp32, sheet)] == ["2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06"]


def test_rates_and_prints_that_are_explained_pass(says):
    says("architecture", "CDNA")
    says(FP16, "184.6", "TFLOPS", DENSE)
    says(BF16, "92.3", "TFLOPS", DENSE)
    bandwidth = says(*BANDWIDTH)
    for note in ("source prints 3350; and 3.35 TB/s", "another source prints 2000", "source prints the sum"):
        changed(bandwidth, note=note)
        assert (problems("sparse"), problems("printed")) == ([], [])


def test_an_unreadable_condition_is_left_to_its_check(says):
    changed(says("tdp_w", "300", "W"), condition="hot")
    assert (problems("power"), len(problems("condition"))) == ([], 1)


@pytest.fixture
def sheets(says, card) -> list[SpecValue]:
    """fp64 of four sheets of one architecture: half of fp32."""
    found = []
    for n in range(1, 5):
        one = Accelerator.objects.create(slug=f"acme-{n}", name=f"Acme {n}", vendor=card.vendor, kind="gpu")
        says("architecture", "Acme 1", others={"accelerator": one})
        says("fp32_tflops", str(20 * n), "TFLOPS", DENSE, {"accelerator": one})
        found.append(says("fp64_tflops", str(10 * n), "TFLOPS", DENSE, {"accelerator": one}))
    return found


def test_a_rate_that_breaks_its_architectures_ratio_is_named(sheets):
    assert problems("ratio") == []
    changed(sheets[3], value="80", amount=80e12)
    assert problems("ratio") == [("80 TFLOPS", "0.5 × fp32, as other sheets of Acme 1 have it, not 1 ×")]
    changed(sheets[3], note="Not by formula: a special edition")
    assert (problems("ratio"), outcome_of("ratio").excused) == ([], 1)
    changed(sheets[3], note="")
    for one in sheets[:2]:
        one.accelerator.delete()
    assert problems("ratio") == []  # of two sheets neither is the exception


@pytest.fixture
def with_lanes(sheets, says) -> list[SpecValue]:
    """fp32 of the four sheets, each with more lanes and a higher rate than the one before."""
    found = [SpecValue.objects.get(accelerator=half.accelerator, field="fp32_tflops") for half in sheets]
    for number, rate in enumerate(found, start=1):
        says("cuda_cores", str(1000 * number), "count", others={"accelerator": rate.accelerator})
    return found


def test_a_slower_sheet_with_more_lanes_is_named(with_lanes):
    assert (problems("order"), outcome_of("order").checked) == ([], 4)
    changed(with_lanes[3], value="30", amount=30e12)
    assert problems("order") == [("30 TFLOPS", "at least the 60 TFLOPS of acme-3, which has 3000 fp32 lanes, not 4000")]
    changed(with_lanes[3], note="Not by formula: a lower clock")
    assert (problems("order"), outcome_of("order").excused) == ([], 1)
    changed(with_lanes[3], note="")
    Accelerator.objects.filter(slug="acme-4").update(slug="acme-4-laptop")
    assert problems("order") == []  # another line


def test_unlike_bandwidths_of_one_chip_are_listed(sheets, says):
    def list_siblings() -> str:
        out = StringIO()
        call_command("check_catalogue", "--siblings", stdout=out)
        return out.getvalue().strip()

    memory = [("chip", "A1"), ("memory_type", "GDDR6"), ("memory_bus_bits", "256", "bit"), ("memory_gb", "16", "GB")]
    for half, bandwidth in zip(sheets, ("448", "448", "450", "512"), strict=True):
        for value in [*memory, ("memory_bandwidth_gb_s", bandwidth, "GB/s")]:
            says(*value, others={"accelerator": half.accelerator})
    assert list_siblings() == (
        "A1, 16 GB GDDR6 on 256 bit: acme-1 448 GB/s; acme-2 448 GB/s; acme-3 450 GB/s; acme-4 512 GB/s"
    )
    changed(SpecValue.objects.get(value="512"), value="448", amount=448e9)
    assert list_siblings() == ""


# --- names ---

EIGHT_GB = {"memory_bytes": 8 * 10**9}


@pytest.mark.parametrize(
    ("one", "two", "is_clean"),
    [
        (EIGHT_GB, {"memory_bytes": 16 * 10**9}, True),
        (EIGHT_GB, EIGHT_GB, False),
        (EIGHT_GB, {}, False),
        ({"gpu_cores": 30}, {"gpu_cores": 40}, True),
        ({"gpu_cores": 30}, EIGHT_GB, False),
        ({}, {"kind": "undecided", "note": "the PCI device id decides"}, True),
        ({}, {"name": "Acme 2"}, True),
        ({}, {}, False),
    ],
)
def test_a_name_of_two_sheets_needs_a_distinction(card, one, two, is_clean):
    other = Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")
    for name, size in (("Acme 1", None), ("ACME-1", 8 * 10**9)):  # of one sheet: no matter
        Alias.objects.create(accelerator=card, name=name, memory_bytes=size)
    Alias.objects.create(accelerator=card, **{"name": "Acme GPU", **one})
    Alias.objects.create(accelerator=other, **{"name": "ACME-GPU", **two})
    assert (problems("name") == []) is is_clean
    assert is_clean or "tells it from acme-one" in problems("name")[0][1]


# --- the command ---


def test_the_command_ends_well_where_all_is_well(bandwidth):
    out = StringIO()
    call_command("check_catalogue", stdout=out)
    assert out.getvalue().startswith("1 public accelerators, 1 reviewed values, 0 names\nok    source ")


def test_the_command_fails_with_problems_as_text_and_json(wrong_fp32):
    text, document = StringIO(), StringIO()
    for arguments, out in (([], text), (["--json"], document)):
        with pytest.raises(SystemExit, match="1"):
            call_command("check_catalogue", *arguments, stdout=out)
    expected = "2 × 1,000 lanes × 1,000 MHz = 1.94 – 2.06"
    assert f"\n      acme-one\n        fp32_tflops (dense): 1.000 TFLOPS; expected {expected}\n" in text.getvalue()
    answer = json.loads(document.getvalue())
    assert (answer["is_clean"], answer["public_accelerators"], answer["reviewed_values"]) == (False, 1, 3)
    assert [check["name"] for check in answer["checks"]] == list(CHECKS)
    (formula,) = [check for check in answer["checks"] if check["name"] == "formula"]
    assert formula["problems"] == [
        {"device": "acme-one", "field": "fp32_tflops", "condition": DENSE, "said": "1.000 TFLOPS", "expected": expected}
    ]
