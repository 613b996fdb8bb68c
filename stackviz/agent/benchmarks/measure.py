"""Measure a plan of cases, round by round, and emit each step when it is done: emitted steps survive a crash.

Runs in the benchmark's own process. Torch is passed in.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from stackviz.agent.benchmarks.case_progress import CaseLeft, CaseProgress, Skip
from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.instruments import Instruments, instruments_of
from stackviz.agent.benchmarks.interference import is_visit_disturbed
from stackviz.agent.benchmarks.timing import Pace
from stackviz.agent.benchmarks.trial import INPUT_BYTES_PER_S, failed_step, tried
from stackviz.agent.benchmarks.visit import prove, visit
from stackviz.measuring import BENCHMARKS
from stackviz.measuring.benchmark import Unavailable

__all__ = ["CaseLeft", "Skip", "measure_case"]

# How long a visit may take before it counts as hung: ten times what it took before; the first one has to load and
# compile kernels, and its longest runs are two to warm up and three to be timed.
_LIMIT_S, _LIMIT_FACTOR = 30.0, 10
_LONGEST_RUNS_OF_A_VISIT = 6

Tell = Callable[[dict[str, Any]], None]
There = Sequence[tuple[int, CaseProgress]]


def measure_case(cases: Sequence[CaseLeft], devices: Mapping[str, Device], pace: Pace, tell: Tell) -> None:
    """Visit every case once a round until all rounds are done or the time is up. Tells, for case number n:

    first {"case": n, "is": "trial", "limit_s"} of cases that nobody has visited, and {"is": "estimates", "seconds"} of
    all; then {"case": n, "is": "start", "limit_s"} and one of {"is": "samples", "samples": [...], "conditions": {...},
    "started_at", "duration_s"}, {"is": "skipped", "reason"} and {"is": "failed", "reason"}. Rounds that were disturbed
    are made again: their samples have "replaces", the round. At last {"case": n, "is": "kernels", "kernels": [...]}.
    Before either stands {"is": "extra", "limit_s"}: what fails there costs no figure. After a failure that is
    `is_sticky` it returns: nothing in this process would be measured right.
    """
    with ExitStack() as stack:
        instruments = {name: instruments_of(device, stack) for name, device in devices.items()}
        progress = [_progress(left, devices, instruments) for left in cases]
        for index, (left, each) in enumerate(zip(cases, progress, strict=True)):
            if each is None and not left.is_over:
                tell({"case": index, "is": "failed", "reason": f"torch no longer lists {left.case.device}"})
        there = [(index, each) for index, each in enumerate(progress) if each is not None]
        until = time.perf_counter() + pace.budget_s  # trials are a part of it
        if not _estimate(there, len(cases), pace, tell):
            return
        if _all_rounds(there, pace, until, tell) and _measured_again(there, pace, until, tell):
            _prove(there, pace, until, tell)


def _all_rounds(there: There, pace: Pace, until: float, tell: Tell) -> bool:
    """-> whether this process can go on."""
    for number in range(pace.rounds):
        for index, each in there if number % 2 == 0 else reversed(there):
            if each.is_over or each.visits > number or number >= each.pace(pace).rounds:
                continue
            if _in_time(each, pace, until, index, tell).get("is_sticky"):
                return False
    return True


def _measured_again(there: There, pace: Pace, until: float, tell: Tell) -> bool:
    """Rounds in which something else was at work, once more, as long as there is time. Of a case whose round is
    disturbed again the others are left: the load is steady.

    -> whether this process can go on.
    """
    for index, each in there:
        for number in list(each.disturbed):
            if each.is_over or each.benchmark.lasts_s(each.case.params) or time.perf_counter() >= until:
                break
            tell({"is": "extra", "limit_s": _limit_s(each, pace)})
            outcome = _visited(each, pace, until)
            if outcome["is"] != "samples":  # the figures of the case are there already
                if outcome.get("is_sticky"):
                    return False
                continue
            tell({"case": index, **outcome, "replaces": number})
            if each.disturbed[-1] == each.visits - 1:
                break
    return True


def _prove(there: There, pace: Pace, until: float, tell: Tell) -> None:
    """Last, because a profiler that was once at work may slow what is launched after it."""
    for index, each in there:
        if each.is_over or time.perf_counter() >= until:
            continue
        tell({"is": "extra", "limit_s": _limit_s(each, pace)})
        with suppress(Exception):  # its figures are there already
            tell({"case": index, "is": "kernels", "kernels": prove(each)})
        with suppress(Exception):
            each.device.give_back()


def _estimate(there: There, count: int, pace: Pace, tell: Tell) -> bool:
    """Try each case small before all of them are measured, and tell how long they will take. -> whether to go on."""
    seconds = [0.0] * count
    input_rates: dict[str, float] = {}
    for index, progress in there:
        if progress.is_over:
            continue
        if progress.visits == 0:
            tell({"case": index, "is": "trial", "limit_s": _limit_s(progress, pace)})
            outcome = tried(progress, pace, input_rates)
            if outcome:
                tell({"case": index, **outcome})
            if outcome.get("is_sticky"):
                return False
        if not progress.is_over:
            inputs_s = progress.working_set_bytes / input_rates.get(progress.device.name, INPUT_BYTES_PER_S)
            paced = progress.pace(pace)
            visit_s = inputs_s + paced.visit_s(progress.run_s or 0.0)
            seconds[index] = round(max(0, paced.rounds - progress.visits) * visit_s, 2)
    tell({"is": "estimates", "seconds": seconds})
    return True


def _progress(
    left: CaseLeft, devices: Mapping[str, Device], instruments: Mapping[str, Instruments]
) -> CaseProgress | None:
    name = left.case.device
    if name not in devices:
        return None
    return CaseProgress(
        case=left.case,
        benchmark=BENCHMARKS[left.case.benchmark],
        device=devices[name],
        instruments=instruments[name],
        visits=left.visits,
        runs=left.runs,
        is_over=left.is_over,
    )


def _in_time(progress: CaseProgress, pace: Pace, until: float, index: int, tell: Tell) -> dict[str, Any]:
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


def _limit_s(progress: CaseProgress, pace: Pace) -> float:
    """Seconds after which this visit is taken for hung."""
    if progress.longest_visit_s is not None:
        return round(_LIMIT_S + _LIMIT_FACTOR * progress.longest_visit_s, 1)
    inputs_s = progress.working_set_bytes / INPUT_BYTES_PER_S
    lasts_s = progress.benchmark.lasts_s(progress.case.params)
    return round(_LIMIT_S + lasts_s + _LONGEST_RUNS_OF_A_VISIT * pace.longest_run_s + inputs_s, 1)


def _visited(progress: CaseProgress, pace: Pace, until: float) -> dict[str, Any]:
    try:
        step = {"is": "samples", **visit(progress, progress.pace(pace), until)}
    except (Skip, Unavailable) as skip:
        progress.is_over = True
        return {"is": "skipped", "reason": str(skip)}
    except Exception as error:  # noqa: BLE001 - any failure of a kernel, driver or allocator is this case's result
        progress.is_over = True
        return failed_step(error)
    finally:
        with suppress(Exception):  # after a sticky error even this fails
            progress.device.give_back()
    if is_visit_disturbed(step["interference"], progress.case.device):
        progress.disturbed.append(progress.visits)
    progress.visits += 1
    progress.longest_visit_s = max(progress.longest_visit_s or 0.0, step["duration_s"])
    return step
