"""How cards are doing and set up: link, clocks, memory, modes, names. Each rule fires, holds, and says what it lacks."""

import pytest

from stackviz.report.format import Absent
from tests.report.rules.build import FAILED, answer, answers, card, linux, stated

MIB = 2**20
NOT_SUPPORTED = Absent("not_supported")


@pytest.mark.parametrize(
    ("rule", "changes", "severity", "words"),
    [
        ("pcie-gen-idle", {"pcie_generation": 1, "busy_ratio": 0.0}, "note", "while the card is idle"),
        ("pcie-gen-load", {"pcie_generation": 3, "busy_ratio": 0.98}, "warning", "below its generation under load"),
        ("thermal-throttle", {"throttle_reasons": "sw_power_cap hw_thermal_slowdown"}, "warning", "Thermal throttling"),
        ("thermal-throttle", {"throttle_reasons": "sw_thermal_slowdown"}, "warning", "at 61 °C"),
        ("sw-power-cap", {"throttle_reasons": "sw_power_cap"}, "note", "The power limit caps the clocks"),
        ("row-remap-pending", {"remap_pending": True}, "broken", "waiting to be remapped"),
        ("row-remap-failure", {"remap_failed": True}, "broken", "could not be remapped"),
        ("ecc-uncorrectable", {"ecc_uncorrected": 3}, "broken", "Uncorrectable memory errors: 3"),
        ("persistence-off", {"persistence_mode": False}, "note", "Persistence mode is off"),
        ("reset-pending", {"mig_pending": "enabled"}, "warning", "MIG will be enabled only after the next reset"),
        ("reset-pending", {"ecc_pending": False}, "warning", "(ECC) will be disabled only after the next reset"),
        ("mig-on", {"mig_mode": "Enabled"}, "note", "MIG is on"),
        ("pcie-width", {"pcie_width": 8}, "warning", "8 of 16"),
        ("power-cap", {"power_limit_w": 400.0}, "note", "400 W; factory default 700 W"),
    ],
)
def test_a_card_in_this_state_is_told(rule, changes, severity, words):
    found = answer(rule, linux(card(0), card(3, **changes)))
    assert (found.severity, words in found.title, "(card 3)" in found.title) == (severity, True, True)
    assert all(f"card 3 {name}" in found.evidence for name in changes)
    assert found.explanation
    assert found.advice


@pytest.mark.parametrize(
    ("rule", "fact"),
    [
        ("pcie-gen-load", "busy_ratio"),
        ("thermal-throttle", "throttle_reasons"),
        ("sw-power-cap", "throttle_reasons"),
        ("row-remap-pending", "remap_pending"),
        ("row-remap-failure", "remap_failed"),
        ("ecc-uncorrectable", "ecc_uncorrected"),
        ("persistence-off", "persistence_mode"),
        ("power-cap", "power_limit_w"),
        ("pcie-width", "pcie_width"),
    ],
)
def test_silent_card_is_open_and_unread_card_is_quiet(rule, fact):
    slow = {"pcie_generation": 1} if rule == "pcie-gen-load" else {}
    found = answer(rule, linux(card(**{fact: FAILED}, **slow)))
    assert found.title.endswith(f": card 0 {fact} not reported")
    assert answers(rule, linux(card(**{fact: None}, **slow))) == []
    assert answers(rule, linux(card(**{fact: NOT_SUPPORTED}, **slow))) == []


def test_reset_needs_the_current_mode():
    assert answer("reset-pending", linux(card(ecc=FAILED))).severity == "cannot-tell"
    assert answers("reset-pending", linux(card())) == []


def test_a_slow_link_is_judged_by_how_busy_the_card_is():
    half_busy = card(pcie_generation=1, busy_ratio=0.3)
    assert answers("pcie-gen-idle", linux(half_busy)) == answers("pcie-gen-load", linux(half_busy)) == []


def test_an_idle_card_at_its_power_cap_is_no_news():
    assert answers("sw-power-cap", linux(card(throttle_reasons="sw_power_cap", busy_ratio=0.0))) == []


def test_laptop_with_eight_lanes_is_normal():
    laptop = card(name="NVIDIA GeForce RTX 3060 Laptop GPU", pcie_width=8, persistence_mode=False)
    assert answer("pcie-width", linux(laptop)).severity == "note"
    assert answers("persistence-off", linux(laptop)) == []


@pytest.mark.parametrize("display", [True, None])
def test_persistence_needs_headless_linux(display):
    assert answers("persistence-off", linux(card(persistence_mode=False, display_attached=display))) == []


def test_windows_has_no_persistence_mode():
    assert answers("persistence-off", linux(card(persistence_mode=False), os__wsl="2")) == []


def test_mig_instances_name_their_card():
    instances = [
        card(index, "NVIDIA H100 80GB HBM3 MIG 1g.10gb", mig_mode=None, mig_parent_index=0, mig_profile=profile)
        for index, profile in ((1, "3g.40gb"), (2, "1g.10gb"))
    ]
    found = answer("mig-on", linux(card(0, mig_mode=None), *instances))
    assert stated(found.title) == ("NVIDIA H100 80GB HBM3", "0", "3g.40gb, 1g.10gb")


# --- memory-unlike-name ---


@pytest.mark.parametrize(
    ("name", "mib", "ecc", "severity"),
    [
        ("NVIDIA GeForce RTX 2080 Ti", 22528, None, "warning"),  # 11 GB from the factory
        ("NVIDIA A100-SXM4-80GB", 40960, True, "warning"),
        ("NVIDIA RTX A6000", 46068, True, "note"),
        ("NVIDIA RTX A6000", 46068, None, "note"),
        ("NVIDIA RTX A6000", 46068, False, "warning"),
    ],
)
def test_memory_that_is_not_the_names_is_told(name, mib, ecc, severity):
    found = answer("memory-unlike-name", linux(card(name=name, memory_bytes=mib * MIB, ecc=ecc)))
    assert found.severity == severity


@pytest.mark.parametrize(
    ("name", "mib"),
    [
        ("NVIDIA H100 80GB HBM3", 81559),
        ("NVIDIA H200", 143771),
        ("NVIDIA RTX A6000", 49140),
        ("NVIDIA L40S", 46068),  # ECC on from the factory
        ("Tesla T4", 15109),
        ("NVIDIA GeForce RTX 4060 Ti", 16380),
        ("NVIDIA GeForce RTX 4060 Ti", 8188),
        ("Unheard of", 1),
    ],
)
def test_plausible_memory_is_no_finding(name, mib):
    assert answers("memory-unlike-name", linux(card(name=name, memory_bytes=mib * MIB))) == []


@pytest.mark.parametrize(
    "share",
    [{"unified_memory": True}, {"mig_parent_index": 0}, {"mig_profile": "1g.10gb"}, {"virtualization_mode": "vgpu"}],
)
def test_an_instance_has_a_share_of_the_memory(share):
    assert answers("memory-unlike-name", linux(card(memory_bytes=9728 * MIB, **share))) == []


def test_card_without_memory_size_is_not_judged():
    assert answers("memory-unlike-name", linux(card(memory_bytes=None))) == []


# --- name-cut ---


def test_a_name_that_was_cut_is_told_once_with_what_it_may_be():
    cut = [card(index, "NVIDIA RTX 6000 Ada Gene...", memory_bytes=49140 * MIB) for index in range(8)]
    found = answer("name-cut", linux(*cut))
    assert found.severity == "note"
    assert "NVIDIA RTX 6000 Ada Generation" in found.explanation
    assert "nvidia-smi -L" in found.advice


def test_unknown_truncated_name_is_reported():
    assert "No name known" in answer("name-cut", linux(card(name="Voodoo ..."))).explanation
    assert answers("name-cut", linux()) == []


GEFORCE = "NVIDIA GeForce RTX 2080"


@pytest.mark.parametrize(
    ("cards", "severity"),
    [
        ((card(0, GEFORCE, pcie_width=8), card(1, GEFORCE, pcie_width=8)), "note"),
        ((card(0, GEFORCE, pcie_width=8), card(1, GEFORCE)), "warning"),  # the other one has all 16
        ((card(0, GEFORCE, pcie_width=4), card(1, GEFORCE, pcie_width=4)), "warning"),
        ((card(0, GEFORCE, pcie_width=8),), "warning"),
        ((card(0, pcie_width=8), card(1, pcie_width=8)), "warning"),  # servers have lanes for all
    ],
)
def test_two_consumer_cards_sharing_lanes_are_a_note(cards, severity):
    [found] = [one for one in answers("pcie-width", linux(*cards)) if one.severity != "cannot-tell"]
    assert found.severity == severity
    assert ("Reseat" in found.advice) is (severity == "warning")


def test_every_reset_says_what_it_ends():
    for rule, state in (("ecc-uncorrectable", {"ecc_uncorrected": 2}), ("row-remap-pending", {"remap_pending": True})):
        advice = answer(rule, linux(card(**state))).advice
        assert "End every program on the card" in advice.partition("sudo nvidia-smi --gpu-reset -i 0")[0]
        assert "reboot, which ends every program" in advice
