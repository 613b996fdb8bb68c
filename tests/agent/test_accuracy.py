"""The benchmark `accuracy`: samples are bits that are right, not seconds, from the agent's loop to the site's rate."""

import subprocess

import pytest

from stackviz.agent.benchmarks import visit as visiting
from stackviz.agent.benchmarks.timing import QUICK
from stackviz.report.format import parse_report
from stackviz.report.measuring.accuracy import ACCURACY, _right_bits
from stackviz.report.measuring.script import script_of
from tests.agent.test_benchmarks import ROOT, python_with_torch


@pytest.mark.parametrize(
    ("off", "bits"),
    [(0.5, 1.0), (2**-8, 8.0), (2**-24, 24.0), (2**-60, 53.0), (0.0, 53.0), (1.0, 0.0), (7.0, 0.0),
     (float("nan"), 0.0), (float("inf"), 0.0)],
)  # fmt: skip
def test_a_bit_more_halves_the_error(off, bits):
    assert _right_bits(off) == bits


def test_a_sample_is_its_own_rate_and_more_is_better():
    params = {"op": "sum", "dtype": "bf16"}
    assert ACCURACY.rates(params, 8.5, 8.0, 9.0) == (8.5, 8.0, 9.0)
    assert (ACCURACY.higher_is_better, ACCURACY.has_rates, ACCURACY.is_run_by_agent) == (True, True, True)
    assert ACCURACY.rate({"op": "dance"}, 8.5) is None
    assert ACCURACY.rate(params, 54.0) is None
    assert ACCURACY.bounds_of(params) == ()


def test_tf32_is_a_product_on_cards_that_may_have_it():
    assert {"op": "product", "dtype": "tf32"} in ACCURACY.cases("cuda", True)
    assert all(params["dtype"] != "tf32" for kind in ("mps", "xpu", "cpu") for params in ACCURACY.cases(kind, False))


def test_figures_are_no_times():
    """What the loop does with a benchmark that measures no time."""
    figures = iter([8.0, 9.0, 8.5, 8.25])
    measures = visiting._figures(lambda: next(figures), QUICK)
    assert measures == {"samples": [8.0, 9.0, 8.5, 8.25], "enqueue_s": [], "energy_j": []}


@pytest.mark.parametrize("params", ACCURACY.cases("cuda", False), ids=lambda params: " ".join(params.values()))
def test_programs_are_python_of_ten_lines(params):
    program = script_of(ACCURACY, params, "cuda")
    compile(program, "accuracy", "exec")
    assert len(program.splitlines()) <= 10


def test_a_real_torch_is_as_accurate_as_its_types(tmp_path):
    done = subprocess.run(
        [python_with_torch(), "-m", "stackviz.agent", "bench", "--suite", "standard", "--device", "cpu", "--json", "-q",
         "--benchmark", "accuracy", "--bench-time", "60", "--wait", "60", "--spool", str(tmp_path)],
        capture_output=True, timeout=180, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = parse_report(done.stdout).results
    assert {(result.state, result.unit, result.interference) for result in results} == {("ok", "bit", None)}
    holds = {"fp32": 24, "fp16": 11, "bf16": 8}
    for result in results:
        bits = sorted(result.samples)[len(result.samples) // 2]
        assert holds[result.params["dtype"]] - 5 < bits < holds[result.params["dtype"]] + 4, result.params


WRONG = """
import torch
from stackviz.report.measuring.accuracy import ACCURACY
torch.exp = lambda x: torch.ones_like(x)
prepared = ACCURACY.prepare(torch, "cpu", {"op": "exp", "dtype": "fp32"})
torch.exp = lambda x: torch.ones_like(x) if x.dtype == torch.float32 else x * 0 + 5
print(prepared.figure(), prepared.check())
"""


def test_an_operator_that_does_nothing_right_fails():
    done = subprocess.run([python_with_torch(), "-c", WRONG], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("bits are right")
