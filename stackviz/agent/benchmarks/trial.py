"""Trying a case small before any is measured: whether it fits, whether it ends in time, how long its visits take."""

import time
from contextlib import suppress
from typing import Any

from stackviz.agent.benchmarks.case_progress import CaseProgress, Skip
from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.agent.benchmarks.timing import Pace, warm_up
from stackviz.report.measuring.benchmark import MIB, Unavailable, breaks_device

__all__ = ["INPUT_BYTES_PER_S", "failed_step", "refuse_what_cannot_fit", "tried"]

INPUT_BYTES_PER_S = 100e6  # slower than any device makes random numbers
_TRIED_INPUT_BYTES = 16 * MIB
_CACHES_EXCEEDED = 4  # a copy's working set is at least this many times the last-level cache
_TRIED_S = 0.05  # the quickest of the runs in this time counts: the first ones load and compile


def tried(progress: CaseProgress, pace: Pace, input_rates: dict[str, float]) -> dict[str, Any]:
    """Nothing, or how the case ended already."""
    device = progress.device
    try:
        refuse_what_cannot_fit(progress)
        if device.name not in input_rates:
            input_rates[device.name] = _input_rate(device)
        _refuse_what_takes_too_long(progress, pace)
    except (Skip, Unavailable) as skip:
        progress.is_over = True
        return {"is": "skipped", "reason": str(skip)}
    except Exception as error:  # noqa: BLE001 - as in _visited
        progress.is_over = True
        return failed_step(error)
    finally:
        with suppress(Exception):
            device.give_back()
    return {}


def _input_rate(device: AnyDevice) -> float:
    """Bytes of random numbers a second; a device that makes none is no slower than this agent expects."""
    with suppress(Exception):
        for _ in range(2):  # the first one loads kernels
            device.synchronize()
            started = time.perf_counter()
            device.make_numbers(_TRIED_INPUT_BYTES // 4)
            device.synchronize()
            rate = _TRIED_INPUT_BYTES / max(time.perf_counter() - started, 1e-9)
        return rate
    return INPUT_BYTES_PER_S


def failed_step(error: Exception) -> dict[str, Any]:
    """`is_sticky`: the context of the device is broken, and every later call of this process fails alike."""
    failed: dict[str, Any] = {"is": "failed", "reason": f"{type(error).__name__}: {error}"[:2000]}
    if breaks_device(error):
        failed["is_sticky"] = True
    return failed


def refuse_what_cannot_fit(progress: CaseProgress) -> None:
    benchmark = progress.benchmark
    working_set = benchmark.working_set_bytes(progress.case.params)
    needed = working_set + benchmark.extra_bytes(progress.case.params)
    lacking = benchmark.not_on.get(progress.device.kind) or progress.device.lacks(
        str(progress.case.params.get("dtype"))
    )
    if lacking:
        raise Skip(lacking)
    free = progress.device.free_bytes()
    if free is not None and needed > free:
        raise Skip(f"needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB is available")
    cache = progress.device.exceeded_cache_bytes() if benchmark.must_exceed_cache else None
    if cache and working_set < _CACHES_EXCEEDED * cache:
        raise Skip(f"would measure the last-level cache of {cache / 2**20:.0f} MiB, not memory")


def _refuse_what_takes_too_long(progress: CaseProgress, pace: Pace) -> None:
    """Time a smaller case first: a type the hardware only emulates can be a thousand times slower."""
    smaller = progress.benchmark.smaller(progress.case.params)
    if smaller is None:
        return
    params, factor = smaller
    with progress.device.inference_mode():
        prepared = progress.device.prepare(progress.benchmark, params)
        _, quickest = warm_up(prepared.run, prepared.wait or progress.device.synchronize, _TRIED_S)
    progress.run_s = quickest * factor
    if quickest * factor > pace.longest_run_s:
        raise Skip(f"one run would take about {quickest * factor:.1f} s, over the limit of {pace.longest_run_s:g} s")
