"""What else is at work while the agent measures: noticed, named, measured again, and said."""

import json
import os
import sys
import time

import pytest

from stackviz.agent.benchmarks import measure as measuring
from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.interference import interference_of, is_visit_disturbed, look, noticed_between
from stackviz.agent.benchmarks.records import Records
from stackviz.agent.benchmarks.run import BenchmarkOptions, run_benchmarks
from stackviz.agent.benchmarks.timing import Pace
from stackviz.agent.benchmarks.trial import CaseLeft
from stackviz.agent.privacy import mask_of
from stackviz.report.format import parse_report
from tests.agent.busy_process import NAME, busy_child, busy_neighbours
from tests.agent.processes import TOY_TORCH
from tests.report.format.reports import report_body

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


# ---- counters, as files say them -------------------------------------------------------------------------------------


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A /proc with two processors: -> writes it."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)

    def write(cpus, programs):
        for folder in tmp_path.iterdir():
            if folder.is_dir():
                (folder / "stat").unlink()
                folder.rmdir()
        lines = [f"cpu{n} {user} 0 0 {idle} 0 0 0 {steal} 0 0" for n, (user, idle, steal) in enumerate(cpus)]
        (tmp_path / "stat").write_text("\n".join(["cpu 1 1 1 1 1 1 1 1 0 0", *lines, "intr 1"]))
        for pid, (name, parent, ticks, of_children) in programs.items():
            (tmp_path / str(pid)).mkdir()
            fields = ["S", parent, *[0] * 9, ticks, 0, of_children, 0]
            (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}")
        return look(tmp_path)

    return write


def test_others_are_what_is_busy_without_our_own_processes(proc):
    before = proc([(0, 0, 0), (0, 0, 0), (0, 0, 0)], {10: ("agent", 1, 5, 0), 11: ("python", 10, 0, 0)})
    after = proc(
        [(100, 0, 0), (60, 40, 0), (100, 0, 0)],  # the third is not ours to use
        {10: ("agent", 1, 6, 0), 11: ("python", 10, 99, 0), 20: ("a (b) c", 1, 58, 0), 21: ("idle", 1, 1, 0)},
    )
    noticed = noticed_between(before, after, root=10)
    assert noticed["cpu_s"] == pytest.approx(200 * TICK_S)
    assert noticed["foreign_s"] == pytest.approx(60 * TICK_S)
    assert noticed["programs"] == [["a (b) c", pytest.approx(58 * TICK_S)]]
    assert interference_of([noticed], "cpu", 0)["foreign_cpu_ratio"] == 0.3
    assert is_visit_disturbed(noticed, "cpu")
    assert not is_visit_disturbed(noticed, "cuda:0")


def test_what_a_hypervisor_takes_is_no_program(proc):
    noticed = noticed_between(proc([(0, 0, 0)], {}), proc([(50, 30, 20)], {10: ("agent", 1, 50, 0)}), root=10)
    assert (noticed["foreign_s"], noticed["steal_s"]) == (0.0, pytest.approx(20 * TICK_S))
    assert is_visit_disturbed(noticed, "cpu")


def test_what_our_ended_children_took_is_our_own(proc):
    before = proc([(0, 0, 0)], {10: ("agent", 1, 0, 0), 11: ("nvidia-smi", 10, 30, 0)})
    after = proc([(60, 40, 0)], {10: ("agent", 1, 20, 70)})
    assert noticed_between(before, after, root=10)["foreign_s"] == 0.0


def test_a_few_ticks_of_a_short_visit_are_no_observation(proc):
    noticed = noticed_between(proc([(0, 0, 0)], {}), proc([(12, 0, 0)], {10: ("agent", 1, 10, 0)}), root=10)
    assert noticed["foreign_s"] / noticed["cpu_s"] > 0.05
    assert not is_visit_disturbed(noticed, "cpu")


def test_where_there_are_no_counters_nothing_is_stated(tmp_path):
    assert look(tmp_path) is None
    assert noticed_between(None, None, 1) == {}
    assert interference_of([{}], "cpu", 0) == {}


# ---- a real neighbour ------------------------------------------------------------------------------------------------


@on_linux
def test_a_steady_neighbour_on_each_core_is_noticed_and_named(monkeypatch, tmp_path):
    """The whole agent, with a toy torch that works for 20 ms a product: a foreign process per processor."""
    monkeypatch.setenv("PYTHONPATH", str(TOY_TORCH))
    monkeypatch.setenv("TOY_TORCH", json.dumps({"seconds": 0.02}))
    options = BenchmarkOptions(
        suite="quick", devices=("cpu",), benchmarks=("gemm",), wanted=({"m": "1024", "dtype": "fp32"},)
    )
    with busy_neighbours(os.cpu_count() or 1):
        results = run_benchmarks(options, [])
    for result in results:
        noticed = result["interference"]
        assert noticed["foreign_cpu_ratio"] > 0.3
        assert NAME in noticed["processes"]
        assert noticed["rounds_disturbed"] == 3
        assert noticed["reruns"] >= 1
    parse_report(report_body(cards=[], results=results))


@on_linux
def test_what_we_and_our_children_do_is_not_foreign():
    """Others may be at work here as well: seen from the child, our own second is foreign, and nothing else is more."""
    with busy_child() as child:
        before, began = look(), time.process_time()
        until = time.monotonic() + 1
        while time.monotonic() < until:
            pass
        after, ours_s = look(), time.process_time() - began
    noticed = noticed_between(before, after, root=os.getpid())
    assert NAME not in [name for name, _seconds in noticed["programs"]]
    foreign = noticed_between(before, after, root=child)
    assert foreign["foreign_s"] - noticed["foreign_s"] == pytest.approx(ours_s, abs=5 * TICK_S)


# ---- rounds made again -----------------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """Measure two cases, three rounds; `shares`: of the processors in foreign hands, visit by visit. -> the steps."""

    def with_(shares):
        left = iter(shares)

        def visit(_progress, _pace, _until):
            noticed = {"cpu_s": 10.0, "foreign_s": 10 * next(left), "steal_s": 0.0, "programs": [["x", 1.0]]}
            return {"samples": [1.0], "interference": noticed, "conditions": {}, "duration_s": 0.1, "started_at": "t"}

        monkeypatch.setattr(measuring, "visit", visit)
        monkeypatch.setattr(measuring, "prove", lambda _progress: ["aten::mm"])
        monkeypatch.setattr(measuring, "_estimate", lambda *_: True)
        steps = []
        cases = [CaseLeft(case=Case("gemm", 1, "cpu", {"dtype": "fp32", "m": n, "n": n, "k": n})) for n in (1, 2)]
        pace = Pace(rounds=3, blocks_per_round=1, block_s=0.0, warm_up_s=0.0, longest_run_s=1.0, budget_s=30.0)
        measuring.measure_case(cases, {"cpu": Device(None, "cpu", "cpu")}, pace, steps.append)
        return steps

    return with_


def again(steps):
    return [(step["case"], step["replaces"]) for step in steps if "replaces" in step]


@pytest.mark.parametrize(("share", "repeated"), [(0.01, []), (0.5, [(0, 0), (1, 0)])])
def test_calm_or_steady_load_repeats_no_more_than_one_round(told, share, repeated):
    assert again(told([share] * 20)) == repeated


def test_a_round_that_was_disturbed_is_made_again_once(told):
    # visits: 0.0 1.0 | 1.1 0.1 | 0.2 1.2
    steps = told([0.0, 0.0, 0.5, 0.0, 0.3, 0.0, 0.01, 0.2])
    assert again(steps) == [(0, 2), (1, 1)]
    assert [step["kernels"] for step in steps if step["is"] == "kernels"] == [["aten::mm"]] * 2


def test_of_two_samples_of_a_round_the_calmer_count():
    records = Records()
    case = {"benchmark": "gemm", "version": 1, "device": "cpu", "params": {"m": 1}, "card": None}
    records.take({"is": "plan", "cases": [case]})

    def visit(sample, share, **more):
        noticed = {"cpu_s": 1.0, "foreign_s": share, "steal_s": 0.0, "programs": [["make", share]]}
        return {
            "is": "samples", "case": 0, "samples": [sample, sample], "interference": noticed, "started_at": "t",
            "conditions": {"during.temperature_c": sample, "during.power_w": 100.0 * sample, "throttled.power_s": 0.5},
            "duration_s": 1.0, "energy_j": [sample, 0.0], **more,
        }  # fmt: skip

    for step in (visit(1.0, 0.0), visit(2.0, 0.5), visit(3.0, 0.02)):
        records.take(step)
    records.take(visit(1.5, 0.0, replaces=1))
    records.take(visit(9.0, 0.9, replaces=2))
    records.take({"is": "kernels", "case": 0, "kernels": ["sgemm", "copy"]})
    (result,) = records.results(quick=True)
    assert result["samples"] == [1.0, 1.0, 1.5, 1.5, 3.0, 3.0]
    assert result["rounds"] == [0, 0, 1, 1, 2, 2]
    assert result["energy_j"] == [1.0, 0.0, 1.5, 0.0, 3.0, 0.0]
    assert result["enqueue_s"] == []
    noticed = result["interference"]
    assert (noticed["reruns"], noticed["rounds_disturbed"], noticed["foreign_cpu_ratio"]) == (2, 0, 0.0067)
    conditions = result["conditions"]
    assert conditions["during.temperature_c"] == 3.0
    assert conditions["during.power_w"] == pytest.approx(550 / 3)
    assert conditions["throttled.power_s"] == 1.5
    assert conditions["kernels"] == "sgemm; copy"


def test_names_of_programs_are_masked():
    step = {"interference": {"programs": [["/home/anna/train", 1.0], ["rack-anna-7", 2.0]]}}
    mask = mask_of(["anna"], ["rack-anna-7"], ["/home/anna"])
    assert mask.document(step)["interference"]["programs"] == [["~/train", 1.0], ["<host>", 2.0]]
