"""Twelve slow machines and three healthy ones, as logs: each cause is the first finding, and it names its branch."""

import csv
import re
from pathlib import Path

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import BRANCHES, RULES, branch_of, find, packaged_tables
from tests.report.rules.build import answer, answers, card, linux, mac

FOLDER = Path(__file__).parents[2] / "fixtures" / "slow"
ROOT = Path(__file__).parents[3]
CHAPTER = (ROOT / "stackviz/pages/learn/texts/en/chapters/07-why-is-it-slow.md").read_text(encoding="utf-8")
with (FOLDER / "TRUTH.tsv").open() as file:
    TRUTH = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

WORKING = {
    "watched_readings": 60,
    "watched_idle_ratio": 0.0,
    "watched_pauses": 0,
    "watched_busy_ratio": 0.97,
    "watched_power_w": 600.0,
    "watched_sm_clock_hz": 1.7e9,
    "watched_sm_clock_most_hz": 1.75e9,
    "watched_temperature_c": 60.0,
}


def findings_of(name: str):
    (machine,) = machines(read_all((FOLDER / name).read_text(encoding="utf-8")))
    return find(machine.report(), packaged_tables())


def watched(index: int = 0, **changes):
    return card(index, **{**WORKING, **changes})


@pytest.mark.parametrize("row", [row for row in TRUTH if row["rule"]], ids=lambda row: row["file"])
def test_the_cause_is_the_first_finding(row):
    first = findings_of(row["file"])[0]
    assert (first.rule, first.severity) == (row["rule"], "warning"), row["cause"]
    assert branch_of(first.rule).anchor == row["branch"]


@pytest.mark.parametrize("row", [row for row in TRUTH if not row["rule"]], ids=lambda row: row["file"])
def test_a_healthy_machine_has_no_warning(row):
    assert {finding.severity for finding in findings_of(row["file"])} <= {"note"}


def test_all_files_are_in_the_table_and_branches_in_the_chapter():
    assert {row["file"] for row in TRUTH} == {path.name for path in FOLDER.glob("*.txt")}
    titles = {anchor: title for title, anchor in re.findall(r"^## (.+) \{#([a-z-]+)\}$", CHAPTER, re.MULTILINE)}
    assert {rule.branch for rule in RULES} - {""} <= BRANCHES.keys()
    assert dict(BRANCHES) == {anchor: title for anchor, title in titles.items() if anchor in BRANCHES}


def test_seconds_are_counted_where_the_readings_have_times():
    finding = answer("card-waits", linux(watched(watched_idle_ratio=0.5, watched_pauses=9, watched_s=59.0)))
    assert finding.title.endswith("idle in 30 of 60 readings, in 9 pauses between work; watched for 59 s")


@pytest.mark.parametrize("changes", [{"watched_pauses": 2}, {"watched_idle_ratio": 0.1}])
def test_an_epoch_that_ends_is_no_starving_loader(changes):
    seen = linux(watched(**{"watched_idle_ratio": 0.3, "watched_pauses": 9, **changes}))
    assert answer("card-waits", seen).severity == "fits"


def test_a_card_that_falls_behind_by_load_alone():
    waiting = [watched(index, watched_busy_ratio=0.5) for index in range(3)]
    assert "card 3" in answer("card-slowest", linux(*waiting, watched(3))).title
    assert answers("card-slowest", linux(watched(0), watched(1, watched_sm_clock_hz=1e9))) == []  # which of the two?


def test_memory_that_is_full_is_a_note_unless_windows_spills_it():
    full = {"watched_memory_used_bytes": 85_000_000_000}
    assert answer("card-memory-full", linux(watched(**full))).severity == "note"
    assert answer("card-memory-full", linux(watched(driver_model="WDDM", **full))).severity == "warning"
    assert answers("card-memory-full", linux(watched(watched_memory_used_bytes=70_000_000_000))) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"watched_power_w": 500.0},
        {"watched_memory_activity_ratio": 0.8},  # decoding tokens: bound by memory
        {"watched_throttle_reasons": "sw_thermal_slowdown"},
        {"watched_busy_ratio": 0.6},
        {"power_limit_w": None},
    ],
)
def test_little_power_for_another_reason_is_no_small_batch(changes):
    assert answer("card-little-work", linux(watched(watched_power_w=180.0))).severity == "warning"
    assert answers("card-little-work", linux(watched(**{"watched_power_w": 180.0, **changes}))) == []


def test_a_hot_card_far_below_its_clock_is_throttled():
    hot = {"watched_temperature_c": 89.0, "watched_sm_clock_hz": 1.1e9}
    assert "89 °C" in answer("thermal-throttle", linux(watched(**hot))).title
    assert answers("thermal-throttle", linux(watched(**{**hot, "watched_temperature_c": 70.0}))) == []


def test_a_card_that_did_nothing_is_said_to_have_done_nothing():
    idle = watched(watched_idle_ratio=1.0, watched_busy_ratio=None, watched_power_w=None)
    assert answer("card-was-idle", linux(idle)).severity == "note"
    assert answers("card-was-idle", linux(idle, watched(1))) == []


@pytest.mark.parametrize(
    ("busy", "power", "is_named"), [(0.35, 114.0, True), (0.98, 114.0, True), (0.98, 340.0, False)]
)
def test_one_look_says_what_it_shows_and_no_more(busy, power, is_named):
    seen = {"busy_ratio": busy, "power_w": power, "power_limit_w": 350.0, "memory_used_bytes": 60_000_000_000}
    found = answers("card-one-look", linux(card(**seen)))
    assert [finding.severity for finding in found] == ["note"] * is_named
    assert all(f"{busy:.0%}, 114 of 350 W" in finding.title for finding in found)
    assert answers("card-one-look", linux(card(**{**seen, "memory_used_bytes": 400_000_000}))) == []  # starts for us


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({"model__layers": 49, "model__layers_on_card": 24}, "warning"),
        ({"model__layers": 49, "model__layers_on_card": 49}, "fits"),
        ({"model__cpu_ratio": 1.0}, "warning"),
        ({"model__cpu_ratio": 0.0}, "fits"),
    ],
)
def test_layers_that_are_not_on_the_card(facts, severity):
    assert answer("layers-on-cpu", linux(**facts)).severity == severity


def test_a_model_that_would_fit_is_said_to_fit():
    facts = {"model__cpu_ratio": 0.4, "model__memory_bytes": 31_000_000_000}
    assert "It would fit" in answer("layers-on-cpu", linux(card(), **facts)).explanation
    assert "does not fit" in answer("layers-on-cpu", linux(card(memory_bytes=12 * 2**30), **facts)).explanation


PROFILE = {"profile__host_s": 10.0, "profile__device_s": 3.0}


@pytest.mark.parametrize(
    ("rule", "facts", "words"),
    [
        ("profile-waits-for-data", {"profile__loader_ratio": 0.6}, "60% of the profile waits for the next batch"),
        ("profile-waits-for-data", {"profile__copy_ratio": 0.4}, "copies"),
        ("profile-waits-for-host", {"profile__launch_ratio": 0.5}, "Python does not launch"),
        ("profile-waits-for-host", {"profile__sync_ratio": 0.5, "profile__syncs": 80}, "80 times"),
    ],
)
def test_a_profile_names_what_the_gpu_waits_for(rule, facts, words):
    assert words in answer(rule, linux(**PROFILE, **facts)).title


def test_waiting_for_a_busy_gpu_is_no_fault():
    busy = {"profile__host_s": 10.0, "profile__device_s": 9.5, "profile__sync_ratio": 0.9, "profile__syncs": 100}
    assert answer("profile-waits-for-host", linux(**busy)).severity == "fits"


def test_calls_of_cuda_are_not_the_whole_profile():
    calls = {"profile__calls_s": 10.0, "profile__launch_ratio": 0.5}
    assert answer("profile-waits-for-host", linux(**calls, profile__device_s=3.0)).title.startswith(
        "The GPU works for 30% of the profile at most"
    )
    assert answers("profile-waits-for-host", linux(**calls, profile__device_s=9.5)) == []


def test_cards_of_one_machine_through_main_memory_are_a_note():
    assert answer("nccl-transport", linux(nccl__transports="SHM/direct/direct")).severity == "note"
    assert answers("nccl-transport", linux(nccl__transports="P2P/CUMEM NET/IB/0/GDRDMA")) == []


def test_requests_that_wait_with_room_in_the_cache_are_a_note():
    queue = {"vllm__requests_waiting": 72, "vllm__requests_running": 28, "vllm__preemptions": 0}
    assert answer("vllm-queue", linux(**queue, vllm__cache_ratio=0.54)).severity == "note"
    assert answer("vllm-queue", linux(**queue, vllm__cache_ratio=0.98)).severity == "warning"
    assert "12 times" in answer("vllm-queue", linux(**{**queue, "vllm__preemptions": 12})).title
    assert answer("vllm-queue", linux(**{**queue, "vllm__requests_waiting": 0})).severity == "fits"


def test_a_failed_test_of_dcgm_is_named_unless_the_link_is():
    assert "memory" in answer("dcgm-failed", linux(card(pcie_width=None), nvidia__dcgm_failed="memory")).title
    assert answers("dcgm-failed", linux(card(pcie_width=4), nvidia__dcgm_failed="pcie")) == []


@pytest.mark.parametrize(
    ("facts", "is_short"),
    [
        ({"memory__free_ratio": 0.12}, True),
        ({"memory__pressure": "critical"}, True),
        ({"memory__swap_used_bytes": 5 * 2**30, "memory__total_bytes": 16 * 2**30}, True),
        ({"memory__swap_used_bytes": 2**30, "memory__total_bytes": 16 * 2**30, "memory__free_ratio": 0.6}, False),
    ],
)
def test_a_mac_that_is_short_of_memory(facts, is_short):
    assert bool(answers("mac-memory", mac(**facts))) is is_short
    assert answers("mac-memory", linux(**facts)) == []
