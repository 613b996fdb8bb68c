"""Benchmarks whose kernels hang, crash or break the device, in real processes; the torch in them is a toy."""

import json

import pytest

from stackviz.agent.benchmarks import run as running
from stackviz.agent.benchmarks.run import BenchmarkOptions, run_benchmarks
from tests.agent.processes import TOY_TORCH


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Measure quick products on the toy's processor: -> their results by size and type."""

    def run(**ways):
        monkeypatch.setenv("PYTHONPATH", str(TOY_TORCH))
        monkeypatch.setenv("TOY_TORCH", json.dumps(ways | {"once": str(tmp_path / "once")}))
        options = BenchmarkOptions(suite="quick", devices=("cpu",), benchmarks=("gemm",))
        results = run_benchmarks(options, [])
        return {(result["params"]["dtype"], result["params"]["m"]): result for result in results}

    return run


def test_a_toy_measures_all_rounds_of_all_cases(measured):
    results = measured()
    assert list(results) == [("fp32", 1024), ("fp32", 2048), ("bf16", 1024)]
    assert {result["conditions"]["rounds"] for result in results.values()} == {3}
    assert {len(result["samples"]) for result in results.values()} == {12}


def test_hanging_case_fails_in_time_and_others_are_whole(measured, monkeypatch):
    monkeypatch.setattr(running._Run, "_allow", lambda self, *_seconds: self.limit.move(1.0))
    results = measured(hang=2048)
    failed = results.pop(("fp32", 2048))
    assert (failed["state"], failed["reason"]) == (
        "failed",
        "a visit did not end within its limit of 1 s and was ended",
    )
    assert {result["conditions"]["rounds"] for result in results.values()} == {3}


@pytest.mark.parametrize(("way", "word"), [("crash", "SIGABRT"), ("sticky", "illegal memory access")])
def test_a_case_that_ends_or_breaks_its_process_fails_alone(measured, way, word):
    results = measured(**{way: 2048})
    failed = results.pop(("fp32", 2048))
    assert failed["state"] == "failed"
    assert word in failed["reason"]
    assert {(result["state"], result["conditions"]["rounds"]) for result in results.values()} == {("ok", 3)}
