"""Rules on few or unequal PCIe lanes where the most is not stated."""

from tests.report.rules.build import answer, answers, card, linux, mac, stated


def in_slot(index, lanes, most=None, **more):
    return card(index=index, pcie_width=lanes, pcie_width_max=most, **more)


def test_four_lanes_are_worth_a_note():
    finding = answer("pcie-few-lanes", linux(in_slot(0, 4)))
    assert finding.severity == "note"
    assert stated(finding.title)[0] == "4"


def test_one_lane_of_a_board_counts_for_any_vendor():
    radeon = in_slot(0, 1, vendor="amd", name="Radeon RX 7900 XT")
    assert stated(answer("pcie-few-lanes", linux(radeon)).title)[0] == "1"


def test_eight_lanes_are_not_few():
    assert answers("pcie-few-lanes", linux(in_slot(0, 8))) == []


def test_card_that_states_its_most_lanes_is_left_to_the_other_rule():
    assert answers("pcie-few-lanes", linux(in_slot(0, 4, 16))) == []
    assert answer("pcie-width", linux(in_slot(0, 4, 16))).severity == "warning"


def test_unequal_lanes_are_named_once():
    finding = answer("pcie-lanes-differ", linux(in_slot(0, 8), in_slot(1, 4), in_slot(2, 8)))
    assert finding.severity == "note"
    assert stated(finding.title) == ("4, 8",)


def test_equal_or_unknown_lanes_do_not_differ():
    assert answers("pcie-lanes-differ", linux(in_slot(0, 4), in_slot(1, 4))) == []
    assert answers("pcie-lanes-differ", linux(in_slot(0, None), in_slot(1, 4))) == []


def test_unified_memory_has_no_slot():
    assert answers("pcie-few-lanes", linux(in_slot(0, 1, unified_memory=True))) == []
    assert answers("pcie-few-lanes", mac()) == []
