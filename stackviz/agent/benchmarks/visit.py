"""Visit a case once: new inputs, warm-up, blocks, check, with the conditions while it worked.

Torch's profiler names the kernels that ran: the best proof of the device and the type it computed in.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.agent.benchmarks.instruments import Sampler, joined_readings
from stackviz.agent.benchmarks.interference import look, noticed_between
from stackviz.agent.benchmarks.timing import Pace, runs_per_block, time_blocks, warm_up
from stackviz.agent.benchmarks.trial import CaseProgress, Skip, refuse_what_cannot_fit
from stackviz.base.backports import UTC
from stackviz.report.measuring import Prepared

__all__ = ["kernels_of", "prove", "visit"]

Step = dict[str, Any]


def visit(progress: CaseProgress, pace: Pace, until: float) -> Step:
    """Return samples, what was measured with each, conditions, and other work. Raises Skip, and whatever fails."""
    device = progress.device
    if progress.visits == 0:
        refuse_what_cannot_fit(progress)  # again: what was free before may be taken
    started_at, started, seen = datetime.now(UTC), time.monotonic(), look()
    with warnings.catch_warnings(record=True) as caught, device.inference_mode():
        warnings.simplefilter("always")
        prepared = device.prepare(progress.benchmark, progress.case.params)
        warm_up_runs, quickest = warm_up(prepared.run, prepared.wait or device.synchronize, pace.warm_up_s)
        if progress.visits == 0:
            _refuse_slow_runs(quickest, pace, until)
        progress.runs = progress.runs or runs_per_block(quickest, pace.block_s)
        before = progress.instruments.read()
        with Sampler(progress.instruments) as sampler:
            measures = _figures(prepared.figure, pace) if prepared.figure else _times(progress, prepared, pace, until)
        after = progress.instruments.read()  # at once, while the device is hot
        noticed = noticed_between(seen, look(), os.getppid()) | sampler.others()
        problem = prepared.check()
    if problem:
        raise ArithmeticError(problem)
    progress.warm_up_runs += warm_up_runs
    readings = {
        **{f"before.{name}": value for name, value in before.items()},
        **{f"during.{name}": value for name, value in joined_readings(sampler.readings).items()},
        **{f"after.{name}": value for name, value in after.items()},
        **{name: value for name, value in sampler.spent().items() if name != "energy_j" or not prepared.wait},
    }
    return {
        **measures,
        "conditions": _conditions(progress, prepared, readings) | {"fallback": _fell_back(caught)},
        "interference": {} if prepared.figure else noticed,  # a busy machine computes the same
        "started_at": started_at.isoformat().replace("+00:00", "Z"),
        "duration_s": round(time.monotonic() - started, 4),
    }


def prove(progress: CaseProgress) -> list[str]:
    """The kernels of one run, with inputs made anew; [] where nobody can tell."""
    with progress.device.inference_mode():
        prepared = progress.device.prepare(progress.benchmark, progress.case.params)
        return kernels_of(progress.device, prepared)


def _refuse_slow_runs(run_s: float, pace: Pace, until: float) -> None:
    """Skip a case, without a trial or slower than that promised, if not even one run would end in time."""
    if run_s > pace.longest_run_s:
        raise Skip(f"one run takes about {run_s:.1f} s, over the limit of {pace.longest_run_s:g} s")
    left_s = max(0.0, until - time.perf_counter())
    if run_s > left_s:
        raise Skip(f"one run takes about {run_s:.1f} s, and {left_s:.1f} s of {pace.budget_s:g} s are left")


def _times(progress: CaseProgress, prepared: Prepared, pace: Pace, until: float) -> Step:
    """A processor has done its work when it is handed over: nothing is stated of that."""
    blocks = time_blocks(
        prepared.run,
        prepared.wait or progress.device.synchronize,
        pace.blocks_per_round,
        progress.runs,
        until=until,
        slow_after_s=pace.longest_timed_s,
        energy_j=_no_energy if prepared.wait else progress.instruments.energy_j,
    )
    energy = [block.energy_j for block in blocks]
    return {
        "samples": [block.seconds for block in blocks],
        "enqueue_s": [] if progress.device.kind == "cpu" else [block.enqueue_s for block in blocks],
        "energy_j": [] if None in energy else energy,
    }


def _no_energy() -> None:
    """The counter of one card says nothing of what several used."""


def _figures(figure: Callable[[], float], pace: Pace) -> Step:
    return {"samples": [figure() for _ in range(pace.blocks_per_round)], "enqueue_s": [], "energy_j": []}


def _conditions(progress: CaseProgress, prepared: Prepared, readings: Mapping[str, Any]) -> Step:
    cache_bytes = progress.device.cache_bytes()
    return {
        **readings,
        "device_used": progress.device.device_used(prepared),
        "synchronized": True,
        "timer": "time.perf_counter",
        "runs_per_block": progress.runs,
        "warmup_runs": progress.warm_up_runs,
        "working_set_bytes": progress.working_set_bytes,
        **progress.device.conditions(str(progress.case.params.get("dtype"))),
        **({"last_level_cache_bytes": cache_bytes} if cache_bytes else {}),
        **prepared.conditions,
    }


def _fell_back(caught: list[warnings.WarningMessage]) -> bool:
    """torch warns so when PYTORCH_ENABLE_MPS_FALLBACK lets an operator run on the CPU."""
    return any("fall back to run on the CPU" in str(warning.message) for warning in caught)


_MOST_NAMES = 6
_MOST_CHARS = 200


def kernels_of(device: AnyDevice, prepared: Prepared) -> list[str]:
    """Names of what one run started on the device, those that took longest first; on a processor torch's operators.

    [] where the profiler cannot tell. Not while anything is timed: it slows what it watches.
    """
    with suppress(Exception):
        return _profiled(device, prepared)
    return []


def _profiled(device: AnyDevice, prepared: Prepared) -> list[str]:
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU]
    if device.kind in {"cuda", "xpu"}:
        activities.append(getattr(ProfilerActivity, device.kind.upper()))
    with profile(activities=activities) as watched:
        prepared.run()
        (prepared.wait or device.synchronize)()
    events = watched.events() or []
    on_device = [event for event in events if _device_type(event) in {"CUDA", "XPU", "PrivateUse1"}]
    return _longest(on_device or [event for event in events if event.name.startswith("aten::")])


def _device_type(event: Any) -> str:  # noqa: ANN401 - torch has no types here
    return str(getattr(event, "device_type", "")).rpartition(".")[2]


def _longest(events: Iterable[Any]) -> list[str]:
    took: dict[str, float] = {}
    for event in events:
        name = " ".join(event.name.split())[:_MOST_CHARS]
        took[name] = took.get(name, 0.0) + float(event.time_range.elapsed_us())
    return sorted(took, key=lambda name: -took[name])[:_MOST_NAMES]
