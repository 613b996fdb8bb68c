"""Benchmarks by MLX: which cases, on which device, what a result says of it; and, where there is one, by a real MLX."""

import os
import subprocess
import sys
from importlib import util
from types import SimpleNamespace

import pytest

from stackviz.agent.benchmarks import devices as mlx_device
from stackviz.agent.benchmarks.cases import plan_cases
from stackviz.agent.benchmarks.devices import MlxDevice, card_of, mlx_devices
from stackviz.agent.benchmarks.records import Records
from stackviz.agent.benchmarks.run import BenchmarkOptions, NoSuchDevice, run_benchmarks
from stackviz.report.format import parse_report
from stackviz.report.measuring import RUNNABLE, script
from stackviz.report.measuring.benchmark import Unavailable
from stackviz.report.measuring.in_mlx import cases_on, in_mlx
from stackviz.report.measuring.language_model import MODELS
from stackviz.report.measuring.script import script_of
from stackviz.report.measuring.stated_rate import disturbances
from tests.agent.language_model_pass import TINY, check_pass, program_by_mlx
from tests.agent.test_benchmarks import ROOT

IN_MLX = [key for key, known in RUNNABLE.items() if in_mlx(known)]
SMALL = {  # large enough that a program times one run at a time
    "gemm": {"dtype": "bf16", "m": 512, "n": 512, "k": 512},
    "memory": {"op": "triad", "bytes": 2**25},
    "attention": {
        "direction": "forward", "dtype": "fp16", "backend": "auto", "sequence": 1024, "mask": "causal",
        "batch": 1, "heads": 1, "head_dim": 64,
    },
    "llm-decode": {"model": "tiny", "dtype": "bf16", "batch": 2, "context": 24},
    "llm-prefill": {"model": "tiny", "dtype": "bf16", "batch": 1, "prompt": 24},
}  # fmt: skip
QUANTIZED = [
    (key, {**SMALL[key], "weights": weights}) for key in ("llm-decode", "llm-prefill") for weights in ("int8", "int4")
]


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A model of which MLX takes no seconds on a processor, where it has no quick products of 8 and 4 bits."""
    monkeypatch.setitem(MODELS, "tiny", TINY)


@pytest.mark.parametrize("key", IN_MLX)
@pytest.mark.parametrize("quick", [False, True])
def test_its_cases_are_cases_of_torch_on_macs(key, quick):
    by_mlx, by_torch = (cases_on(RUNNABLE[key], kind, quick=quick) for kind in ("mlx", "mps"))
    assert by_mlx
    assert all(params in by_torch for params in by_mlx)


def test_what_is_not_written_for_mlx_is_not_planned_there():
    assert cases_on(RUNNABLE["train-step"], "mlx", quick=False) == []
    cases = plan_cases([("mps", "mps"), ("mlx", "mlx")], list(RUNNABLE), suite="standard")
    assert {case.benchmark for case in cases if case.device == "mlx"} == set(IN_MLX)
    with pytest.raises(Unavailable, match="not written for MLX"):
        MlxDevice(None).prepare(RUNNABLE["train-step"], {})


@pytest.mark.parametrize(
    ("system", "wanted", "is_there"),
    [("Darwin", [], True), ("Darwin", ["mps"], False), ("Linux", [], False), ("Linux", ["mlx"], True)],
)
def test_mlx_is_measured_on_macs_and_where_it_is_named(monkeypatch, system, wanted, is_there):
    monkeypatch.setitem(sys.modules, "mlx", SimpleNamespace(core=SimpleNamespace()))
    monkeypatch.setitem(sys.modules, "mlx.core", SimpleNamespace())
    monkeypatch.setattr(mlx_device.platform, "system", lambda: system)
    monkeypatch.setenv("MLX_ENABLE_TF32", "1")
    assert [device.name for device in mlx_devices(wanted)] == ["mlx"] * is_there
    assert os.environ["MLX_ENABLE_TF32"] == str(int(not is_there))


def test_a_machine_without_mlx_says_so_once(monkeypatch):
    if util.find_spec("mlx"):
        pytest.skip("mlx is installed here: what is said without it cannot be seen")
    with pytest.raises(NoSuchDevice, match="MLX is not installed for this Python"):
        run_benchmarks(BenchmarkOptions(suite="quick", devices=("mlx",)), [])


def test_a_result_says_what_computed_and_on_which_card():
    device = MlxDevice(None)
    assert card_of(device, [{"vendor": "apple", "index": 0}]) == 0
    assert card_of(device, [{"vendor": "nvidia", "index": 0}]) is None
    records = Records()
    case = {"benchmark": "gemm", "version": 1, "params": SMALL["gemm"], "card": None}
    records.take({"is": "plan", "cases": [{**case, "device": device} for device in ("mps", "mlx")]})
    assert [result["framework"] for result in records.results(quick=True)] == ["torch", "mlx"]
    busy = {"interference.foreign_cpu_ratio": 0.4}
    assert disturbances(busy, "mlx") == disturbances(busy, "mps") == {"foreign_cpu_ratio": 0.4}


@pytest.mark.parametrize("key", IN_MLX)
def test_its_program_is_short_and_needs_mlx_alone(key):
    for params in cases_on(RUNNABLE[key], "mlx", quick=False):
        program = script_of(RUNNABLE[key], params, "mlx")
        assert len(program.splitlines()) <= (24 if key.startswith("llm-") else 10)
        assert max(len(line) for line in program.splitlines()) <= 120
        assert "torch" not in program
        assert program.index('"MLX_ENABLE_TF32"] = "0"') < program.index("import mlx")


# ---- with a real MLX ----


def python_with_mlx() -> str:
    """This Python, or the one named in ACCELWEB_MLX_PYTHON."""
    named = os.environ.get("ACCELWEB_MLX_PYTHON")
    if not named and util.find_spec("mlx") is None:
        pytest.skip("real benchmarks: mlx is not installed here, and ACCELWEB_MLX_PYTHON names no Python that has it")
    return named or sys.executable


@pytest.mark.parametrize(("key", "params"), [*SMALL.items(), *QUANTIZED])
def test_a_real_mlx_prints_a_rate_in_the_unit_of_the_benchmark(key, params, monkeypatch):
    monkeypatch.setattr(script, "_RUNS_OF_SHORT", 1)
    done = subprocess.run(
        [python_with_mlx(), "-c", script_of(RUNNABLE[key], params, "mlx")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rate, unit = done.stdout.split()
    assert (float(rate) > 0, unit) == (True, RUNNABLE[key].unit)


@pytest.mark.parametrize(("key", "params"), [*SMALL.items(), *QUANTIZED, ("memory", {"op": "read", "bytes": 2**25})])
def test_a_real_mlx_computes_right_and_a_wrong_output_is_noticed(key, params):
    program = (
        "import sys, mlx.core as mx\n"
        "from stackviz.report.measuring import RUNNABLE\n"
        "from stackviz.report.measuring.in_mlx import in_mlx\n"
        "from stackviz.report.measuring.language_model import MODELS, Geometry\n"
        f"MODELS['tiny'] = {TINY!r}\n"
        f"run = in_mlx(RUNNABLE[{key!r}])\n"
        f"prepared = run.prepare(mx, {params!r}); prepared.run(); print(prepared.check())\n"
        f"mx.random.seed(1); other = run.prepare(mx, {params!r}); other.run()\n"
        "cells = lambda f: {n: c for n, c in zip(f.__code__.co_freevars, f.__closure__)}\n"
        "cells(prepared.check)['newest'].cell_contents[:] = cells(other.check)['newest'].cell_contents\n"
        "print(prepared.check())\n"
    )
    done = subprocess.run(
        [python_with_mlx(), "-c", program], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    right, wrong = done.stdout.splitlines()
    assert right == "None"
    assert "wrong" in wrong


@pytest.mark.parametrize(("key", "params"), [*((key, SMALL[key]) for key in ("llm-decode", "llm-prefill")), *QUANTIZED])
def test_a_pass_by_a_real_mlx_is_that_of_the_definition(key, params):
    done = subprocess.run(
        [python_with_mlx(), "-c", program_by_mlx(key, params)],
        capture_output=True, text=True, timeout=300, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    check_pass(done.stdout, key)


def test_a_real_mlx_is_measured_without_torch(tmp_path):
    done = subprocess.run(
        [python_with_mlx(), "-m", "stackviz.agent", "bench", "--quick", "--device", "mlx", "--benchmark", "memory",
         "--json", "-q", "--wait", "60", "--spool", str(tmp_path)],
        capture_output=True, timeout=180, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = parse_report(done.stdout)
    results = report.results
    assert report.unknown_fields == ()
    assert {(result.device, result.framework) for result in results} == {("mlx", "mlx")}
    for result in results:
        if result.state == "ok":
            assert str(result.conditions["device_used"]).startswith("mlx:")
            assert "torch_version" not in result.conditions
            assert result.conditions["tf32"] is False
