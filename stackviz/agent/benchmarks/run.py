"""Running the benchmarks from outside: a process that measures, watched, restarted when a case ends or hangs it.

Never imports torch.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.records import NOT_REACHED, CaseRecord, Records, no_time_left
from stackviz.agent.benchmarks.timing import PACES, Pace
from stackviz.agent.children import Ended, TimeLimit, run_child
from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.in_mlx import MLX

__all__ = [
    "BenchmarkOptions",
    "MeasuringInterrupted",
    "NoSuchDevice",
    "PlannedCase",
    "RunPlan",
    "RunStep",
    "not_run",
    "run_benchmarks",
]

_MOST_PROCESSES = 8  # each restart gives up the case that ended the process before
_START_S = 120.0  # importing torch from a cold network disk
_BETWEEN_VISITS_S = 60.0  # returning memory to the driver
_LAST_VISIT_S = 5.0  # for the visit that is going on when the time is up: it ends by itself after its block
# A visit that hangs leaves the others something of a short time: it is ended after a part of it, but not so early that
# a first one, which loads and compiles kernels, is taken for hung.
_MOST_OF_TIME, _LEAST_LIMIT_S = 0.5, 20.0

Step = dict[str, Any]


@dataclass(frozen=True)
class BenchmarkOptions:
    suite: str = "full"
    devices: tuple[str, ...] = ()  # nothing means all
    benchmarks: tuple[str, ...] = ()
    wanted: tuple[Mapping[str, str], ...] = ()  # parameters of the cases to run; nothing means the usual plan
    budget_s: float | None = None  # of measuring; None means as long as the pace says

    @property
    def pace(self) -> Pace:
        return PACES[self.suite]

    @property
    def quick(self) -> bool:
        return self.suite == "quick"

    @property
    def time_s(self) -> float:
        return self.pace.budget_s if self.budget_s is None else self.budget_s


@dataclass(frozen=True)
class RunStep:
    """Progress, for a progress bar. `left_s` is None while unknown."""

    done: int
    total: int
    case: str
    left_s: float | None


@dataclass(frozen=True)
class PlannedCase:
    """`seconds`: about how long all visits to it take that there is time for; None if it is skipped."""

    case: Case
    seconds: float | None


@dataclass(frozen=True)
class RunPlan:
    """`rounds`: for which there is time; `left_s`: of the time of the run, now that all cases were tried small."""

    cases: list[PlannedCase]
    rounds: int
    left_s: float


class MeasuringInterrupted(KeyboardInterrupt):
    """Ctrl-C while measuring. `results`: of all cases, with what was measured until then."""

    def __init__(self, results: list[dict[str, Any]]) -> None:
        super().__init__()
        self.results = results


class NoSuchDevice(Exception):
    """Torch knows no device that was named: nothing was measured."""


def run_benchmarks(
    options: BenchmarkOptions,
    cards: Sequence[Mapping[str, Any]],
    watch: Callable[[RunStep], None] = lambda _step: None,
    note: Callable[[Step], None] = lambda _step: None,
    see_plan: Callable[[RunPlan], None] = lambda _plan: None,
) -> list[dict[str, Any]]:
    """Results in the words of the wire format, one per case, failed and skipped ones included.

    `note` sees each step that `Records` takes, as soon as it is known, `see_plan` what the first process has estimated
    before it measures, and for how many rounds there is time. A little after the time of the run a process that still
    measures is ended. Raises MeasuringInterrupted and NoSuchDevice, and nothing else.
    """
    run = _Run(options, watch, note, see_plan)
    try:
        for _ in range(_MOST_PROCESSES):
            run.begin_process()
            ended = run_child("stackviz.agent.benchmarks.child", run.given(cards), run.limit, run.see)
            if run.is_settled(ended):
                break
    except KeyboardInterrupt:
        raise MeasuringInterrupted(run.records.results(quick=options.quick, unreached="interrupted")) from None
    if not run.records.cases and options.devices and not ended.detail:
        raise NoSuchDevice(_nothing_to_do(options))
    if not run.records.cases:
        why = f"the benchmarks did not start: {ended.detail}" if ended.detail else _nothing_to_do(options)
        return not_run("failed", why, options)
    return run.records.results(quick=options.quick, unreached=run.why_unreached)


def _nothing_to_do(options: BenchmarkOptions) -> str:
    if set(options.devices) == {MLX}:
        return "nothing to measure: MLX is not installed for this Python"
    where = f"no device is {' or '.join(options.devices)}" if options.devices else "no device has a case"
    return f"nothing to measure: torch says that {where}"


def not_run(state: str, reason: str, options: BenchmarkOptions) -> list[dict[str, Any]]:
    """One result per benchmark that says why nothing was run."""
    device = (options.devices or ("cpu",))[0]
    kind = device.partition(":")[0]
    keys = options.benchmarks or [key for key, known in RUNNABLE.items() if kind not in known.not_on]
    records = Records()
    records.cases = [
        CaseRecord(Case(key, RUNNABLE[key].version, device, RUNNABLE[key].light), None, state=state, reason=reason)
        for key in keys
    ]
    return records.results(quick=options.quick)


class _Run:
    """Follows what the processes emit: records, limits of time, progress."""

    def __init__(
        self,
        options: BenchmarkOptions,
        watch: Callable[[RunStep], None],
        note: Callable[[Step], None],
        see_plan: Callable[[RunPlan], None],
    ) -> None:
        self.records = Records()
        self.limit = TimeLimit.of(_START_S)
        self._options = options
        self._rounds = options.pace.rounds
        self._watch, self._note, self._see_plan = watch, note, see_plan
        self._ends_at: float | None = None  # of time.monotonic; None until a process is ready for the first time
        self._under_way: int | None = None
        self._measuring_began = time.monotonic()
        self._is_ready = self._wants_restart = False
        self._visits = 0
        self._is_planned = False

    def begin_process(self) -> None:
        self._is_ready = self._wants_restart = False
        self._move_limit(_START_S)

    def given(self, cards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the input of a process: how to plan, or what another one has left."""
        return {
            "suite": self._options.suite,
            "devices": list(self._options.devices),
            "benchmarks": list(self._options.benchmarks),
            "wanted": [dict(chosen) for chosen in self._options.wanted],
            "budget_s": self._options.time_s,
            "left_s": self._left_s,
            "cards": list(cards),
            "left": [
                {
                    "case": _as_given(each.case),
                    "visits": len(each.visits),
                    "runs": each.runs,
                    "longest_visit_s": each.longest_visit_s,
                    "is_over": bool(each.state),
                }
                for each in self.records
            ],
        }

    def see(self, step: Step) -> None:
        if step["is"] in {"plan", "ready"}:
            self._is_ready = True
            if self._ends_at is None:
                self._ends_at = time.monotonic() + self._options.time_s
            self._move_limit(_BETWEEN_VISITS_S)
        if step["is"] == "estimates":
            self._show_plan(step["seconds"], step["rounds"])
            return
        if step["is"] == "extra":  # whatever comes of it, the figures are there
            self._allow(step["limit_s"])
            return
        if step["is"] in {"trial", "start"}:
            self._under_way = step["case"]
            case = self.records.cases[step["case"]].case
            self._allow(step["limit_s"], RUNNABLE[case.benchmark].lasts_s(case.params))
        if step["is"] == "trial":
            return
        if step["is"] == "start":
            self._tell_step(self.records.cases[step["case"]])
            return
        if step["is"] not in {"plan", "ready"}:
            self._under_way = None
            self._visits += step["is"] == "samples"
            self._move_limit(_BETWEEN_VISITS_S)
            self._wants_restart = bool(step.get("is_sticky"))
        self._take(step)

    def _show_plan(self, seconds: list[float], rounds: int) -> None:
        """Of the first process: those after it go on with the same plan."""
        self._measuring_began = time.monotonic()
        self._under_way = None
        self._move_limit(_BETWEEN_VISITS_S)
        if not self._is_planned:
            self._is_planned = True
            cases = zip(self.records, seconds, strict=True)
            planned = [PlannedCase(each.case, None if each.state else left_s) for each, left_s in cases]
            self._see_plan(RunPlan(planned, rounds, self._left_s))

    @property
    def _left_s(self) -> float:
        """Of the time of the run; negative when it is up."""
        return self._options.time_s if self._ends_at is None else self._ends_at - time.monotonic()

    def _allow(self, seconds: float, lasts_s: float = 0.0) -> None:
        """For the visit under way, which by its definition lasts so long."""
        self._move_limit(min(seconds, max(lasts_s + _LEAST_LIMIT_S, _MOST_OF_TIME * self._options.time_s)))

    def _move_limit(self, seconds: float) -> None:
        """Of the process: from now on so many seconds, but hardly longer than the time of the run."""
        if self._ends_at is not None:
            seconds = min(seconds, max(0.0, self._left_s) + _LAST_VISIT_S)
        self.limit.move(seconds)

    def _take(self, step: Step) -> None:
        self.records.take(step)
        if step["is"] != "ready":
            self._note(step)

    def is_settled(self, ended: Ended) -> bool:
        """Is nothing left for another process? A case that was under way at the end of this one failed with it."""
        if ended.state != "ok" and self._under_way is not None:
            self._fail(self._under_way, ended)
        has_ended_well = ended.state == "ok" and not self._wants_restart
        is_left = any(not record.state and len(record.visits) < self._rounds for record in self.records)
        return has_ended_well or not self._is_ready or not is_left or self._left_s <= 0

    def _fail(self, case: int, ended: Ended) -> None:
        self._under_way = None
        if ended.state != "timeout":
            reason = f"the benchmark's process {ended.detail}"
        elif self._left_s <= 0:
            if not self.records.cases[case].visits:  # what it has counts
                up = f"the {self._options.time_s:g} s of the run were up before its first visit ended"
                self._take({"case": case, "is": "skipped", "reason": f"ended at the limit: {up}"})
            return
        else:
            reason = f"a visit did not end within its limit of {self.limit.within_s:.0f} s and was ended"
        self._take({"case": case, "is": "failed", "reason": reason})

    @property
    def why_unreached(self) -> str:
        """Return the reason for cases that no process has reported."""
        return no_time_left(self._options.time_s) if self._left_s <= 0 else NOT_REACHED

    def _tell_step(self, record: CaseRecord) -> None:
        total = self._rounds * len(self.records.cases)
        done = sum(self._rounds if each.state else len(each.visits) for each in self.records)
        spent_s = time.monotonic() - self._measuring_began
        left_s = spent_s / self._visits * (total - done) if self._visits else None
        in_time_s = max(0.0, self._left_s)
        self._watch(RunStep(done, total, str(record.case), None if left_s is None else min(left_s, in_time_s)))


def _as_given(case: Case) -> dict[str, Any]:
    return {"benchmark": case.benchmark, "version": case.version, "device": case.device, "params": case.params}
