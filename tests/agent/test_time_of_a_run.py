"""The time of a run holds, however slow a case is: what is left out, what is ended, what is kept. Clocks are made up."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from stackviz.agent.benchmarks import measure as measuring
from stackviz.agent.benchmarks import run as running
from stackviz.agent.benchmarks import visit as visiting
from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.measure import CaseLeft
from stackviz.agent.benchmarks.run import BenchmarkOptions, run_benchmarks
from stackviz.agent.benchmarks.timing import PACES, Pace
from stackviz.agent.benchmarks.trial import Skip
from stackviz.agent.children import Ended
from stackviz.report.measuring import RUNNABLE
from tests.agent.processes import TOY_TORCH

# A visit takes five of its runs: two to warm up, three to be timed.
PACE = Pace(rounds=3, blocks_per_round=3, block_s=0.0, warm_up_s=0.0, longest_run_s=100.0, budget_s=100.0)


def case(number):
    return Case("gemm", 1, "cpu", {"dtype": "fp32", "m": number, "n": number, "k": number})


@pytest.fixture
def steps(monkeypatch):
    """Measure cases of which a visit takes so many seconds, of a clock that only visits move. `promised`: what trials
    say, a visit as well. -> the steps."""

    def with_(takes, budget_s, promised=None, left_s=None, *, disturbed=False):
        clock = SimpleNamespace(now=0.0)
        monkeypatch.setattr(measuring, "time", SimpleNamespace(perf_counter=lambda: clock.now))
        of_case = dict(enumerate(takes, 1))
        by_trial = dict(enumerate(promised or takes, 1))

        def tried(progress, _pace, _rates):
            progress.run_s = by_trial[progress.case.params["m"]] / 5
            return {}

        def visit(progress, _pace, _until):
            clock.now += of_case[progress.case.params["m"]]
            noticed = {"cpu_s": 10.0, "foreign_s": 5.0 if disturbed else 0.0, "steal_s": 0.0, "programs": []}
            duration_s = of_case[progress.case.params["m"]]
            timed = {"samples": [1.0], "duration_s": duration_s, "started_at": "t"}
            return {**timed, "interference": noticed, "conditions": {}}

        monkeypatch.setattr(measuring, "tried", tried)
        monkeypatch.setattr(measuring, "visit", visit)
        monkeypatch.setattr(measuring, "prove", lambda _progress: [])
        told = []
        cases = [CaseLeft(case=case(number)) for number in of_case]
        pace = replace(PACE, budget_s=budget_s)
        measuring.measure_case(cases, {"cpu": Device(None, "cpu", "cpu")}, pace, told.append, left_s)
        with_.ended_at_s = clock.now
        return told

    return with_


def visited(told):
    return [step["case"] for step in told if step["is"] == "samples" and "replaces" not in step]


def planned(told):
    (estimates,) = [step for step in told if step["is"] == "estimates"]
    return estimates["rounds"], estimates["seconds"]


@pytest.mark.parametrize(
    ("budget_s", "plan", "visits", "ended_at_s"),
    [
        (46.0, (3, [30.0, 15.0]), [0, 1, 1, 0, 0, 1], 45.0),
        (38.0, (2, [20.0, 10.0]), [0, 1, 1, 0, 1], 35.0),  # the short one once more, for which there is time
    ],
)
def test_as_many_rounds_are_planned_as_there_is_time_for(steps, budget_s, plan, visits, ended_at_s):
    told = steps([10.0, 5.0], budget_s=budget_s)
    assert (planned(told), visited(told), steps.ended_at_s) == (plan, visits, ended_at_s)


def left_out(told):
    return [step["reason"] for step in told if step["is"] == "skipped"]


def test_case_longer_than_the_time_left_is_skipped(steps):
    told = steps([10.0, 60.0, 5.0], budget_s=50.0)
    assert planned(told)[0] == 1
    assert left_out(told) == ["left out: takes about 60.0 s, and 40.0 s of 50 s are left"]
    assert set(visited(told)) == {0, 2}
    assert steps.ended_at_s <= 50.0
    told = steps([10.0, 10.0], budget_s=100.0, left_s=15.0)  # the next process gets what the first left
    assert left_out(told) == ["left out: takes about 10.0 s, and 5.0 s of 100 s are left"]


def test_measured_time_of_a_visit_outweighs_its_estimate(steps):
    told = steps([30.0, 5.0], promised=[5.0, 5.0], budget_s=60.0)
    assert planned(told)[0] == 3
    assert visited(told) == [0, 1, 1, 1]  # another visit to the first would end after 65 s
    assert steps.ended_at_s == 45.0


def test_disturbed_round_is_not_repeated_without_time(steps):
    told = steps([10.0], budget_s=39.0, disturbed=True)
    assert [step["is"] for step in told if step["is"] in {"samples", "extra"}] == ["samples"] * 3


@pytest.mark.parametrize(
    ("run_s", "why"),
    [
        (4.5, r"one run takes about 4\.5 s, over the limit of 4 s"),
        (3.5, r"one run takes about 3\.5 s, and 3\.0 s of 40 s are left"),
    ],
)
def test_a_run_that_warming_up_shows_to_be_slow_is_not_timed(monkeypatch, run_s, why):
    monkeypatch.setattr(visiting, "time", SimpleNamespace(perf_counter=lambda: 10.0))
    visiting._refuse_slow_runs(2.5, PACES["quick"], until=13.0)
    with pytest.raises(Skip, match=why):
        visiting._refuse_slow_runs(run_s, PACES["quick"], until=13.0)


@pytest.mark.parametrize(("suite", "promised_s"), [("quick", 60), ("standard", 600), ("full", 1200)])
def test_suite_leaves_time_for_probes_and_torch_import(suite, promised_s):
    assert PACES[suite].budget_s <= promised_s - 20


# ---- the process that measures, from outside -------------------------------------------------------------------------

CASE = {"benchmark": "gemm", "version": 1, "device": "cpu", "card": None}
PLAN = {"is": "plan", "cases": [CASE | {"params": case(number).params} for number in (1, 2)]}
TIMEOUT = Ended("timeout", "timed out", (), 1.0)


@pytest.fixture
def watched(monkeypatch):
    """Let processes tell lines at times: (seconds, line). -> results, what each was given, its limit after each line."""

    def run(*processes, suite="standard"):
        clock = SimpleNamespace(now=1000.0)
        monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: clock.now))
        left, given, limits = list(processes), [], []

        def run_child(_module, handed, limit, watch):
            given.append(handed)
            lines, ended_at_s, ended = left.pop(0)
            for at_s, line in lines:
                clock.now = 1000.0 + at_s
                watch(line)
                limits.append(limit.within_s)
            clock.now = 1000.0 + ended_at_s
            return ended

        monkeypatch.setattr(running, "run_child", run_child)
        return run_benchmarks(BenchmarkOptions(suite=suite), []), given, limits

    return run


def start(number):
    return {"case": number, "is": "start", "round": 0, "limit_s": 60.0}


def samples(number):
    conditions = {"runs_per_block": 1, "fallback": False}
    return {
        "case": number, "is": "samples", "samples": [1.0], "conditions": conditions, "duration_s": 7.0,
        "started_at": "2026-11-20T12:00:00Z",
    }  # fmt: skip


def test_visit_is_ended_on_time_and_earlier_ones_stay(watched):
    lines = [(0, PLAN), (10, start(0)), (20, samples(0)), (560, start(1))]
    results, given, limits = watched((lines, 575, TIMEOUT))
    assert limits == [60.0, 60.0, 60.0, 15.0]  # 10 s are left, and 5 s to end by itself
    assert [(result["state"], result["samples"]) for result in results] == [("ok", [1.0]), ("skipped", [])]
    assert results[1]["reason"] == "ended at the limit: the 570 s of the run were up before its first visit ended"
    assert len(given) == 1
    results, _, _ = watched(([(0, PLAN), (1, start(0))], 600, TIMEOUT))
    assert results[1]["reason"] == "no time left of 570 s"  # nobody came to it


def test_hanging_visit_costs_its_limit_or_half_a_quick_run(watched):
    results, given, _ = watched(
        ([(0, PLAN), (10, start(0)), (20, samples(0)), (30, start(1))], 90, TIMEOUT),
        ([(100, {"is": "ready"})], 100, Ended("ok", None, (), 1.0)),
    )
    assert results[1]["reason"] == "a visit did not end within its limit of 60 s and was ended"
    assert (given[1]["budget_s"], given[1]["left_s"]) == (570.0, 480.0)
    assert given[1]["left"][0]["longest_visit_s"] == 7.0
    failed = ([], 22, Ended("failed", "", (), 1.0))
    _, given, limits = watched(([(0, PLAN), (1, start(0))], 21, TIMEOUT), failed, suite="quick")
    assert (limits[-1], given[1]["left_s"]) == (20.0, 19.0)


def test_endless_product_is_ended_and_the_last_one_counts(monkeypatch):
    """In real processes, with a toy torch: the time is up when the product that hangs begins."""
    monkeypatch.setenv("PYTHONPATH", str(TOY_TORCH))
    monkeypatch.setenv("TOY_TORCH", json.dumps({"hang": 2048}))
    monkeypatch.setattr(running, "_LAST_VISIT_S", 0.5)
    see = running._Run.see

    def seen(self, step):
        if step["is"] == "start" and self.records.cases[step["case"]].case.params["m"] == 2048:
            self._ends_at = time.monotonic()
        see(self, step)

    monkeypatch.setattr(running._Run, "see", seen)
    options = BenchmarkOptions(suite="quick", devices=("cpu",), benchmarks=("gemm",), budget_s=300.0)
    before, during, after = run_benchmarks(options, [])
    assert (before["state"], before["conditions"]["rounds"]) == ("ok", 1)
    assert during["reason"] == "ended at the limit: the 300 s of the run were up before its first visit ended"
    assert (after["state"], after["reason"]) == ("skipped", "no time left of 300 s")


def test_sustained_case_is_not_ended_within_its_minute():
    params = RUNNABLE["sustained"].cases("cuda", False)[0]
    assert RUNNABLE["sustained"].lasts_s(params) == 60
    run = running._Run(BenchmarkOptions(suite="full", budget_s=90.0), *[lambda *_: None] * 3)
    planned_case = {"benchmark": "sustained", "version": 1, "device": "cuda:0", "params": params, "card": 0}
    run.see({"is": "plan", "cases": [planned_case]})
    run.see({"is": "start", "case": 0, "round": 0, "limit_s": 200.0})
    assert run.limit.within_s == 80.0
