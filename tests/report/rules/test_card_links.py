"""Rules on links, fabric, other users and the power brake."""

import pytest

from tests.report.rules.build import answer, answers, card, linux, mac, stated


def linked(index, up, down=0, name="NVIDIA H100 80GB HBM3"):
    return card(index=index, name=name, nvlink_links=up, nvlink_links_down=down)


def test_a_card_with_fewer_links_than_its_like_is_named():
    finding = answer("nvlink-down", linux(linked(0, 18), linked(1, 12, 6)))
    assert finding.severity == "warning"
    assert stated(finding.title) == ("12", "18", "NVIDIA H100 80GB HBM3", "1")


def test_one_link_of_many_is_down_on_a_card_alone():
    found = answer("nvlink-down", linux(linked(0, 17, 1)))
    assert stated(found.title) == ("17", "18", "NVIDIA H100 80GB HBM3")


@pytest.mark.parametrize(
    "cards",
    [
        (linked(0, 18), linked(1, 18)),
        (linked(0, 0, 4, "NVIDIA RTX A6000"), linked(1, 0, 4, "NVIDIA RTX A6000")),  # no bridge
        (linked(0, 4, 8, "NVIDIA A100-PCIE-40GB"), linked(1, 4, 8, "NVIDIA A100-PCIE-40GB")),  # one bridge of three
        (card(),),
    ],
)
def test_all_links_or_bridges_by_design_are_no_fault(cards):
    assert answers("nvlink-down", linux(*cards)) == []


@pytest.mark.parametrize("state", ["in-progress", "not-started", "failed"])
def test_a_card_outside_the_fabric_is_broken(state):
    finding = answer("fabric-not-joined", linux(card(fabric_state=state)))
    assert finding.severity == "broken"
    assert state in finding.title


def test_a_card_on_the_fabric_or_without_one_is_not():
    assert answers("fabric-not-joined", linux(card(fabric_state="completed"))) == []
    assert answers("fabric-not-joined", linux()) == answers("fabric-not-joined", mac()) == []


def test_processes_of_others_are_named():
    finding = answer("card-busy", linux(card(compute_processes=2, memory_used_bytes=40 * 2**30)))
    assert finding.severity == "note"
    assert finding.evidence["card 0 compute_processes"] == "2"


def test_memory_that_nobody_seen_uses_is_somebody_elses():
    seen = linux(card(compute_processes=0, memory_used_bytes=30 * 2**30, display_attached=False))
    assert "card 0 memory_used_bytes" in answer("card-busy", seen).evidence


@pytest.mark.parametrize(
    "facts",
    [
        {"compute_processes": 0, "memory_used_bytes": 500 * 2**20},
        {"compute_processes": 0, "memory_used_bytes": 30 * 2**30, "display_attached": True},
        {"memory_used_bytes": 40 * 2**30, "busy_ratio": 0.99},  # a text that was pasted shows the job it is about
    ],
)
def test_a_free_card_and_a_pasted_text_are_not_busy(facts):
    assert answers("card-busy", linux(card(**facts))) == []


def test_the_power_brake_is_a_warning():
    finding = answer("power-brake", linux(card(throttle_reasons="hw_slowdown hw_power_brake_slowdown")))
    assert finding.severity == "warning"
    assert answers("power-brake", linux(card(throttle_reasons="hw_slowdown"))) == []
