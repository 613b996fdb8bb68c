"""Measure a plan of cases, round by round, and emit each step when it is done: emitted steps survive a crash.

Runs in the benchmark's own process. Torch is passed in.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.conditions import Readings, readings_of
from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.timing import Pace, runs_per_block, time_blocks, warm_up
from stackviz.backports import UTC
from stackviz.measuring import BENCHMARKS, Prepared
from stackviz.measuring.benchmark import MIB, uniform

__all__ = ["CaseLeft", "Skip", "measure_case"]

_CACHES_EXCEEDED = 4  # a copy's working set is at least this many times the last-level cache

_TRIED_S = 0.05  # the quickest of the runs in this time counts: the first ones load and compile

# How long a visit may take before it counts as hung: ten times what it took before; the first one has to load and
# compile kernels, and its longest runs are two to warm up and three to be timed.
_LIMIT_S, _LIMIT_FACTOR = 30.0, 10
_LONGEST_RUNS_OF_A_VISIT = 6
_INPUT_BYTES_PER_S = 100e6  # slower than any device makes random numbers
_TRIED_INPUT_BYTES = 16 * MIB

Tell = Callable[[dict[str, Any]], None]


class Skip(Exception):
    """This case is not run here; the text is the reason."""


@dataclass(kw_only=True)
class CaseLeft:
    """A case to measure, with what other processes did of it: visits, and the runs that they put into a block."""

    case: Case
    visits: int = 0
    runs: int = 0
    is_over: bool = False


@dataclass(kw_only=True)
class _Progress:
    """What is known of one case between its visits."""

    case: Case
    device: Device
    readings: Readings
    visits: int
    run_s: float | None = None  # of one run, as a smaller one has it
    runs: int
    is_over: bool
    longest_visit_s: float | None = None
    warm_up_runs: int = 0


def measure_case(cases: Sequence[CaseLeft], devices: Mapping[str, Device], pace: Pace, tell: Tell) -> None:
    """Visit every case once a round until all rounds are done or the time is up. Tells, for case number n:

    first {"case": n, "is": "trial", "limit_s"} of cases that nobody has visited, and {"is": "estimates", "seconds"} of
    all; then {"case": n, "is": "start", "limit_s"} and one of {"is": "samples", "samples": [...], "conditions": {...},
    "started_at", "duration_s"}, {"is": "skipped", "reason"} and {"is": "failed", "reason"}. After a failure that is
    `is_sticky` it returns: nothing in this process would be measured right.
    """
    with ExitStack() as stack:
        readings = {name: readings_of(device, stack) for name, device in devices.items()}
        progress = [_progress(left, devices, readings) for left in cases]
        for index, (left, each) in enumerate(zip(cases, progress, strict=True)):
            if each is None and not left.is_over:
                tell({"case": index, "is": "failed", "reason": f"torch no longer lists {left.case.device}"})
        there = [(index, each) for index, each in enumerate(progress) if each is not None]
        if not _estimate(there, len(cases), pace, tell):
            return
        until = time.perf_counter() + pace.budget_s
        for number in range(pace.rounds):
            for index, each in there if number % 2 == 0 else reversed(there):
                if each.is_over or each.visits > number:
                    continue
                outcome = _in_time(each, pace, until, index, tell)
                if outcome.get("is_sticky"):
                    return


def _estimate(there: list[tuple[int, _Progress]], count: int, pace: Pace, tell: Tell) -> bool:
    """Try each case small before all of them are measured, and tell how long they will take. -> whether to go on."""
    seconds = [0.0] * count
    input_rates: dict[str, float] = {}
    for index, progress in there:
        if progress.is_over:
            continue
        if progress.visits == 0:
            tell({"case": index, "is": "trial", "limit_s": _limit_s(progress, pace)})
            outcome = _tried(progress, pace, input_rates)
            if outcome:
                tell({"case": index, **outcome})
            if outcome.get("is_sticky"):
                return False
        if not progress.is_over:
            inputs_s = _working_set(progress) / input_rates.get(progress.device.name, _INPUT_BYTES_PER_S)
            visit_s = inputs_s + pace.visit_s(progress.run_s or 0.0)
            seconds[index] = round((pace.rounds - progress.visits) * visit_s, 2)
    tell({"is": "estimates", "seconds": seconds})
    return True


def _tried(progress: _Progress, pace: Pace, input_rates: dict[str, float]) -> dict[str, Any]:
    """Nothing, or how the case ended already."""
    device = progress.device
    try:
        _refuse_what_cannot_fit(progress)
        if device.name not in input_rates:
            input_rates[device.name] = _input_rate(device)
        _refuse_what_takes_too_long(progress, pace)
    except Skip as skip:
        progress.is_over = True
        return {"is": "skipped", "reason": str(skip)}
    except Exception as error:  # noqa: BLE001 - as in _visited
        progress.is_over = True
        return _failed(error)
    finally:
        with suppress(Exception):
            device.give_back()
    return {}


def _input_rate(device: Device) -> float:
    """Bytes of random numbers a second; a device that makes none is no slower than this agent expects."""
    with suppress(Exception):
        for _ in range(2):  # the first one loads kernels
            device.synchronize()
            started = time.perf_counter()
            uniform(device.torch, device.name, (_TRIED_INPUT_BYTES // 4,), device.torch.float32)
            device.synchronize()
            rate = _TRIED_INPUT_BYTES / max(time.perf_counter() - started, 1e-9)
        return rate
    return _INPUT_BYTES_PER_S


def _working_set(progress: _Progress) -> int:
    return BENCHMARKS[progress.case.benchmark].working_set_bytes(progress.case.params)


def _progress(left: CaseLeft, devices: Mapping[str, Device], readings: Mapping[str, Readings]) -> _Progress | None:
    name = left.case.device
    if name not in devices:
        return None
    return _Progress(
        case=left.case,
        device=devices[name],
        readings=readings[name],
        visits=left.visits,
        runs=left.runs,
        is_over=left.is_over,
    )


def _in_time(progress: _Progress, pace: Pace, until: float, index: int, tell: Tell) -> dict[str, Any]:
    """One visit, told; none if the time is up."""
    if time.perf_counter() >= until:
        progress.is_over = True
        if progress.visits == 0:
            tell({"case": index, "is": "skipped", "reason": f"no time left of {pace.budget_s:g} s"})
        return {}
    tell({"case": index, "is": "start", "round": progress.visits, "limit_s": _limit_s(progress, pace)})
    outcome = _visited(progress, pace, until)
    tell({"case": index, **outcome})
    return outcome


def _limit_s(progress: _Progress, pace: Pace) -> float:
    """Seconds after which this visit is taken for hung."""
    if progress.longest_visit_s is not None:
        return round(_LIMIT_S + _LIMIT_FACTOR * progress.longest_visit_s, 1)
    inputs_s = _working_set(progress) / _INPUT_BYTES_PER_S
    return round(_LIMIT_S + _LONGEST_RUNS_OF_A_VISIT * pace.longest_run_s + inputs_s, 1)


def _visited(progress: _Progress, pace: Pace, until: float) -> dict[str, Any]:
    try:
        visit = {"is": "samples", **_visit(progress, pace, until)}
    except Skip as skip:
        progress.is_over = True
        return {"is": "skipped", "reason": str(skip)}
    except Exception as error:  # noqa: BLE001 - any failure of a kernel, driver or allocator is this case's result
        progress.is_over = True
        return _failed(error)
    finally:
        with suppress(Exception):  # after a sticky error even this fails
            progress.device.give_back()
    progress.visits += 1
    progress.longest_visit_s = max(progress.longest_visit_s or 0.0, visit["duration_s"])
    return visit


def _failed(error: Exception) -> dict[str, Any]:
    """`is_sticky`: the context of the device is broken, and every later call of this process fails alike."""
    failed: dict[str, Any] = {"is": "failed", "reason": f"{type(error).__name__}: {error}"[:2000]}
    if type(error).__name__ == "AcceleratorError" or "CUDA error" in str(error) or "HIP error" in str(error):
        failed["is_sticky"] = True
    return failed


def _visit(progress: _Progress, pace: Pace, until: float) -> dict[str, Any]:
    """One visit: inputs made anew, warm-up, blocks, check. -> samples and conditions."""
    benchmark = BENCHMARKS[progress.case.benchmark]
    device = progress.device
    if progress.visits == 0:
        _refuse_what_cannot_fit(progress)  # again: what was free before may be taken
    started_at, started = datetime.now(UTC), time.monotonic()
    with warnings.catch_warnings(record=True) as caught, device.torch.inference_mode():
        warnings.simplefilter("always")
        prepared = benchmark.prepare(device.torch, device.name, progress.case.params)
        before = progress.readings()
        warm_up_runs, quickest = warm_up(prepared.run, device.synchronize, pace.warm_up_s)
        progress.runs = progress.runs or runs_per_block(quickest, pace.block_s)
        samples = time_blocks(
            prepared.run,
            device.synchronize,
            pace.blocks_per_round,
            progress.runs,
            until=until,
            slow_after_s=pace.longest_timed_s,
        )
        after = progress.readings()  # at once, while the device is hot
        problem = prepared.check()
    if problem:
        raise ArithmeticError(problem)
    progress.warm_up_runs += warm_up_runs
    return {
        "samples": samples,
        "conditions": _conditions(progress, prepared, before, after) | {"fallback": _fell_back(caught)},
        "started_at": started_at.isoformat().replace("+00:00", "Z"),
        "duration_s": round(time.monotonic() - started, 4),
    }


def _conditions(
    progress: _Progress, prepared: Prepared, before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    torch = progress.device.torch
    cache_bytes = progress.device.cache_bytes()
    used = str(prepared.output.device)
    return {
        **{f"before.{name}": value for name, value in before.items()},
        **{f"after.{name}": value for name, value in after.items()},
        "device_used": f"{used}:0" if used in {"cuda", "xpu", "mps"} else used,
        "synchronized": True,
        "timer": "time.perf_counter",
        "runs_per_block": progress.runs,
        "warmup_runs": progress.warm_up_runs,
        "working_set_bytes": BENCHMARKS[progress.case.benchmark].working_set_bytes(progress.case.params),
        "torch_version": str(torch.__version__),
        "num_threads": int(torch.get_num_threads()),
        **({"last_level_cache_bytes": cache_bytes} if cache_bytes else {}),
        **prepared.conditions,
    }


def _fell_back(caught: list[warnings.WarningMessage]) -> bool:
    """torch warns so when PYTORCH_ENABLE_MPS_FALLBACK lets an operator run on the CPU."""
    return any("fall back to run on the CPU" in str(warning.message) for warning in caught)


def _refuse_what_cannot_fit(progress: _Progress) -> None:
    benchmark = BENCHMARKS[progress.case.benchmark]
    working_set = benchmark.working_set_bytes(progress.case.params)
    needed = working_set + benchmark.extra_bytes(progress.case.params)
    lacking = progress.device.lacks(str(progress.case.params.get("dtype")))
    if lacking:
        raise Skip(lacking)
    free = progress.device.free_bytes()
    if free is not None and needed > free:
        raise Skip(f"needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB is available")
    cache = progress.device.exceeded_cache_bytes() if benchmark.must_exceed_cache else None
    if cache and working_set < _CACHES_EXCEEDED * cache:
        raise Skip(f"would measure the last-level cache of {cache / 2**20:.0f} MiB, not memory")


def _refuse_what_takes_too_long(progress: _Progress, pace: Pace) -> None:
    """Time a smaller case first: a type the hardware only emulates can be a thousand times slower."""
    smaller = BENCHMARKS[progress.case.benchmark].smaller(progress.case.params)
    if smaller is None:
        return
    params, factor = smaller
    with progress.device.torch.inference_mode():
        prepared = BENCHMARKS[progress.case.benchmark].prepare(progress.device.torch, progress.device.name, params)
        _, quickest = warm_up(prepared.run, progress.device.synchronize, _TRIED_S)
    progress.run_s = quickest * factor
    if quickest * factor > pace.longest_run_s:
        raise Skip(f"one run would take about {quickest * factor:.1f} s, over the limit of {pace.longest_run_s:g} s")
