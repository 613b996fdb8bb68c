"""Measuring: the rules of timing, what becomes of cases that fail, and watching it all from outside."""

import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from importlib import util
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackviz.agent.benchmarks import measure as measuring
from stackviz.agent.benchmarks import run as running
from stackviz.agent.benchmarks import visit as visiting
from stackviz.agent.benchmarks.cases import Case, case_text, params_text, plan_cases, read_case
from stackviz.agent.benchmarks.conditions import SmiReadings, card_conditions, processor_conditions, throttle_words
from stackviz.agent.benchmarks.devices import Device, card_of, list_devices
from stackviz.agent.benchmarks.measure import CaseLeft
from stackviz.agent.benchmarks.records import Records
from stackviz.agent.benchmarks.run import BenchmarkOptions, MeasuringInterrupted, not_run, run_benchmarks
from stackviz.agent.benchmarks.timing import PACES, Pace, runs_per_block, time_blocks, warm_up
from stackviz.agent.children import Ended
from stackviz.report.format import hashed_uuid, parse_report
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import Nvml
from stackviz.report.measuring import RUNNABLE, Benchmark, Prepared
from stackviz.report.measuring.benchmark import MIB, Unavailable
from tests.agent import fake_nvml
from tests.agent.fake_nvml import Error, healthy_card
from tests.report.format.reports import h100_card, report_body

ROOT = Path(__file__).parents[2]
BRIEF = Pace(rounds=3, blocks_per_round=2, block_s=0.0001, warm_up_s=0.0, longest_run_s=1.0, budget_s=30.0)


# ---- timing ---------------------------------------------------------------------------------------------------------


class Workbench:
    """A device that finishes what it was given only when it is waited for, and the clock beside it."""

    def __init__(self, seconds_per_run):
        self.now = 0.0
        self.given = 0
        self.seconds_per_run = seconds_per_run
        self.log = []

    def run(self):
        self.given += 1
        self.log.append("run")

    def synchronize(self):
        self.now += self.given * self.seconds_per_run
        self.given = 0
        self.log.append("wait")

    def clock(self):
        self.log.append("clock")
        return self.now


def test_a_sample_is_synchronised_time_divided_by_runs():
    """Without waiting, the 2 ms below would be nothing: what is timed would be handing over the work."""
    bench = Workbench(0.002)
    blocks = time_blocks(bench.run, bench.synchronize, 2, 10, bench.clock)
    assert [block.seconds for block in blocks] == pytest.approx([0.002] * 2)
    assert {(block.enqueue_s, block.energy_j) for block in blocks} == {(0.0, None)}
    assert bench.log == ["wait", "clock", *["run"] * 10, "clock", "wait", "clock"] * 2


def test_the_energy_of_a_run_is_read_outside_of_the_timed_span():
    bench = Workbench(0.002)
    counter = iter([10.0, 30.0, 30.0, 25.0])

    def energy_j():
        bench.log.append("energy")
        return next(counter)

    blocks = time_blocks(bench.run, bench.synchronize, 2, 2, bench.clock, energy_j=energy_j)
    assert [block.energy_j for block in blocks] == [10.0, 0.0]  # a counter that goes back is none
    assert bench.log[:9] == ["wait", "energy", "clock", "run", "run", "clock", "wait", "clock", "energy"]


@pytest.mark.parametrize(
    ("seconds", "limits", "blocks"),
    [
        (1.0, {"until": 2.5}, 3), (1.0, {"until": 0.0}, 1), (2.0, {"slow_after_s": 5.0}, 3), (2.0, {"slow_after_s": 9.0}, 5)
    ],
)  # fmt: skip
def test_blocks_end_at_limits(seconds, limits, blocks):
    bench = Workbench(seconds)
    assert len(time_blocks(bench.run, bench.synchronize, 10, 1, bench.clock, **limits)) == blocks


def test_warm_up_lasts_its_time_and_never_less_than_two_runs():
    bench = Workbench(0.125)
    assert warm_up(bench.run, bench.synchronize, 1.0, bench.clock) == (8, 0.125)
    assert warm_up(bench.run, bench.synchronize, 0.0, bench.clock)[0] == 2


@pytest.mark.parametrize(("seconds", "runs"), [(1.0, 1), (0.02, 1), (0.0199, 2), (0.000001, 20_000), (0.0, 100_000)])
def test_a_block_is_filled_with_runs(seconds, runs):
    assert runs_per_block(seconds, 0.02) == runs


# ---- plans ----------------------------------------------------------------------------------------------------------


def test_quick_cpu_plan_alternates_benchmarks():
    cases = plan_cases([("cpu", "cpu")], list(RUNNABLE), suite="quick")
    quick = [key for key, known in RUNNABLE.items() if known.cases("cpu", True)]
    assert list(dict.fromkeys(case.benchmark for case in cases)) == quick
    assert set(RUNNABLE) - set(quick) == {"sustained", "train-step", "collectives", "peer-copy"}
    for key, benchmark in RUNNABLE.items():
        assert [case.params for case in cases if case.benchmark == key] == benchmark.cases("cpu", True)


def test_cases_are_named_as_people_say_them():
    cases = plan_cases([("cpu", "cpu")], ["gemm", "memory-copy"], suite="quick")
    assert [str(case).removesuffix(" on cpu") for case in cases] == [
        "gemm fp32 1024", "gemm fp32 2048", "gemm bf16 1024", "memory-copy 256 MiB"
    ]  # fmt: skip
    cases = plan_cases([("cpu", "cpu")], ["memory", "llm-decode"], suite="full")
    assert {"memory triad 64 KiB on cpu", "llm-decode 1B bf16 batch 16 context 512 on cpu"} <= set(map(str, cases))


def test_quick_plan_limits_cpu_cases():
    cases = plan_cases([("cuda:0", "cuda"), ("cpu", "cpu")], list(RUNNABLE), suite="quick")
    on_processor = [case for case in cases if case.device == "cpu"]
    assert [str(case) for case in on_processor if case.benchmark == "gemm"] == ["gemm fp32 2048 on cpu"]
    for case in on_processor:
        benchmark = RUNNABLE[case.benchmark]
        assert case.params == benchmark.light or benchmark.smaller(case.params) is None


@pytest.mark.parametrize("suite", PACES)
@pytest.mark.parametrize("key", RUNNABLE)
def test_every_plan_holds_the_light_cases(key, suite):
    if suite == "quick" and not RUNNABLE[key].cases("cpu", True):
        return
    assert RUNNABLE[key].light in [case.params for case in plan_cases([("cpu", "cpu")], [key], suite=suite)]


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu", "cpu"])
@pytest.mark.parametrize("key", RUNNABLE)
def test_every_case_has_a_working_set_and_counts_as_work(key, kind):
    benchmark = RUNNABLE[key]
    for params in benchmark.cases(kind, False):
        assert benchmark.working_set_bytes(params) > 0
        assert benchmark.work(params)


def test_a_standard_suite_leaves_out_what_takes_long():
    plans = {suite: plan_cases([("cuda:0", "cuda")], list(RUNNABLE), suite=suite) for suite in PACES}
    quick, standard, full = ({str(case) for case in plans[suite]} for suite in ("quick", "standard", "full"))
    assert len(quick) < len(standard)
    assert standard < full
    assert {"gemm bf16 16384 on cuda:0", "sustained bf16 seconds 300 8192 on cuda:0"} <= full - standard


def test_each_kind_of_device_multiplies_its_types():
    types = {
        (kind, suite): {case.params["dtype"] for case in plan_cases([(kind, kind)], ["gemm"], suite=suite)}
        for kind in ("cpu", "cuda", "mps", "xpu")
        for suite in ("standard", "full")
    }
    assert types["cpu", "standard"] == {"fp64", "fp32", "fp16", "bf16"}
    assert types["cpu", "full"] == {"fp64", "fp32", "fp16", "bf16", "fp8", "int8"}
    assert {"fp8", "mxfp8", "nvfp4", "int8"} <= types["cuda", "standard"]
    assert {kind for kind, suite in types if "tf32" in types[kind, suite]} == {"cuda"}
    assert "fp64" not in types["mps", "full"]


def test_long_case_is_visited_once_in_one_second_samples(measure):
    told = measure(lambda *_: prepared(lambda: time.sleep(0.26)), count=1, lasts_s=1.5)
    assert [step["is"] for step in told] == ["start", "samples"]
    assert len(told[1]["samples"]) == 2  # of four runs each, which is a second
    assert told[1]["conditions"]["runs_per_block"] == 4


@pytest.mark.parametrize("suite", PACES)
def test_a_case_is_run_again_exactly(suite):
    wanted = [read_case("dtype=bf16,m=8192,n=8192,k=8192")]
    cases = plan_cases([("cuda:0", "cuda"), ("cpu", "cpu")], ["gemm"], suite=suite, wanted=wanted)
    assert cases == [Case("gemm", 1, "cuda:0", {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192})]
    cases = plan_cases([("cpu", "cpu")], list(RUNNABLE), suite=suite, wanted=[{"bytes": str(4 * 2**30)}])
    assert [case.params for case in cases if case.benchmark == "memory-copy"] == [{"bytes": 4 * 2**30}]


def test_a_case_named_wholly_does_not_bring_those_that_have_more():
    wanted = [read_case("model=1B,dtype=bf16,batch=1,context=512"), read_case("model=8B,weights=int4")]
    cases = plan_cases([("cuda:0", "cuda")], ["llm-decode"], suite="full", wanted=wanted)
    assert sorted(map(str, cases)) == [
        "llm-decode 1B bf16 batch 1 context 512 on cuda:0",
        "llm-decode 8B bf16 batch 1 context 512 weights int4 on cuda:0",
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [(8, "8 B"), (1000, "1000 B"), (2**16, "64 KiB"), (2**20 + 2**10, "1025 KiB"), (2**30, "1024 MiB")],
)
def test_sizes_that_differ_are_told_apart(size, text):
    assert params_text({"bytes": size}) == text


def test_every_case_can_be_named():
    cards = [(f"cuda:{number}", "cuda") for number in range(16)]
    for known in RUNNABLE.values():
        for params in known.cases("cuda", False):
            cases = plan_cases(cards, [known.key], suite="full", wanted=[read_case(case_text(params))])
            assert [case.params for case in cases] == [params] * len(cases) != []


@pytest.mark.parametrize("text", ["", "bf16", "dtype=", "dtype=bf16,", "dtype=bf16,m", "dtype=fp3", "m=8193", "=1"])
def test_a_case_that_no_benchmark_has_is_refused(text):
    with pytest.raises(ValueError, match=r"NAME=VALUE|no benchmark"):
        read_case(text)


def test_copy_and_product_memory_needs():
    assert RUNNABLE["memory-copy"].working_set_bytes({"bytes": 256 * MIB}) == 512 * MIB
    per_element = {"bf16": 3 * 2, "int8": 1 + 1 + 4, "fp8": 1 + 1 + 2, "mxfp8": 2 + 2 / 32 + 2, "nvfp4": 1 + 2 / 16 + 2}
    for dtype, count in per_element.items():
        square = {"dtype": dtype, "m": 1024, "n": 1024, "k": 1024}
        assert RUNNABLE["gemm"].working_set_bytes(square) == count * 1024**2, dtype


@pytest.mark.parametrize(
    ("hip", "capability", "why"),
    [
        (None, (8, 0), {"fp8": "FP8 begins with compute capability 8.9; this card has 8.0", "mxfp8": "", "nvfp4": ""}),
        (None, (8, 9), {"mxfp8": "MXFP8 begins with compute capability 10.0; this card has 8.9", "nvfp4": ""}),
        (None, (9, 0), {"nvfp4": "this card has 9.0", "mxfp8": "this card has 9.0"}),
        (None, (10, 0), {}),
        (None, (12, 0), {}),
        ("6.4", (9, 4), {"fp8": "e4m3fnuz", "mxfp8": "NVIDIA cards only", "nvfp4": "NVIDIA cards"}),
    ],
)
def test_products_of_short_types_are_for_cards_that_have_them(hip, capability, why):
    properties = SimpleNamespace(major=capability[0], minor=capability[1])
    cuda = SimpleNamespace(get_device_properties=lambda _index: properties)
    device = Device(SimpleNamespace(version=SimpleNamespace(hip=hip), cuda=cuda), "cuda:0", "cuda")
    lacking = {dtype: device.lacks(dtype) for dtype in ("fp8", "mxfp8", "nvfp4")}
    assert {dtype for dtype, reason in lacking.items() if reason} == set(why)
    for dtype, words in why.items():
        assert words in lacking[dtype]


def test_a_torch_without_a_product_of_fp8_is_no_failure():
    torch = SimpleNamespace(
        set_float32_matmul_precision=lambda _precision: None, get_float32_matmul_precision=lambda: "highest"
    )
    with pytest.raises(Unavailable, match="no product of fp8"):
        RUNNABLE["gemm"].prepare(torch, "cpu", {"dtype": "fp8", "m": 512, "n": 512, "k": 512})


WITH_A_PRODUCT_OF_BLOCKS = """
import torch
from stackviz.report.measuring.gemm import GEMM

def value(code):  # of E2M1, by its bits: a sign, two of the exponent, one of the fraction
    sign, exponent, fraction = code >> 3, code >> 1 & 3, code & 1
    return (-1) ** sign * (2 ** (exponent - 1) * (1 + fraction / 2) if exponent else fraction / 2)

PAIRS = torch.tensor([[value(byte & 15), value(byte >> 4)] for byte in range(256)], dtype=torch.float64)

def exact(rows):
    is_packed = rows.dtype == torch.float4_e2m1fn_x2
    return PAIRS[rows.view(torch.uint8).long()].flatten(1) if is_packed else rows.to(torch.float64)

def product(a, b, *, scale_a, scale_b, out_dtype, out):
    scales = {(str(scale.dtype), scale.numel(), float(scale.to(torch.float32).min())) for scale in (scale_a, scale_b)}
    print(sorted(scales), a.shape[0], b.shape[1], float(scale_a.to(torch.float32).max()))
    return out.copy_(exact(a) @ exact(b.t()).t())

torch._scaled_mm = product
for dtype in ("mxfp8", "nvfp4"):
    prepared = GEMM.prepare(torch, "cpu", {"dtype": dtype, "m": 512, "n": 512, "k": 512})
    prepared.run()
    right = prepared.check(), 0 < prepared.conditions["relative_error"] < 0.01
    prepared.output.mul_(1.1)
    print(dtype, *right, "wrong" in prepared.check(), len(prepared.output.unique()) > 1000)
"""


def test_scaled_products_are_checked_by_their_values():
    """No processor multiplies them: the product is the test's own."""
    done = subprocess.run(
        [python_with_torch(), "-c", WITH_A_PRODUCT_OF_BLOCKS], capture_output=True, text=True, timeout=120, cwd=ROOT,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = list(dict.fromkeys(done.stdout.splitlines()))
    assert told == [
        "[('torch.float8_e8m0fnu', 8192, 1.0)] 512 512 1.0",
        "mxfp8 None True True True",
        "[('torch.float8_e4m3fn', 16384, 1.0)] 512 512 1.0",
        "nvfp4 None True True True",
    ]


@pytest.mark.parametrize("dtype", ["fp8", "int8"])
def test_a_real_torch_multiplies_short_types_on_this_processor(dtype, tmp_path):
    done = subprocess.run(
        [python_with_torch(), "-m", "stackviz.agent", "bench", "--suite", "full", "--device", "cpu", "--json", "-q",
         "--benchmark", "gemm", "--case", f"dtype={dtype},m=512", "--bench-time", "20", "--wait", "60",
         "--spool", str(tmp_path)],
        capture_output=True, timeout=180, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = parse_report(done.stdout).results
    assert (result.state, result.reason) == ("ok", None)  # its corner was held against the same sums in float64


# ---- one process that measures --------------------------------------------------------------------------------------


def fake_torch(**changes):
    plain = {"__version__": "2.13.0", "inference_mode": nullcontext, "get_num_threads": lambda: 2}
    return SimpleNamespace(**plain | changes)


@pytest.fixture
def measure(monkeypatch):
    """Measure cases of a benchmark made by the test; -> what was told. Cases are numbered by their parameter n."""

    def with_(prepare, count=2, pace=BRIEF, smaller=lambda _params: None, working_set=0, left=None, **made):
        free, cache, lasts_s = (made.get(name) for name in ("free", "cache", "lasts_s"))
        benchmark = Benchmark(
            key="made", version=1, title="Made", runs="", sizes="", formula="", source="", unit="B/s", light={},
            cases=lambda *_: [], prepare=prepare, smaller=smaller, working_set_bytes=lambda _params: working_set,
            must_exceed_cache=cache is not None, lasts_s=lambda _params: lasts_s or 0.0, work=lambda _params: None,
        )  # fmt: skip
        monkeypatch.setattr(measuring, "BENCHMARKS", {"made": benchmark})
        monkeypatch.setattr(visiting, "look", lambda: None)
        monkeypatch.setattr(measuring, "prove", lambda _progress: [])
        monkeypatch.setattr(Device, "free_bytes", lambda _self: free)
        monkeypatch.setattr(Device, "cache_bytes", lambda _self: cache)
        told = []
        cases = [CaseLeft(case=Case("made", 1, "cpu", {"n": number}), **(left or {})) for number in range(count)]
        measuring.measure_case(cases, {"cpu": Device(fake_torch(), "cpu", "cpu")}, pace, told.append)
        with_.estimates = [step for step in told if step["is"] in {"trial", "estimates"}]
        return [step for step in told if step["is"] not in {"trial", "estimates", "extra", "kernels"}]

    return with_


def prepared(run=lambda: None, check=lambda: None):
    return Prepared(run, SimpleNamespace(device="cpu"), check, {"inputs": "uniform"})


def test_rounds_visit_all_cases_there_and_back(measure):
    told = measure(lambda *_: prepared())
    visits = [(t["case"], t["round"]) for t in told if t["is"] == "start"]
    assert visits == [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)]
    assert all(len(t["samples"]) == 2 for t in told if t["is"] == "samples")


def test_what_another_process_has_visited_is_not_visited_again(measure):
    told = measure(lambda *_: prepared(), count=1, left={"visits": 2, "runs": 7})
    assert [(t["is"], t.get("round")) for t in told] == [("start", 2), ("samples", None)]
    assert told[1]["conditions"]["runs_per_block"] == 7
    assert measure(lambda *_: pytest.fail("it ran"), count=1, left={"visits": 1, "is_over": True}) == []


def test_a_visit_has_a_limit_that_follows_what_it_took_before(measure):
    brief = measure(lambda *_: prepared(), count=1)
    limits = [t["limit_s"] for t in brief if t["is"] == "start"]
    assert limits[0] == 36.0  # 30 s, and 6 runs of at most 1 s
    assert 30.0 <= limits[1] < 31.0
    (large, *_) = measure(lambda *_: prepared(), count=1, working_set=8 * 10**9, pace=replace(BRIEF, budget_s=100.0))
    assert large["limit_s"] == 116.0


def test_time_of_each_case_is_estimated_first(measure, monkeypatch):
    pace = Pace(rounds=3, blocks_per_round=4, block_s=0.1, warm_up_s=0.5, longest_run_s=10.0, budget_s=1000.0)
    monkeypatch.setattr(measuring, "_all_rounds", lambda *_: False)
    measure(lambda *_: prepared(), pace=pace, working_set=200_000_000)
    assert [step["is"] for step in measure.estimates] == ["trial", "trial", "estimates"]
    # Inputs at 0.1 GB/s, as this torch makes none, then warm-up and four blocks; three times.
    assert measure.estimates[-1]["seconds"] == [pytest.approx(3 * (2.0 + 0.5 + 0.4))] * 2


@pytest.mark.parametrize(("run_s", "visit_s"), [(0.001, 1.5), (0.3, 3.6), (2.0, 10.0)])
def test_slow_visit_warms_up_twice_and_runs_three_times(run_s, visit_s):
    pace = Pace(rounds=5, blocks_per_round=10, block_s=0.1, warm_up_s=0.5, longest_run_s=10.0, budget_s=1200.0)
    assert pace.visit_s(run_s) == pytest.approx(visit_s)


def test_broken_context_ends_measuring_in_the_process(measure):
    def prepare(_torch, _device, params):
        if params["n"] == 0:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return pytest.fail("it went on")

    told = measure(prepare)
    assert [(t["case"], t["is"], t.get("is_sticky")) for t in told] == [(0, "start", None), (0, "failed", True)]


def test_a_device_that_is_gone_after_a_restart_is_a_failure(measure):
    told = []
    cases = [CaseLeft(case=Case("made", 1, "cuda:1", {"n": 0}), visits=1)]
    measuring.measure_case(cases, {}, BRIEF, told.append)
    assert told[0] == {"case": 0, "is": "failed", "reason": "this process no longer finds cuda:1"}
    assert [step["is"] for step in told] == ["failed", "estimates"]


def test_inputs_are_made_anew_at_each_visit(measure):
    made = []
    measure(lambda _torch, _device, params: made.append(params["n"]) or prepared(), count=1)
    assert made == [0, 0, 0]


def test_a_visit_tells_its_conditions(measure):
    def fall_back():
        warnings.warn("The operator 'aten::x' ... will fall back to run on the CPU.", UserWarning, stacklevel=1)

    for run, is_fallback in ((lambda: None, False), (fall_back, True)):
        conditions = measure(lambda *_: prepared(run), count=1)[1]["conditions"]  # noqa: B023
        assert (conditions["device_used"], conditions["synchronized"]) == ("cpu", True)
        assert (conditions["runs_per_block"] >= 1, conditions["fallback"]) == (True, is_fallback)


def test_a_case_that_fails_is_a_result_and_the_others_go_on(measure):
    def prepare(_torch, _device, params):
        if params["n"] == 0:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return prepared()

    told = measure(prepare)
    assert [t for t in told if t["is"] == "failed"] == [
        {"case": 0, "is": "failed", "reason": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"}
    ]
    assert [t["case"] for t in told if t["is"] == "samples"] == [1, 1, 1]


def test_a_wrong_output_is_a_failure_however_fast_it_came(measure):
    told = measure(lambda *_: prepared(check=lambda: "the product is wrong: off by 1 of its largest value"), count=1)
    assert told[-1]["reason"] == "ArithmeticError: the product is wrong: off by 1 of its largest value"


def test_slow_cases_are_skipped_after_a_trial(measure):
    def prepare(_torch, _device, params):
        assert params == {"n": -1}, "the large case itself must not be run"
        return prepared()

    told = measure(prepare, count=1, smaller=lambda _params: ({"n": -1}, 1e12))
    assert told[-1]["is"] == "skipped"
    assert "over the limit of 1 s" in told[-1]["reason"]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"working_set": 12 * 2**30, "free": 8 * 2**30}, "needs 12.0 GiB of memory; 8.0 GiB is available"),
        ({"working_set": 512 * MIB, "cache": 384 * MIB}, "would measure the last-level cache of 384 MiB"),
        ({"pace": replace(BRIEF, budget_s=0.0)}, "no time left of 0 s"),
    ],
)
def test_what_cannot_be_measured_is_skipped_unrun(measure, sizes, reason):
    told = measure(lambda *_: pytest.fail("it ran"), **sizes)
    assert [reason in step["reason"] for step in told] == [True, True]


# ---- devices and conditions -----------------------------------------------------------------------------------------


def cuda_torch(count=1, **properties):
    device = SimpleNamespace(name="NVIDIA H100 80GB HBM3", **properties)
    cuda = SimpleNamespace(
        is_available=lambda: count > 0, device_count=lambda: count, get_device_properties=lambda _n: device
    )
    return fake_torch(cuda=cuda, backends=SimpleNamespace(), version=SimpleNamespace(hip=None))


def test_devices_are_listed_accelerators_first():
    assert [device.name for device in list_devices(cuda_torch(2))] == ["cuda:0", "cuda:1", "cpu"]
    assert [device.name for device in list_devices(cuda_torch(2), ["cuda:1", "cpu"])] == ["cuda:1", "cpu"]
    assert [device.name for device in list_devices(cuda_torch(2), ["cuda"])] == ["cuda:0", "cuda:1"]


def test_a_device_is_the_card_with_its_uuid_or_none_is_guessed():
    uuid = "6f1c1d2e-1111-2222-3333-444455556666"
    cards = [h100_card(index=n, uuid_hash=hashed_uuid(text)) for n, text in enumerate(("other", f"GPU-{uuid}"))]
    assert card_of(list_devices(cuda_torch(uuid=uuid))[0], cards) == 1
    device = list_devices(cuda_torch())[0]
    assert card_of(device, [h100_card(index=0), h100_card(index=1)]) is None
    assert card_of(device, [h100_card(index=0)]) == 0
    assert card_of(Device(None, "cpu", "cpu"), [h100_card()]) is None


def test_readings_of_a_card_are_in_si_units():
    def conditions(**answers):
        card = healthy_card(**answers)
        return card_conditions(Nvml(fake_nvml.module([card])), card)

    values = conditions(nvmlDeviceGetCurrentClocksEventReasons=0x24)
    assert (values["power_w"], values["busy_ratio"]) == (pytest.approx(118.432), pytest.approx(0.07))
    assert (values["sm_clock_hz"], values["throttle_reasons"]) == (345e6, "sw_power_cap sw_thermal_slowdown")
    assert "power_w" not in conditions(nvmlDeviceGetPowerUsage=Error(fake_nvml.NOT_SUPPORTED))
    older = {"nvmlDeviceGetCurrentClocksEventReasons": Error(13), "nvmlDeviceGetCurrentClocksThrottleReasons": 0x4}
    assert conditions(**older)["throttle_reasons"] == "sw_power_cap"


SMI = "345, 2619, 118.43, 700.00, 34, 7, 502, 0x0000000000000004"


def smi(answers):
    """An nvidia-smi that answers in turn; -> the readings and the command lines it was asked with."""
    asked = []

    def run(argv, _timeout_s):
        asked.append(argv)
        answer = answers.pop(0)
        if isinstance(answer, MissingFact):
            raise answer
        return answer

    return SmiReadings("GPU-6f1c1d2e", run), asked


def test_without_a_binding_nvidia_smi_tells_the_same():
    readings, asked = smi([SMI, "345, 405, [N/A], [Not Supported], 34, 7, 502, [N/A]"])
    assert readings() == {
        "sm_clock_hz": 345e6, "memory_clock_hz": 2.619e9, "power_w": 118.43, "power_limit_w": 700.0,
        "temperature_c": 34.0, "busy_ratio": 0.07, "memory_used_bytes": 502 * MIB, "throttle_reasons": "sw_power_cap",
    }  # fmt: skip
    assert "--id=GPU-6f1c1d2e" in asked[0]
    assert set(readings()) == {"sm_clock_hz", "memory_clock_hz", "temperature_c", "busy_ratio", "memory_used_bytes"}


def test_an_older_or_failing_nvidia_smi_is_asked_twice():
    readings, asked = smi([MissingFact("failed", "not a valid field"), SMI, SMI])
    readings()
    assert readings()["throttle_reasons"] == "sw_power_cap"
    assert ["event" in argv[2] for argv in asked] == [True, False, False]
    readings, asked = smi([MissingFact("timeout", "did not end")] * 2)
    assert [readings(), readings(), readings()] == [{}, {}, {}]
    assert len(asked) == 2


@pytest.mark.parametrize(("bits", "words"), [(0, "none"), (1, "none"), (0x44, "sw_power_cap hw_thermal_slowdown")])
def test_idle_holds_no_clock_back(bits, words):
    assert throttle_words(bits) == words


def test_a_processors_own_sensor_is_read_and_no_other(tmp_path):
    for name, sensor, value in (("hwmon0", "acpitz", "16800"), ("hwmon1", "k10temp", "61250")):
        folder = tmp_path / "sys/class/hwmon" / name
        folder.mkdir(parents=True)
        (folder / "name").write_text(sensor)
        (folder / "temp1_input").write_text(value)
    assert processor_conditions(tmp_path)["temperature_c"] == 61.25


# ---- from outside ---------------------------------------------------------------------------------------------------

CASES = [
    {"benchmark": "gemm", "version": 1, "device": "cuda:0", "params": {"dtype": "bf16", "m": n, "n": n, "k": n}, "card": 0}
    for n in (1024, 2048, 4096)
]  # fmt: skip


def visit(case, *samples, throttle="none"):
    return {
        "case": case, "is": "samples", "samples": list(samples), "started_at": "2026-11-20T12:00:00Z", "duration_s": 0.5,
        "conditions": {
            "before.power_w": 100.0 * samples[0], "after.power_w": 100.0 * samples[-1], "device_used": "cuda:0",
            "after.throttle_reasons": throttle, "fallback": False, "runs_per_block": 3,
        },
    }  # fmt: skip


def start(case, number=0):
    return {"case": case, "is": "start", "round": number, "limit_s": 30.0}


def test_of_several_visits_the_largest_error_counts():
    records = Records()
    records.take({"is": "plan", "cases": CASES[:1]})
    for error in (3e-3, 9e-3, 1e-3):
        step = visit(0, 1.0)
        records.take(step | {"conditions": step["conditions"] | {"relative_error": error}})
    (result,) = records.results(quick=False)
    assert result["conditions"]["relative_error"] == 9e-3


@pytest.fixture
def watched(monkeypatch):
    """Let processes tell what the test writes down; -> results, what was given to each process, and the steps seen."""

    def run(*processes, **options):
        given, steps = [], []
        left = list(processes)

        def run_child(_module, handed, _limit, watch):
            given.append(handed)
            told, ended = left.pop(0)
            for line in told:
                watch(line)
            return ended

        monkeypatch.setattr(running, "run_child", run_child)
        results = run_benchmarks(BenchmarkOptions(suite="quick", **options), [h100_card()], steps.append)
        body = report_body(cards=[h100_card()], results=results)
        assert parse_report(json.dumps(body)).unknown_fields == ()
        return results, given, steps

    return run


WELL = Ended("ok", None, (), 1.0)
CRASH = Ended("failed", "ended by signal 11 (SIGSEGV)", (), 1.0)
PLAN = {"is": "plan", "cases": CASES}
READY = {"is": "ready"}


def test_samples_of_all_rounds_are_kept_in_order(watched):
    told = [PLAN, start(0), visit(0, 1.0, 2.0), start(0, 1), visit(0, 3.0, 4.0, throttle="sw_power_cap")]
    results, _, _ = watched((told, WELL))
    first = results[0]
    assert (first["state"], first["samples"], first["card"]) == ("ok", [1.0, 2.0, 3.0, 4.0], 0)
    assert first["conditions"]["before.power_w"] == 100.0
    assert first["conditions"]["after.power_w"] == 400.0
    assert first["conditions"]["throttle_reasons"] == "sw_power_cap"
    assert (first["conditions"]["rounds"], first["conditions"]["blocks"]) == (2, 4)


def test_crashing_case_fails_and_others_continue(watched):
    first = [PLAN, start(0), visit(0, 1.0), start(1)]
    second = [READY, start(2), visit(2, 9.0), start(0, 1), visit(0, 2.0)]
    results, given, _ = watched((first, CRASH), (second, WELL))
    assert [(r["state"], r["samples"]) for r in results] == [("ok", [1.0, 2.0]), ("failed", []), ("ok", [9.0])]
    assert results[1]["reason"] == "the benchmark's process ended by signal 11 (SIGSEGV)"
    assert given[0]["left"] == []
    assert [(left["visits"], left["is_over"]) for left in given[1]["left"]] == [(1, False), (0, True), (0, False)]
    assert given[1]["left"][0]["case"]["params"]["m"] == 1024
    assert given[1]["left"][0]["runs"] == 3


def test_hanging_case_fails_and_others_get_the_time_left(watched):
    first = [PLAN, start(0), visit(0, 1.0), start(1)]
    hang = Ended("timeout", "timed out after 30 s", (), 30.0)
    results, given, _ = watched((first, hang), ([READY], WELL))
    assert (results[1]["state"], results[1]["samples"]) == ("failed", [])
    assert results[1]["reason"] == "a visit did not end within its limit of 20 s and was ended"  # half of a quick run
    assert given[1]["left_s"] == pytest.approx(40.0, abs=0.5)
    assert results[2]["reason"] == "not reached"


def test_a_sticky_error_gets_a_new_process_for_the_others(watched):
    broken = {"case": 0, "is": "failed", "reason": "AcceleratorError: CUDA error", "is_sticky": True}
    results, given, _ = watched(([PLAN, start(0), broken], WELL), ([READY, start(1), visit(1, 5.0)], WELL))
    assert len(given) == 2
    assert [r["state"] for r in results] == ["failed", "ok", "skipped"]


def test_an_interruption_keeps_what_was_measured(watched):
    class Interrupting(list):
        def __iter__(self):
            yield from super().__iter__()
            raise KeyboardInterrupt

    with pytest.raises(MeasuringInterrupted) as interrupted:
        watched((Interrupting([PLAN, start(0), visit(0, 1.0), start(1)]), WELL))
    states = [(r["state"], r["reason"]) for r in interrupted.value.results]
    assert states == [("ok", None), ("skipped", "interrupted"), ("skipped", "interrupted")]


def test_processes_are_not_started_for_ever(watched):
    results, given, _ = watched(([PLAN], CRASH), *[([READY], CRASH)] * 20)
    assert len(given) == running._MOST_PROCESSES
    assert {result["state"] for result in results} == {"skipped"}


def test_process_that_never_starts_fails_benchmarks(watched):
    failed = Ended("failed", "ended with 1: ImportError: libtorch_cuda.so", (), 1.0)
    results, _, _ = watched((([]), failed))
    on_processor = [key for key, known in RUNNABLE.items() if "cpu" not in known.not_on]
    assert [(r["benchmark"], r["state"]) for r in results] == [(key, "failed") for key in on_processor]
    assert "libtorch_cuda.so" in results[0]["reason"]


def test_skipped_and_failed_cases_are_results(watched):
    skipped = {"case": 0, "is": "skipped", "reason": "needs 12 GiB"}
    failed = {"case": 1, "is": "failed", "reason": "RuntimeError: no kernel image"}
    results, _, _ = watched(([PLAN, skipped, start(1), failed], WELL))
    told = [("skipped", skipped["reason"]), ("failed", failed["reason"]), ("skipped", "not reached")]
    assert [(result["state"], result["reason"]) for result in results] == told


def test_steps_count_up_to_the_total(watched):
    told = [PLAN]
    for number in range(3):
        for case in range(3):
            told += [start(case, number), visit(case, 1.0)]
    _, _, steps = watched((told, WELL))
    assert [step.done for step in steps] == list(range(9))
    assert {step.total for step in steps} == {9}
    assert steps[0].left_s is None
    assert steps[-1].left_s >= 0


def test_benchmarks_asked_for_alone_are_told_of_alone():
    options = BenchmarkOptions(benchmarks=("memory-copy",), devices=("mps",))
    (result,) = not_run("skipped", "not_installed: torch", options)
    assert (result["benchmark"], result["device"], result["state"]) == ("memory-copy", "mps", "skipped")


# ---- with a real torch ----------------------------------------------------------------------------------------------


def python_with_torch():
    """This Python, or the one named in ACCELWEB_TORCH_PYTHON."""
    named = os.environ.get("ACCELWEB_TORCH_PYTHON")
    if named:
        return named
    if util.find_spec("torch") is None:
        pytest.skip(
            "real benchmarks: torch is not installed here, and ACCELWEB_TORCH_PYTHON names no Python that has it"
        )
    return sys.executable


def test_a_real_torch_measures_this_processor(tmp_path):
    done = subprocess.run(
        [python_with_torch(), "-m", "stackviz.agent", "bench", "--quick", "--device", "cpu", "--json", "-q",
         "--bench-time", "60", "--wait", "60", "--spool", str(tmp_path)],
        capture_output=True, timeout=180, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = parse_report(done.stdout)
    measured = {result.benchmark: result for result in report.results if result.state == "ok"}
    assert {"gemm", "memory-copy", "memory"} <= set(measured) <= set(RUNNABLE)
    for result in measured.values():
        assert result.conditions["device_used"] == "cpu"
        assert result.samples  # of a busy machine there are few
        assert len(result.rounds) == len(result.samples)
        assert result.framework == "torch"
        assert result.conditions["blas_library"]
        if result.benchmark == "gemm":
            assert 0 <= result.conditions["relative_error"] <= 0.05
        assert 1e-6 < statistics.median(result.samples) < 10
