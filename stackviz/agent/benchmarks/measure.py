"""Measure a plan of cases, round by round, and emit each step when it is done: emitted steps survive a crash.

Runs in the benchmark's own process. Torch is passed in.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.agent.benchmarks.instruments import Instruments, instruments_of
from stackviz.agent.benchmarks.interference import is_visit_disturbed
from stackviz.agent.benchmarks.records import no_time_left
from stackviz.agent.benchmarks.timing import Pace
from stackviz.agent.benchmarks.trial import INPUT_BYTES_PER_S, CaseLeft, CaseProgress, Skip, failed_step, tried
from stackviz.agent.benchmarks.visit import prove, visit
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.measuring.benchmark import Unavailable

__all__ = ["CaseLeft", "Skip", "measure_case"]

# How long a visit may take before it counts as hung: ten times what it took before; the first one has to load and
# compile kernels, and its longest runs are two to warm up and three to be timed.
_LIMIT_S, _LIMIT_FACTOR = 30.0, 10
_LONGEST_RUNS_OF_A_VISIT = 6

Tell = Callable[[dict[str, Any]], None]
There = Sequence[tuple[int, CaseProgress]]


def measure_case(
    cases: Sequence[CaseLeft],
    devices: Mapping[str, AnyDevice],
    pace: Pace,
    tell: Tell,
    left_s: float | None = None,
) -> None:
    """Visit every case once a round until all rounds are done or the time is up. `left_s`: of the budget, None for all
    of it. No visit begins that would take longer than what is left. Tells, for case number n:

    first {"case": n, "is": "trial", "limit_s"} of cases that nobody has visited, and {"is": "estimates", "rounds",
    "seconds"}: how many rounds there is time for, and how long all take in these; then {"case": n, "is": "start",
    "limit_s"} and one of {"is": "samples", "samples": [...], "conditions": {...}, "started_at", "duration_s"}, {"is":
    "skipped", "reason"} and {"is": "failed", "reason"}. Rounds that were disturbed are made again: their samples have
    "replaces", the round. At last {"case": n, "is": "kernels", "kernels": [...]}. Before either comes {"is": "extra",
    "limit_s"}: what fails there costs no figure. After a failure that is `is_sticky` it returns: nothing in this
    process would be measured right.
    """
    with ExitStack() as stack:
        instruments = {name: instruments_of(device, stack) for name, device in devices.items()}
        progress = [_progress(left, devices, instruments) for left in cases]
        for index, (left, each) in enumerate(zip(cases, progress, strict=True)):
            if each is None and not left.is_over:
                tell({"case": index, "is": "failed", "reason": f"this process no longer finds {left.case.device}"})
        there = [(index, each) for index, each in enumerate(progress) if each is not None]
        until = time.perf_counter() + (pace.budget_s if left_s is None else left_s)  # trials are a part of it
        if not _estimate(there, len(cases), pace, until, tell):
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
            if each.is_over or each.benchmark.lasts_s(each.case.params) or not _fits(each, pace, until):
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
        if each.is_over or not _fits(each, pace, until):
            continue
        tell({"is": "extra", "limit_s": _limit_s(each, pace)})
        with suppress(Exception):  # its figures are there already
            tell({"case": index, "is": "kernels", "kernels": prove(each)})
        with suppress(Exception):
            each.device.give_back()


def _estimate(there: There, count: int, pace: Pace, until: float, tell: Tell) -> bool:
    """Try each case small before all of them are measured, and tell how long they will take, in as many rounds as there
    is time for. -> whether to go on.
    """
    input_rates: dict[str, float] = {}
    for index, progress in there:
        if progress.is_over:
            continue
        if time.perf_counter() >= until:
            break
        if progress.visits == 0:
            tell({"case": index, "is": "trial", "limit_s": _limit_s(progress, pace)})
            outcome = tried(progress, pace, input_rates)
            if outcome:
                tell({"case": index, **outcome})
            if outcome.get("is_sticky"):
                return False
        progress.inputs_s = progress.working_set_bytes / input_rates.get(progress.device.name, INPUT_BYTES_PER_S)
    rounds = _rounds_in_time(there, pace, until - time.perf_counter())
    seconds = [0.0] * count
    for index, progress in there:
        seconds[index] = round(_left_s(progress, pace, rounds), 2)
    tell({"is": "estimates", "rounds": rounds, "seconds": seconds})
    return True


def _left_s(progress: CaseProgress, pace: Pace, rounds: int) -> float:
    """About how long the visits to a case take that it still has in so many rounds."""
    if progress.is_over:
        return 0.0
    visits = min(rounds, progress.pace(pace).rounds) - progress.visits
    return max(0, visits) * progress.visit_s(pace)


def _rounds_in_time(there: There, pace: Pace, seconds: float) -> int:
    """How many rounds of the pace take no longer than that; at least one, of which cases will be left out."""
    for rounds in range(pace.rounds, 1, -1):
        if sum(_left_s(progress, pace, rounds) for _, progress in there) <= seconds:
            return rounds
    return 1


def _fits(progress: CaseProgress, pace: Pace, until: float) -> bool:
    return time.perf_counter() + progress.visit_s(pace) <= until


def _progress(
    left: CaseLeft, devices: Mapping[str, AnyDevice], instruments: Mapping[str, Instruments]
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
        longest_visit_s=left.longest_visit_s,
        is_over=left.is_over,
    )


def _in_time(progress: CaseProgress, pace: Pace, until: float, index: int, tell: Tell) -> dict[str, Any]:
    """Visit a case once and report it; report nothing if it would not end in time."""
    if not _fits(progress, pace, until):
        if progress.visits == 0:
            progress.is_over = True
            tell({"case": index, "is": "skipped", "reason": _why_left_out(progress, pace, until)})
        return {}
    tell({"case": index, "is": "start", "round": progress.visits, "limit_s": _limit_s(progress, pace)})
    outcome = _visited(progress, pace, until)
    tell({"case": index, **outcome})
    return outcome


def _why_left_out(progress: CaseProgress, pace: Pace, until: float) -> str:
    left_s = until - time.perf_counter()
    if left_s <= 0:
        return no_time_left(pace.budget_s)
    return f"left out: takes about {progress.visit_s(pace):.1f} s, and {left_s:.1f} s of {pace.budget_s:g} s are left"


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
