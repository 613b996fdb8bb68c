"""What an accelerator cannot have is said with its reason, and only where its sheet publishes the proof."""

import pytest

from stackviz.records.catalog.absences import RULES, Absence, absences_of
from stackviz.records.catalog.models import Accelerator, SpecValue, Vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.catalog.spec_table import spec_columns


def absent_with(vendor: str, **published: str) -> dict[str, Absence]:
    """The absences of an accelerator of `vendor` that publishes these fields."""
    accelerator = Accelerator(vendor=Vendor(slug=vendor), slug="acme")
    rows = {(name, ""): [SpecValue(field=name, value=value)] for name, value in published.items()}
    return absences_of(accelerator, rows)


def absent_on(slug: str) -> dict[str, Absence]:
    """The absences of a curated accelerator."""
    (column,) = spec_columns([public_catalogue().by_slug[slug]])
    return dict(column.absences)


@pytest.mark.parametrize("architecture", ["GCN 2", "GCN 3", "GCN 4", "GCN 5", "GCN 5.1", "RDNA", "RDNA 2"])
def test_radeons_before_rdna_3_and_cdna_have_no_matrix_units(architecture):
    absences = absent_with("amd", architecture=architecture)
    assert {"tensor_cores", "fp16_tensor_tflops", "bf16_tensor_tflops"} <= {*absences}
    assert absences["fp16_tensor_tflops"].source_url.startswith("https://gpuopen.com/")
    assert not absences["fp16_tensor_tflops"].at_most  # their cores run packed fp16 at twice the rate of fp32


@pytest.mark.parametrize("architecture", ["RDNA 3", "RDNA 3.5", "RDNA 4", "CDNA", "CDNA 4", ""])
def test_later_ones_and_unknown_ones_are_not_judged(architecture):
    assert absent_with("amd", architecture=architecture) == {}


def test_an_architecture_proves_nothing_of_another_vendor():
    assert absent_with("hygon", architecture="GCN 5.1") == {}


@pytest.mark.parametrize(
    ("target", "absent"),
    [("gfx803", True), ("gfx900", True), ("gfx1010", True), ("gfx906", False), ("gfx1012", False), ("gfx1030", False)],
)
def test_integer_dot_products_stand_in_for_matrix_units(target, absent):
    assert ("int8_tensor_tops" in absent_with("amd", compute_capability=target)) is absent


def test_turing_without_matrix_units_is_told_by_its_chip():
    assert {"fp16_tensor_tflops", "int8_tensor_tops"} <= {*absent_with("nvidia", chip="TU117")}
    assert absent_with("nvidia", chip="TU106") == {}


def test_a_published_value_is_never_absent():
    assert "tensor_cores" not in absent_with("nvidia", chip="TU117", tensor_cores="0")


def test_phones_before_the_a19_have_the_reason_of_their_macs(curated, db):
    words = "no matrix units in the GPU before A19 and M5"
    assert absent_on("apple-a18")["int8_tensor_tops"].words == words
    assert absent_on("apple-m4-10")["int8_tensor_tops"].words == words
    assert "int8_tensor_tops" not in absent_on("apple-a19-pro")


def test_integrated_gpu_uses_the_memory_of_the_machine(curated, db):
    absence = absent_on("amd-radeon-890m")["memory_gb"]
    assert absence.words == "uses the memory of the machine it is in"
    assert absence.source_url.startswith("https://rocm.docs.amd.com/")
    assert "memory_bandwidth_gb_s" not in absent_on("amd-radeon-8060s")


def test_a_sheet_says_why(client, curated, db):
    page = client.get("/accelerators/amd-rx-6600/").content.decode()
    head = page[page.index('<dl class="verdict headlines') : page.index("All values")]
    assert head.count("no matrix units before RDNA 3") == 2  # fp16 and bf16; int8 runs as dot products
    assert "<p>no matrix units before RDNA 3: " in page


def test_every_rule_holds_for_an_accelerator(curated, db):
    published = {(value.field, value.value) for value in SpecValue.objects.filter(status="public", is_preferred=True)}
    fields = {field for field, _value in published}
    for rule in RULES:
        field, *proving = rule.proof
        assert field in fields
        assert all((field, value) in published for value in proving), rule.proof
