"""Measure a plan of cases, round by round, and emit each step when it is done: emitted steps survive a crash.

Runs in the benchmark's own process. Torch is passed in.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.conditions import Readings, readings_of
from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.timing import Pace, runs_per_block, time_blocks, warm_up
from stackviz.measuring import BENCHMARKS, Prepared

__all__ = ["Skip", "measure_case"]

_CACHES_EXCEEDED = 4  # a copy's working set is at least this many times the last-level cache

_TRIED_S = 0.05  # the quickest of the runs in this time counts: the first ones load and compile

Tell = Callable[[dict[str, Any]], None]


class Skip(Exception):
    """This case is not run here; the text is the reason."""


@dataclass(kw_only=True)
class _Progress:
    """What is known of one case between its visits."""

    case: Case
    device: Device
    readings: Readings
    runs: int = 0
    is_over: bool = False
    warm_up_runs: int = 0
    last: dict[str, Any] = field(default_factory=dict)


def measure_case(cases: list[Case], devices: Mapping[str, Device], pace: Pace, tell: Tell) -> None:
    """Visit every case once a round until all rounds are done or the time is up. Tells, for case number n:

    {"case": n, "is": "start"}, then one of {"is": "samples", "samples": [...], "conditions": {...}, "started_at",
    "duration_s"}, {"is": "skipped", "reason"} and {"is": "failed", "reason"}.
    """
    until = time.perf_counter() + pace.budget_s
    with ExitStack() as stack:
        readings = {name: readings_of(device, stack) for name, device in devices.items()}
        progress = [_Progress(case=case, device=devices[case.device], readings=readings[case.device]) for case in cases]
        for number in range(pace.rounds):
            order = list(enumerate(progress))
            for index, case_progress in order if number % 2 == 0 else reversed(order):
                if case_progress.is_over:
                    continue
                if time.perf_counter() >= until:
                    case_progress.is_over = True
                    if case_progress.runs == 0:
                        tell({"case": index, "is": "skipped", "reason": f"no time left of {pace.budget_s:g} s"})
                    continue
                tell({"case": index, "is": "start", "round": number})
                tell({"case": index, **_visited(case_progress, pace, until)})


def _visited(progress: _Progress, pace: Pace, until: float) -> dict[str, Any]:
    try:
        return {"is": "samples", **_visit(progress, pace, until)}
    except Skip as skip:
        progress.is_over = True
        return {"is": "skipped", "reason": str(skip)}
    except Exception as error:  # noqa: BLE001 - any failure of a kernel, driver or allocator is this case's result
        progress.is_over = True
        return {"is": "failed", "reason": f"{type(error).__name__}: {error}"[:2000]}
    finally:
        progress.device.give_back()


def _visit(progress: _Progress, pace: Pace, until: float) -> dict[str, Any]:
    """One visit: inputs made anew, warm-up, blocks, check. -> samples and conditions."""
    benchmark = BENCHMARKS[progress.case.benchmark]
    device = progress.device
    if progress.runs == 0:
        _refuse_what_cannot_fit(progress)
        _refuse_what_takes_too_long(progress, pace)
    started_at, started = datetime.now(UTC), time.monotonic()
    with warnings.catch_warnings(record=True) as caught, device.torch.inference_mode():
        warnings.simplefilter("always")
        prepared = benchmark.prepare(device.torch, device.name, progress.case.params)
        before = progress.readings()
        warm_up_runs, quickest = warm_up(prepared.run, device.synchronize, pace.warm_up_s)
        progress.runs = progress.runs or runs_per_block(quickest, pace.block_s)
        samples = time_blocks(prepared.run, device.synchronize, pace.blocks_per_round, progress.runs, until=until)
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
    needed = benchmark.working_set_bytes(progress.case.params)
    free = progress.device.free_bytes()
    if free is not None and needed > free:
        raise Skip(f"needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB is available")
    cache = progress.device.cache_bytes()
    if benchmark.must_exceed_cache and cache and needed < _CACHES_EXCEEDED * cache:
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
    if quickest * factor > pace.longest_run_s:
        raise Skip(f"one run would take about {quickest * factor:.1f} s, over the limit of {pace.longest_run_s:g} s")
