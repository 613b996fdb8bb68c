"""What is about to be measured, with the time that each case will take."""

from collections.abc import Sequence

from stackviz.agent.benchmarks.run import BenchmarkOptions, PlannedCase, RunPlan

__all__ = ["describe_plan", "duration_text"]

_MOST_LINES = 40


def describe_plan(plan: RunPlan, options: BenchmarkOptions) -> str:
    """A line for each case; of many cases for each benchmark and device."""
    cases = plan.cases
    rows = [(str(case.case), case.seconds) for case in cases] if len(cases) <= _MOST_LINES else _grouped(cases)
    width = max((len(name) for name, _ in rows), default=0)
    total_s = sum(case.seconds or 0.0 for case in cases)
    lines = [f"  {name:<{width}}  {'skipped' if seconds is None else duration_text(seconds)}" for name, seconds in rows]
    count = sum(case.seconds is not None for case in cases)
    head = f"Measuring {count} cases, {duration_text(total_s)} {_rounds_and_end(total_s, options, plan)}."
    return "\n".join([f"{head} Ctrl-C keeps what is done.", *lines])


def _rounds_and_end(total_s: float, options: BenchmarkOptions, plan: RunPlan) -> str:
    """Of the time of all cases: how many rounds it is for, and when the run ends."""
    end = f"; ends after {duration_text(options.time_s)} in any case"
    if total_s > plan.left_s:
        return f"for one round, which is too long: cases will be left out{end}"
    if plan.rounds < options.pace.rounds:
        return f"for {plan.rounds} of {options.pace.rounds} rounds, more as time allows{end}"
    return f"in all{end if total_s > plan.left_s * 0.8 else ''}"


def _grouped(plan: Sequence[PlannedCase]) -> list[tuple[str, float | None]]:
    groups: dict[str, list[float]] = {}
    for planned in plan:
        name = f"{planned.case.benchmark} on {planned.case.device}"
        groups.setdefault(name, []).extend([] if planned.seconds is None else [planned.seconds])
    return [(f"{name}, {len(seconds)} cases", sum(seconds) if seconds else None) for name, seconds in groups.items()]


def duration_text(seconds: float) -> str:
    """About how long, no more exact than an estimate is."""
    if seconds < 10:
        return f"about {max(1, round(seconds))} s"
    if seconds < 90:
        return f"about {round(seconds / 5) * 5} s"
    return f"about {round(seconds / 60)} min"
