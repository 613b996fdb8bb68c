"""What is known of each case while a plan is measured, made of the steps that the measuring process emits.

The same steps, read again from a journal, give the same results.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.instruments import joined_readings
from stackviz.agent.benchmarks.interference import interference_of
from stackviz.report.importers.reading import clean
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.measuring.in_mlx import MLX

__all__ = ["CaseRecord", "Records", "no_time_left"]

NOT_REACHED = "not reached"


def no_time_left(budget_s: float) -> str:
    """Why a case has no visit."""
    return f"no time left of {budget_s:g} s"


@dataclass
class CaseRecord:
    """One case and everything emitted about it."""

    case: Case
    card: int | None
    cards: list[int] = field(default_factory=list)  # all of them, where there are several
    visits: list[dict[str, Any]] = field(default_factory=list)
    state: str = ""  # "", then skipped or failed; a case with visits and no other word is ok
    reason: str | None = None
    reruns: int = 0  # rounds that were made a second time
    kernels: list[str] = field(default_factory=list)

    def take_visit(self, step: Mapping[str, Any]) -> None:
        """Of a round made again the samples that were disturbed less count."""
        replaced = step.get("replaces")
        if replaced is None:
            self.visits.append(dict(step))
            return
        self.reruns += 1
        if _disturbance(step) <= _disturbance(self.visits[replaced]):
            self.visits[replaced] = dict(step)

    @property
    def runs(self) -> int:
        """Runs in a block, as its first visit chose; 0 before."""
        return int(self.visits[0]["conditions"].get("runs_per_block", 0)) if self.visits else 0

    @property
    def longest_visit_s(self) -> float | None:
        return max((float(visit["duration_s"]) for visit in self.visits), default=None)


class Records:
    """All cases of a plan, in its order."""

    def __init__(self) -> None:
        self.cases: list[CaseRecord] = []

    def __iter__(self) -> Iterator[CaseRecord]:
        return iter(self.cases)

    def take(self, step: Mapping[str, Any]) -> None:
        """One step: the plan, or how a visit to a case ended. Others say nothing about a result.

        Raises KeyError, IndexError, TypeError, ValueError for what no process of ours emits.
        """
        if step["is"] == "plan":
            self.cases = [
                CaseRecord(
                    Case(**{name: value for name, value in case.items() if name not in {"card", "cards"}}),
                    case["card"],
                    case.get("cards", []),  # a journal of an earlier agent has none
                )
                for case in step["cases"]
            ]
        elif step["is"] == "samples":
            self.cases[step["case"]].take_visit(step)
        elif step["is"] == "kernels":
            self.cases[step["case"]].kernels = [str(name) for name in step["kernels"]]
        elif step["is"] in {"skipped", "failed"}:
            record = self.cases[step["case"]]
            record.state, record.reason = step["is"], str(step["reason"])

    def results(self, *, quick: bool, unreached: str = NOT_REACHED) -> list[dict[str, Any]]:
        """In the words of the wire format, one per case. `unreached`: why cases without a visit have none."""
        return [_result(record, quick=quick, unreached=unreached) for record in self.cases]


def _disturbance(visit: Mapping[str, Any]) -> float:
    """The largest share in foreign hands."""
    shares = interference_of([visit.get("interference") or {}], "cpu")
    return max((share for name, share in shares.items() if name.endswith("_ratio")), default=0.0)


def _result(record: CaseRecord, *, quick: bool, unreached: str) -> dict[str, Any]:
    visits = record.visits
    return {
        "benchmark": record.case.benchmark,
        "version": record.case.version,
        "device": record.case.device,
        "card": record.card,
        "cards": record.cards,
        "params": record.case.params,
        "state": record.state or ("ok" if visits else "skipped"),
        "reason": clean(record.reason or ("" if visits else unreached)) or None,
        "unit": BENCHMARKS[record.case.benchmark].sample_unit if record.case.benchmark in BENCHMARKS else "s",
        "samples": [sample for visit in visits for sample in visit["samples"]],
        "rounds": [number for number, visit in enumerate(visits) for _sample in visit["samples"]],
        "energy_j": _beside_samples(visits, "energy_j"),
        "enqueue_s": _beside_samples(visits, "enqueue_s"),
        "framework": MLX if record.case.device == MLX else "torch",
        "interference": _interference(record),
        "started_at": visits[0]["started_at"] if visits else None,
        "duration_s": round(sum(visit["duration_s"] for visit in visits), 4) if visits else None,
        "conditions": _joined_conditions(visits, quick=quick) | _kernels(record),
    }


def _beside_samples(visits: list[dict[str, Any]], name: str) -> list[float]:
    """A second measure of each sample; [] where a visit lacks it."""
    figures = [visit.get(name) or [] for visit in visits]
    is_whole = all(len(each) == len(visit["samples"]) for each, visit in zip(figures, visits, strict=True))
    return [figure for each in figures for figure in each] if is_whole else []


def _interference(record: CaseRecord) -> dict[str, Any] | None:
    noticed = [visit.get("interference") or {} for visit in record.visits]
    return interference_of(noticed, record.case.device, record.reruns) or None


def _kernels(record: CaseRecord) -> dict[str, Any]:
    return {"kernels": "; ".join(record.kernels)} if record.kernels else {}


def _over_all_visits(conditions: list[dict[str, Any]]) -> dict[str, Any]:
    """What was sampled while blocks were timed, joined; what counters counted, summed."""
    sampled = [{name: value for name, value in each.items() if name.startswith("during.")} for each in conditions]
    counters = {name for each in conditions for name in each if name.startswith("throttled.") or name == "energy_j"}
    sums = {name: round(sum(each.get(name, 0.0) for each in conditions), 6) for name in sorted(counters)}
    return joined_readings(sampled) | sums


def _joined_conditions(visits: list[dict[str, Any]], *, quick: bool) -> dict[str, Any]:
    """Before the first visit, after the last, and everything that held the clock back in any of them."""
    if not visits:
        return {}
    first, last = visits[0]["conditions"], visits[-1]["conditions"]
    joined = {name: value for name, value in first.items() if not name.startswith("after.")}
    joined |= {name: value for name, value in last.items() if not name.startswith("before.")}
    joined |= _over_all_visits([visit["conditions"] for visit in visits])
    if "relative_error" in last:
        joined["relative_error"] = max(visit["conditions"].get("relative_error", 0.0) for visit in visits)
    reasons = [
        visit["conditions"].get(f"{moment}.throttle_reasons") for visit in visits for moment in ("during", "after")
    ]
    words = {each for reason in reasons if reason for each in str(reason).split()} - {"none"}
    if any(reason is not None for reason in reasons):
        joined["throttle_reasons"] = " ".join(sorted(words)) or "none"
    joined["fallback"] = any(visit["conditions"].get("fallback") for visit in visits)
    joined["rounds"] = len(visits)
    joined["blocks"] = sum(len(visit["samples"]) for visit in visits)
    joined["quick"] = quick
    return joined
