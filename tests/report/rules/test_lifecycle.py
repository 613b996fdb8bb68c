"""Until when a machine's parts are supported, and what the next upgrade of each breaks or fixes."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stackviz.report.format import Report, Software
from stackviz.report.rules import judge, packaged_tables
from stackviz.report.rules.lifecycle import LifeState, lives
from stackviz.report.rules.upgrade import next_upgrades, with_driver, with_torch
from tests.report.rules.build import LINUX, MAC, card, report

DAY = datetime(2026, 11, 20, tzinfo=UTC)
VOLTA = {
    **LINUX,
    "torch.version": "2.9.1+cu126",
    "torch.cuda_version": "12.6",
    "torch.arch_list": "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90",
    "cudnn.version": "9.10.2",
}


def on_that_day(facts, *cards) -> Report:
    return replace(report(facts, cards), created_at=DAY)


def life_of(component, facts):
    (found,) = [life for life in lives(on_that_day(facts), packaged_tables()) if life.component == component]
    return found


@pytest.mark.parametrize(
    ("component", "facts", "state", "ends"),
    [
        ("python", {"python.version": "3.12.4"}, LifeState.SUPPORTED, "2028-10-31"),
        ("python", {"python.version": "3.10.1"}, LifeState.ENDED, "2026-10-31"),
        ("nvidia-driver", {"os.name": "Ubuntu", "nvidia.driver_version": "580.95.05"}, LifeState.SUPPORTED, "2028-06"),
        ("nvidia-driver", {"os.name": "Ubuntu", "nvidia.driver_version": "595.71"}, LifeState.ENDING, "2027-03"),
        ("nvidia-driver", {"os.name": "Windows", "nvidia.driver_version": "610.88"}, LifeState.ENDED, "2026-08"),
        ("nvidia-driver", {"os.name": "Windows", "nvidia.driver_version": "573.06"}, LifeState.ENDED, "2026-02"),
        ("nvidia-driver", {"os.name": "Ubuntu", "nvidia.driver_version": "573.06"}, LifeState.UNKNOWN, ""),
        ("nvidia-driver", {"os.name": "Ubuntu", "nvidia.driver_version": "580"}, LifeState.SUPPORTED, "2028-06"),
        ("nvidia-driver", {"os.name": "Ubuntu", "nvidia.driver_version": "of sorts"}, LifeState.UNKNOWN, ""),
        ("pytorch", {"torch.version": "2.9.1+cu126"}, LifeState.UNDATED, ""),
        ("macos", {"os.name": "macOS", "os.version": "13.5"}, LifeState.ENDED, "2025-09-15"),
        ("linux", {"os.name": "Ubuntu", "os.version": "25.04"}, LifeState.ENDED, "2026-01-17"),
        ("pytorch", {"torch.version": "0.4.1"}, LifeState.UNKNOWN, ""),
    ],
)
def test_release_support_states(component, facts, state, ends):
    life = life_of(component, facts)
    assert (life.state, life.support_ends) == (state, ends)
    assert (life.source is None) == (state == LifeState.UNKNOWN)


@pytest.mark.parametrize("driver", ["573.06", "582.78"])
def test_windows_driver_dates_match_finding(driver):
    facts = {"os.name": "Windows", "nvidia.driver_version": driver}
    ends = life_of("nvidia-driver", facts).support_ends
    findings = judge(on_that_day(facts, card()), packaged_tables())
    [found] = [finding for finding in findings if finding.rule == "driver-branch-ended"]
    assert ends in found.title


def test_the_newest_release_is_one_that_is_out_on_that_day():
    assert life_of("pytorch", {"torch.version": "2.9.1"}).newest == "2.15.0"
    assert life_of("pytorch", {"torch.version": "2.15.0"}).newest == ""
    early = replace(on_that_day({"torch.version": "2.9.1"}), created_at=datetime(2026, 6, 1, tzinfo=UTC))
    assert lives(early, packaged_tables())[0].newest == "2.12.0"


def test_nvcc_counts_builds_of_a_release():
    life = life_of("cuda-toolkit", {"cuda.toolkit_version": "13.0.88"})
    assert (life.line, life.source is None) == ("13.0.0", False)
    assert life_of("cuda-toolkit", {"cuda.toolkit_version": "99.1.2"}).state == LifeState.UNKNOWN


def test_a_system_nobody_dates_is_left_out():
    assert lives(on_that_day({"os.name": "Arch Linux", "os.version": "rolling"}), packaged_tables()) == ()


def upgrades_of(facts, *cards):
    return {one.component: one for one in next_upgrades(on_that_day(facts, *cards), packaged_tables())}


def test_an_upgrade_that_drops_the_card_says_what_breaks():
    volta = card(name="Tesla V100-SXM2-32GB", compute_capability="7.0")
    upgrades = upgrades_of(VOLTA, volta)
    assert {finding.rule for finding in upgrades["pytorch"].breaks} >= {"kernels-missing"}
    assert [finding.rule for finding in upgrades["nvidia-driver"].breaks] == ["driver-dropped-card"]
    assert upgrades["pytorch"].fixes == ()


def test_an_upgrade_that_breaks_nothing_says_so():
    upgrades = upgrades_of(VOLTA | {"nvidia.driver_version": "595.71.05"}, card())
    assert upgrades["pytorch"].breaks == ()


def test_default_wheel_breaks_an_old_driver():
    facts = VOLTA | {"nvidia.driver_version": "535.183.01"}
    assert "driver-too-old" in {finding.rule for finding in upgrades_of(facts, card())["pytorch"].breaks}
    too_new = LINUX | {"nvidia.driver_version": "535.183.01", "cuda.available": False}
    assert "driver-too-old" in {finding.rule for finding in upgrades_of(too_new, card())["nvidia-driver"].fixes}


MAC_TOO_OLD = MAC | {"os.version": "14.5", "torch.version": "2.15.0", "mps.available": False}


@pytest.mark.parametrize(
    ("component", "rule", "changes"),
    [
        ("nvidia-driver", "err802-fabric", {"cuda.init_code": 802, "nvidia.fabric_manager": "inactive"}),
        ("nvidia-driver", "err802-fabric", {"cuda.init_code": 802, "nvidia.fabric_manager": "active"}),
        (
            "nvidia-driver",
            "nvml-unknown-container",
            {"nvidia.nvml_error": "Unknown Error", "machine.container": "docker"},
        ),
        ("nvidia-driver", "nvml-mismatch", {"nvidia.nvml_version": "13.580.82.07"}),
        ("pytorch", "torch-import", {"torch.import_error": "ImportError: libfoo.so.1: no such file"}),
    ],
)
def test_unverifiable_faults_are_not_called_fixed(component, rule, changes):
    facts = LINUX | changes
    assert rule in {f.rule for f in judge(on_that_day(facts, card()), packaged_tables()) if f.severity == "broken"}
    upgrade = upgrades_of(facts, card())[component]
    assert rule not in {finding.rule for finding in upgrade.fixes + upgrade.breaks}


def test_amd_card_without_code_gets_no_torch_advice():
    facts = {"os.name": "Ubuntu", "python.arch": "x86_64", "torch.version": "2.9.1+rocm6.4", "torch.hip_version": "6.4"}
    navi = card(name="AMD Radeon RX 5700 XT", vendor="amd", gfx_target="gfx1010", compute_capability=None)
    facts |= {"torch.arch_list": "gfx906 gfx90a gfx1030"}
    assert [finding.rule for finding in upgrades_of(facts, navi)["pytorch"].fixes] == []


def test_what_the_tables_say_of_the_newer_release_is_mended():
    old = LINUX | {"torch.version": "2.6.0+cu124", "torch.cuda_version": "12.4", "torch.arch_list": "sm_50 sm_90"}
    blackwell = card(name="NVIDIA GeForce RTX 5090", compute_capability="12.0")
    assert "kernels-missing" in {finding.rule for finding in upgrades_of(old, blackwell)["pytorch"].fixes}
    assert "mps-old-macos" in {finding.rule for finding in upgrades_of(MAC_TOO_OLD)["macos"].fixes}


def test_a_mac_below_what_the_newest_torch_asks_for_hears_it():
    upgrades = upgrades_of(MAC | {"os.version": "14.5"})
    assert [finding.rule for finding in upgrades["pytorch"].breaks] == ["mps-old-macos"]
    assert upgrades["macos"].breaks == ()


def test_a_machine_on_the_newest_of_all_has_no_upgrade():
    newest = MAC | {"torch.version": "2.15.0", "os.version": "27.0"}
    assert upgrades_of(newest) == {}


def test_torch_upgrade_replaces_cuda_and_cudnn():
    changed = with_torch(on_that_day(VOLTA, card()), packaged_tables(), "2.14.1", "cu130")
    assert changed.facts["torch.version"] == "2.14.1+cu130"
    assert changed.facts["torch.cuda_version"] == "13.0"
    assert changed.facts["cudnn.version"] == "9.24.0.43"
    assert not {"torch.arch_list", "cuda.available"} & changed.facts.keys()
    by_itself = with_torch(on_that_day(VOLTA, card()), packaged_tables(), "2.15.0")
    assert by_itself.facts["torch.version"] == "2.15.0+cu132"


@pytest.mark.parametrize(
    "slug", ["pytorch", "torchinductor", "triton", "torchvision", "torchaudio", "cudnn", "nccl", "flash-attn"]
)
def test_torch_upgrade_drops_old_extensions(slug):
    software = (Software(slug, "1.0", "pip"), Software("mlx", "0.30", "pip"))
    seen = replace(on_that_day(VOLTA, card()), software=software)
    changed = with_torch(seen, packaged_tables(), "2.14.1", "cu130")
    assert [found.component for found in changed.software] == ["mlx"]


def test_another_driver_is_that_of_every_card():
    changed = with_driver(on_that_day(VOLTA, card(driver_version="580.95.05")), "610")
    assert changed.facts["nvidia.driver_version"] == "610"
    assert "driver_version" not in changed.cards[0].facts


def test_an_upgrade_on_windows_keeps_the_kind_of_build():
    facts = {
        "os.name": "Windows",
        "python.arch": "AMD64",
        "torch.version": "2.14.1+cu126",
        "torch.cuda_version": "12.6",
        "nvidia.driver_version": "580.65",
    }
    pascal = upgrades_of(facts, card(name="NVIDIA GeForce GTX 1060 6GB", compute_capability="6.1"))["pytorch"]
    assert [finding.rule for finding in pascal.breaks] == ["kernels-missing"]
    assert "the last toolkit that makes code for capability 6.1 is 12" in pascal.breaks[0].explanation
    hopper = upgrades_of(facts, card())["pytorch"]
    assert (hopper.breaks, [finding.rule for finding in hopper.untold]) == ((), ["kernels-missing"])
    assert upgrades_of(facts | {"torch.version": "2.9.0+cu126"}, card())["pytorch"].build == "cu132"
