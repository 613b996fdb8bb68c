"""Running the benchmarks from outside: a process that measures, watched, restarted past a case that kills it.

Never imports torch.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.timing import FULL, QUICK
from stackviz.agent.children import Ended, run_child
from stackviz.importers.reading import clean
from stackviz.measuring import RUNNABLE

__all__ = ["BenchmarkOptions", "RunStep", "not_run", "run_benchmarks"]

_MOST_PROCESSES = 8  # each restart gives up the case that killed the process before
_START_AND_LAST_VISIT_S = 60.0  # importing torch, and the visit that was going on when the time was up


@dataclass(frozen=True)
class BenchmarkOptions:
    quick: bool = False
    devices: tuple[str, ...] = ()  # nothing means all
    benchmarks: tuple[str, ...] = ()
    wanted: tuple[Mapping[str, str], ...] = ()  # parameters of the cases to run; nothing means the usual plan
    budget_s: float | None = None  # of measuring; None means as long as the pace says

    @property
    def time_s(self) -> float:
        return (QUICK if self.quick else FULL).budget_s if self.budget_s is None else self.budget_s


@dataclass(frozen=True)
class RunStep:
    """Progress, for a progress bar. `left_s` is None while unknown."""

    done: int
    total: int
    case: str
    left_s: float | None


@dataclass
class _Record:
    """One case and everything emitted about it."""

    case: Case
    card: int | None
    visits: list[dict[str, Any]] = field(default_factory=list)
    state: str = ""  # "", then skipped or failed; a case with visits and no other word is ok
    reason: str | None = None

    @property
    def is_done(self) -> bool:
        return bool(self.visits or self.state)


def run_benchmarks(
    options: BenchmarkOptions,
    cards: Sequence[Mapping[str, Any]],
    watch: Callable[[RunStep], None] = lambda _step: None,
) -> list[dict[str, Any]]:
    """Results in the words of the wire format, one per case, failed and skipped ones included. Never raises."""
    records: list[_Record] = []
    until = time.monotonic() + options.time_s
    for _ in range(_MOST_PROCESSES):
        left_s = max(1.0, until - time.monotonic())
        watcher = _Watcher(options, records, left_s, watch)
        ended = run_child(
            "stackviz.agent.benchmarks.child",
            {
                "quick": options.quick,
                "devices": list(options.devices),
                "benchmarks": list(options.benchmarks),
                "wanted": [dict(chosen) for chosen in options.wanted],
                "budget_s": left_s,
                "done": [_as_given(record.case) for record in records if record.is_done],
                "cards": list(cards),
            },
            left_s + _START_AND_LAST_VISIT_S,
            watcher,
        )
        if watcher.is_settled(ended) or time.monotonic() >= until:
            break
    if not records:
        return not_run(
            "failed", f"the benchmarks did not start: {ended.detail or 'no case was requested of this device'}", options
        )
    return [_result(record, options) for record in records]


def not_run(state: str, reason: str, options: BenchmarkOptions) -> list[dict[str, Any]]:
    """One result per benchmark that says why nothing was run."""
    device = (options.devices or ("cpu",))[0]
    keys = [key for key in RUNNABLE if not options.benchmarks or key in options.benchmarks]
    records = [
        _Record(Case(key, RUNNABLE[key].version, device, RUNNABLE[key].light), None, [], state, reason) for key in keys
    ]
    return [_result(record, options) for record in records]


def _as_given(case: Case) -> dict[str, Any]:
    return {"benchmark": case.benchmark, "version": case.version, "device": case.device, "params": case.params}


class _Watcher:
    """Collects what the process emits and computes its progress."""

    def __init__(
        self, options: BenchmarkOptions, records: list[_Record], left_s: float, watch: Callable[[RunStep], None]
    ) -> None:
        self._rounds = (QUICK if options.quick else FULL).rounds
        self._records = records
        self._watch = watch
        self._planned: list[_Record] = []
        self._under_way: _Record | None = None
        self._started = time.monotonic()
        self._left_s = left_s
        self._steps = 0

    def __call__(self, step: dict[str, Any]) -> None:
        if step["is"] == "plan":
            self._take_plan(step["cases"])
            return
        record = self._planned[step["case"]]
        if step["is"] == "start":
            self._under_way = record
            self._tell_step(record)
            return
        self._under_way = None
        if step["is"] == "samples":
            record.visits.append(step)
            self._steps += 1
        else:
            record.state, record.reason = step["is"], step["reason"]
            self._steps += self._rounds - len(record.visits)

    def is_settled(self, ended: Ended) -> bool:
        """Is nothing left for another process? A case that was under way at the end failed with it."""
        died = ended.state != "ok"
        if died and self._under_way is not None:
            self._under_way.state = "failed"
            self._under_way.reason = f"the benchmark's process {ended.detail}"
        return not (died and self._planned) or all(record.is_done for record in self._planned)

    def _take_plan(self, cases: list[dict[str, Any]]) -> None:
        self._records[:] = [record for record in self._records if record.is_done]
        self._planned = [_Record(Case(**{k: v for k, v in c.items() if k != "card"}), c["card"]) for c in cases]
        self._records += self._planned

    def _tell_step(self, record: _Record) -> None:
        total = self._rounds * len(self._planned)
        spent = time.monotonic() - self._started
        left_s = spent / self._steps * (total - self._steps) if self._steps else None
        in_time_s = max(0.0, self._left_s - spent)
        self._watch(RunStep(self._steps, total, str(record.case), None if left_s is None else min(left_s, in_time_s)))


def _result(record: _Record, options: BenchmarkOptions) -> dict[str, Any]:
    visits = record.visits
    state = record.state or ("ok" if visits else "skipped")
    return {
        "benchmark": record.case.benchmark,
        "version": record.case.version,
        "device": record.case.device,
        "card": record.card,
        "params": record.case.params,
        "state": state,
        "reason": clean(record.reason or ("" if visits else "not reached")) or None,
        "unit": "s",
        "samples": [sample for visit in visits for sample in visit["samples"]],
        "started_at": visits[0]["started_at"] if visits else None,
        "duration_s": round(sum(visit["duration_s"] for visit in visits), 4) if visits else None,
        "conditions": _joined_conditions(visits, options),
    }


def _joined_conditions(visits: list[dict[str, Any]], options: BenchmarkOptions) -> dict[str, Any]:
    """Before the first visit, after the last, and everything that held the clock back in any of them."""
    if not visits:
        return {}
    first, last = visits[0]["conditions"], visits[-1]["conditions"]
    joined = {name: value for name, value in first.items() if not name.startswith("after.")}
    joined |= {name: value for name, value in last.items() if not name.startswith("before.")}
    reasons = [visit["conditions"].get("after.throttle_reasons") for visit in visits]
    words = {each for reason in reasons if reason for each in str(reason).split()} - {"none"}
    if any(reason is not None for reason in reasons):
        joined["throttle_reasons"] = " ".join(sorted(words)) or "none"
    joined["fallback"] = any(visit["conditions"].get("fallback") for visit in visits)
    joined["rounds"] = len(visits)
    joined["blocks"] = sum(len(visit["samples"]) for visit in visits)
    joined["quick"] = options.quick
    return joined
