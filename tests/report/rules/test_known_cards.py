"""Cards by name, and the capability a card does not state taken from its sheet."""

import pytest

from stackviz.report.format import Absent, Card, Software
from stackviz.report.rules import KnownCard, Tables, packaged_tables
from stackviz.report.rules.look import Look
from tests.report.rules.build import answer, card, linux, report

MIB = 2**20


@pytest.mark.parametrize(
    ("name", "memory_mib", "slug"),
    [
        ("NVIDIA H100 80GB HBM3", None, "nvidia-h100-sxm5-80gb"),
        ("NVIDIA GeForce RTX 5060 Ti", 8151, "nvidia-geforce-rtx-5060-ti-8gb"),
        ("NVIDIA GeForce RTX 5060 Ti", 16311, "nvidia-geforce-rtx-5060-ti-16gb"),
        ("NVIDIA GeForce RTX 5060 Ti", None, None),
        ("NVIDIA RTX 6000 Ada Gene...", 49140, None),  # one that is known begins so; another may
        ("NVIDIA GeForce RTX 2080 ...", 8192, None),
        ("Voodoo 3", None, None),
        ("", None, None),
        ("...", None, None),
    ],
)
def test_name_with_memory_matches_one_or_none(name, memory_mib, slug):
    known = packaged_tables().known_card("nvidia", name, memory_mib and memory_mib * MIB)
    assert (known and known.accelerator) == slug


def test_a_card_of_another_vendor_is_not_that_product():
    assert packaged_tables().known_card("amd", "NVIDIA H100 80GB HBM3") is None


def capability_of(seen: Card) -> tuple[str | None, dict[str, str]]:
    [looked] = Look(report(cards=(seen,)), packaged_tables()).all_cards
    return looked.get("compute_capability"), looked.evidence


def test_missing_capability_comes_from_the_sheet():
    value, evidence = capability_of(
        Card(index=0, kind="gpu", vendor="nvidia", reported_name="GeForce GTX 1080", memory_bytes=None)
    )
    assert (value, evidence["card 0 compute_capability"]) == ("6.1", "6.1 (from the spec sheet)")


def test_a_capability_that_is_stated_counts():
    value, evidence = capability_of(card(compute_capability="9.9"))
    assert (value, evidence["card 0 compute_capability"]) == ("9.9", "9.9")


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA GeForce RTX 4060 Ti", "8.9"),  # 8 or 16 GB: both have it
        ("NVIDIA GeForce RTX 2080 ...", "7.5"),  # Ti, SUPER or neither
        ("NVIDIA GeForce RTX ...", None),
        ("Graphics Device", None),
    ],
)
def test_indistinct_products_share_common_values(name, capability):
    absent = {"compute_capability": Absent("not_reported")}
    assert (
        capability_of(Card(index=0, kind="gpu", vendor="nvidia", reported_name=name, memory_bytes=None, absent=absent))[
            0
        ]
        == capability
    )


def test_rules_judge_a_card_by_its_sheet_and_say_so():
    found = answer(
        "kernels-missing",
        linux(Card(index=0, kind="gpu", vendor="nvidia", reported_name="Tesla P100-PCIE-16GB", memory_bytes=None)),
    )
    assert found.severity == "broken"
    assert found.evidence["card 0 compute_capability"] == "6.0 (from the spec sheet)"


def test_tables_without_cards_know_none():
    tables = Tables(frozenset(), frozenset())
    assert tables.known_card("nvidia", "NVIDIA H100 80GB HBM3") is None
    assert tables == Tables(frozenset(), frozenset(), frozenset())
    assert KnownCard(reported_name="A", vendor="nvidia", accelerator="a", memory_bytes=None).agrees(None, None) is True


def test_versions_of_software_are_each_told_once_with_evidence():
    found = [Software("pytorch", version, "pip") for version in ("2.9.0", None, "2.9.0", "2.10.0")]
    look = Look(report(software=tuple(found)), packaged_tables())
    assert look.software("pytorch") == ["2.9.0", "", "2.10.0"]
    assert look.evidence["pytorch"] == "2.9.0, version not stated, 2.10.0"
    assert look.software("jax") == []
