"""How the cards are set up, and Linux inside Windows."""

import pytest

from stackviz.report.format import Absent, Card
from tests.report.rules.build import FAILED, answer, answers, card, lacking, linux, mac, stated


def test_lowered_power_limit_notes_the_reset_command():
    found = answer("power-cap", linux(card(0), card(5, power_limit_w=600.0)))
    assert found.severity == "note"
    assert stated(found.title) == ("NVIDIA H100 80GB HBM3", "5", "600", "700")
    assert found.advice.endswith("sudo nvidia-smi -i 5 -pl 700")
    assert found.evidence["card 5 power_limit_w"] == "600"


def test_cards_lowered_to_the_same_limit_share_one_note():
    found = answer("power-cap", linux(*(card(index, power_limit_w=600.0) for index in range(8))))
    assert "(cards 0, 1, 2, 3, 4, 5, 6, 7)" in found.title


def test_default_or_higher_limit_is_fine():
    assert answers("power-cap", linux(card(0), card(1, power_limit_w=750.0), card(2, power_limit_w=699.9))) == []


def test_a_card_that_does_not_state_its_limits_cannot_be_told():
    silent = Card(
        index=0,
        kind="gpu",
        vendor="nvidia",
        reported_name="GeForce",
        memory_bytes=None,
        absent={"power_limit_w": Absent("failed")},
    )
    found = answer("power-cap", linux(silent))
    assert lacking(found) == "card 0 power_limit_w"
    assert "failed" in found.explanation
    assert found.evidence["card 0"] == "GeForce"


def test_a_silent_card_does_not_hide_a_lowered_one():
    severities = {
        found.severity
        for found in answers("power-cap", linux(card(0, power_limit_w=FAILED), card(1, power_limit_w=1.0)))
    }
    assert severities == {"note", "cannot-tell"}


def test_mig_is_a_note():
    assert answer("mig-on", linux(card(mig_mode="enabled"))).severity == "note"
    assert answers("mig-on", linux()) == []


def test_cards_of_two_generations_are_a_warning():
    found = answer("mixed-capability", linux(card(0), card(1, "A100", compute_capability="8.0")))
    assert (found.severity, "8.0, 9.0" in found.title) == ("warning", True)


def test_uniform_cards_are_not_mixed():
    assert answers("mixed-capability", linux(card(0), card(1))) == []
    assert answers("mixed-capability", linux(card(0))) == []


def test_mixed_cards_need_all_capabilities():
    assert (
        answer("mixed-capability", linux(card(0), card(1, "Unheard of", compute_capability=None))).severity
        == "cannot-tell"
    )


def test_a_card_on_half_its_lanes_is_a_warning():
    found = answer("pcie-width", linux(card(3, pcie_width=8)))
    assert (found.severity, stated(found.title)) == ("warning", ("NVIDIA H100 80GB HBM3", "3", "8", "16"))


def test_full_width_is_fine_and_unknown_is_open():
    assert answers("pcie-width", linux()) == []
    assert answer("pcie-width", linux(card(pcie_width_max=FAILED))).severity == "cannot-tell"


def test_apple_cards_skip_power_and_lane_rules():
    seen = mac()
    assert [
        found for rule in ("power-cap", "mig-on", "mixed-capability", "pcie-width") for found in answers(rule, seen)
    ] == []


def test_wsl_notes_whose_driver_it_is():
    found = answer("wsl2-probe", linux(os__wsl="WSL2"))
    assert (found.severity, "(WSL2)" in found.title) == ("note", True)


def test_linux_on_its_own_is_no_such_note():
    assert answers("wsl2-probe", linux()) == []


def test_wsl_1_has_no_gpu():
    seen = linux(os__wsl="1", os__kernel="Linux 4.4.0-19041-Microsoft", cuda__available=False, cuda__init_code=None)
    found = answer("wsl1-no-gpu", seen)
    assert "wsl --set-version <distribution> 2" in found.advice
    assert answers("wsl2-probe", seen) == []
    assert answers("wsl1-no-gpu", linux(os__wsl="2")) == []


@pytest.mark.parametrize(
    ("build", "is_broken"),
    [
        ("10.0.19043.1202", True),
        ("10.0.19042", True),
        ("10.0.19044.1", False),
        ("10.0.22631.3880", False),
        (None, False),
    ],
)
def test_windows_before_21h2_has_no_cuda_in_wsl2(build, is_broken):
    seen = linux(os__wsl="2", os__build=build, cuda__available=False, cuda__init_code=None)
    assert [found.severity for found in answers("wsl2-old-windows", seen)] == (["broken"] if is_broken else [])


def test_a_windows_where_cuda_starts_in_wsl2_is_new_enough():
    assert answers("wsl2-old-windows", linux(os__wsl="2", os__build="10.0.19043")) == []


def test_a_card_in_tcc_mode_is_noted_for_wsl():
    found = answer("tcc-mode", linux(card(2, driver_model="TCC"), os__name="Windows"))
    assert (found.severity, found.advice.count("nvidia-smi -i 2 -dm")) == ("note", 2)
    assert answers("tcc-mode", linux(card(driver_model="WDDM"), os__name="Windows")) == []
