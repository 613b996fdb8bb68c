"""Try a case small before any is measured: does it fit, does it end in time; and its state between visits."""

import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.agent.benchmarks.instruments import Instruments
from stackviz.agent.benchmarks.timing import Pace, warm_up
from stackviz.report.measuring import Benchmark
from stackviz.report.measuring.benchmark import MIB, Unavailable, breaks_device

__all__ = ["INPUT_BYTES_PER_S", "CaseLeft", "CaseProgress", "Skip", "failed_step", "refuse_what_cannot_fit", "tried"]


class Skip(Exception):
    """This case is not run here; the text is the reason."""


@dataclass(kw_only=True)
class CaseLeft:
    """A case to measure, with what other processes did of it: visits, the longest of them, and the runs that they put
    into a block."""

    case: Case
    visits: int = 0
    runs: int = 0
    longest_visit_s: float | None = None
    is_over: bool = False


@dataclass(kw_only=True)
class CaseProgress:
    """`disturbed`: rounds of this process in which something else was at work."""

    case: Case
    benchmark: Benchmark
    device: AnyDevice
    instruments: Instruments
    visits: int
    run_s: float | None = None  # of one run, as a smaller one has it
    runs: int
    is_over: bool
    longest_visit_s: float | None = None
    inputs_s: float = 0.0  # about how long making them takes
    warm_up_runs: int = 0
    disturbed: list[int] = field(default_factory=list)

    def pace(self, pace: Pace) -> Pace:
        """That of the suite, but of a case that lasts: one visit, a second a block."""
        lasts_s = self.benchmark.lasts_s(self.case.params)
        if not lasts_s:
            return pace
        return replace(
            pace, rounds=1, blocks_per_round=round(lasts_s), block_s=1.0, warm_up_s=0.0, longest_timed_s=lasts_s
        )

    def visit_s(self, pace: Pace) -> float:
        """About how long another visit takes: what the longest took, or what the trial promises."""
        if self.longest_visit_s is not None:
            return self.longest_visit_s
        return self.inputs_s + self.pace(pace).visit_s(self.run_s or 0.0)

    @property
    def working_set_bytes(self) -> int:
        return self.benchmark.working_set_bytes(self.case.params)


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
