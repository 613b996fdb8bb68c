"""Cards without a spec sheet: what code they run, by their name."""

import re

import pytest

from stackviz.report.rules.capabilities import FILE, listed_capabilities
from stackviz.report.rules.compatibility import packaged_rows
from stackviz.report.rules.known_cards import normalized
from tests.report.rules.build import answer, answers, card, linux

ROWS = packaged_rows(FILE)


@pytest.mark.parametrize(
    ("vendor", "name", "capability"),
    [
        ("nvidia", "NVIDIA GeForce RTX 3050 Ti Laptop GPU", "8.6"),
        ("nvidia", "NVIDIA GeForce GTX 1650 Ti", "7.5"),
        ("nvidia", "GeForce GTX 1650 Ti", "7.5"),
        ("nvidia", "NVIDIA GeForce MX150", "6.1"),
        ("nvidia", "NVIDIA GeForce 930MX", "5.0"),
        ("nvidia", "Quadro T2000", "7.5"),
        ("amd", "AMD Radeon RX 6800M", "gfx1031"),
    ],
)
def test_the_name_of_a_card_tells_its_capability(vendor, name, capability):
    assert listed_capabilities(vendor, name) == {capability}


@pytest.mark.parametrize("name", ["NVIDIA GeForce GTX 860M", "GeForce GT 730", "NVIDIA GeForce GT 1030", "Radeon"])
def test_a_name_that_cards_of_two_chips_share_tells_nothing(name):
    assert not listed_capabilities("nvidia", name)


def test_a_name_that_was_cut_tells_what_all_cards_of_that_beginning_have_in_common():
    assert listed_capabilities("nvidia", "NVIDIA GeForce GTX 1650 ...") == {"7.5"}
    assert len(listed_capabilities("nvidia", "NVIDIA GeForce ...")) > 5
    assert not listed_capabilities("nvidia", "...")


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA RTXA6000-48A", "8.6"),
        ("GRID T4-2Q", "7.5"),
        ("GRID A100-1-5C", "8.0"),
        ("NVIDIA A10-8Q", "8.6"),
        ("GRID V100-16Q", "7.0"),
        ("GRID RTX8000-4Q", "7.5"),
        ("GRID RTX9999-4Q", None),
        ("NVIDIA A100-SXM4-40GX", None),
    ],
)
def test_a_share_of_a_card_has_the_capability_of_the_card(name, capability):
    share = card(name=name, memory_bytes=4 * 2**30, compute_capability=None)
    finding = answer("kernels-missing", linux(share, torch__arch_list="sm_10"))
    known = f"{capability} (by its name)" if capability else "not reported"
    assert finding.evidence["card 0 compute_capability"] == known


def test_each_row_has_one_name_one_capability_and_a_source():
    assert len({(row["vendor"], normalized(row["reported_name"])) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        form = r"\d{1,2}\.\d" if row["vendor"] == "nvidia" else r"gfx[0-9a-f]{3,4}"
        assert re.fullmatch(form, row["capability"]), row
        assert row["source_url"].startswith("https://"), row


def test_no_card_without_a_sheet_leaves_open_what_its_name_tells():
    miner = card(name="NVIDIA CMP 90HX", memory_bytes=10 * 2**30, compute_capability=None)
    finding = answer("kernels-missing", linux(miner, torch__arch_list="sm_90"))
    assert finding.severity == "broken"
    assert finding.evidence["card 0 compute_capability"] == "8.6 (by its name)"


def test_a_radeon_without_a_target_has_the_one_of_its_name():
    radeon = card(name="AMD Radeon RX 6800M", vendor="amd", compute_capability=None)
    report = linux(
        radeon,
        torch__version="2.14.0+rocm7.0",
        torch__cuda_version=None,
        torch__hip_version="7.0",
        torch__arch_list="gfx1030",
    )
    assert answer("rocm-kernels-missing", report).severity == "broken"
    assert not answers("cpu-wheel", report)
