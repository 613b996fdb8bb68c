"""Whether two results may be compared, which speaks for an accelerator, and which of several is best. No queries."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from django.utils.translation import gettext as _

from stackviz.benchmarks.measurement import Measurement, is_elsewhere

Key = TypeVar("Key", bound=Hashable)


class Comparability(StrEnum):
    """Can two results be compared?"""

    COMPARABLE = "comparable"
    WITH_REMARKS = "with-remarks"
    CANNOT_TELL = "cannot-tell"
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, slots=True)
class ComparabilityOutcome:
    """The answer, and why. `reasons`: sentences for people; empty only for a plain yes."""

    answer: Comparability
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return {
            Comparability.COMPARABLE: _("comparable"),
            Comparability.WITH_REMARKS: _("comparable, with remarks"),
            Comparability.CANNOT_TELL: _("cannot tell"),
            Comparability.NOT_COMPARABLE: _("not comparable"),
        }[self.answer]


# Settings that change what is computed, or how: a difference is named.
_TELLING_CONDITIONS = ("tf32", "matmul_precision", "reduced_precision_reduction", "fallback_allowed", "inputs")


def comparable(a: Measurement, b: Measurement) -> ComparabilityOutcome:
    """Whether these two results may be compared, and what to keep in mind when they are.

    Not if they measured different things. "Cannot tell" when one has too few samples for an interval, or ran partly
    elsewhere. Otherwise yes, with a remark for each difference in software, power limit, throttling or precision.
    """
    refusals = tuple(_refusals(a, b))
    if refusals:
        return ComparabilityOutcome(Comparability.NOT_COMPARABLE, refusals)
    remarks = (*_differences(a, b), *_of_each(a, b))
    doubts = tuple(_doubts(a, b))
    if doubts:
        return ComparabilityOutcome(Comparability.CANNOT_TELL, (*doubts, *remarks))
    return ComparabilityOutcome(Comparability.WITH_REMARKS if remarks else Comparability.COMPARABLE, remarks)


def is_refused(result: Measurement) -> bool:
    """Whether a result cannot be compared at all: it has no samples, or ran on another device than requested."""
    return not result.is_ok or is_elsewhere(result)


def _refusals(a: Measurement, b: Measurement) -> Iterator[str]:
    if a.benchmark_key != b.benchmark_key:
        yield _("different benchmarks")
    elif a.version != b.version:
        yield _("different versions of the benchmark: %(a)s and %(b)s") % {"a": a.version, "b": b.version}
    elif a.params_key != b.params_key:
        yield _("different parameters: %(a)s and %(b)s") % {"a": a.setting, "b": b.setting}
    elif a.unit != b.unit:
        yield _("different units: %(a)s and %(b)s") % {"a": a.unit, "b": b.unit}
    for result in (a, b):
        if not result.is_ok:
            yield _("no samples: %(reason)s") % {"reason": result.reason or result.state}
        elif is_elsewhere(result):
            yield _("requested %(asked)s, ran on %(used)s") % {
                "asked": result.device,
                "used": result.conditions.get("device_used"),
            }


def _doubts(a: Measurement, b: Measurement) -> Iterator[str]:
    for result in (a, b):
        if result.summary and result.summary.low is None:
            yield _("too few samples for an interval: %(count)s") % {"count": result.summary.count}
        if result.conditions.get("fallback") is True:
            yield _("an operator ran on the CPU instead: how much of the time is not known")


def _differences(a: Measurement, b: Measurement) -> Iterator[str]:
    if a.torch_version != b.torch_version:
        unknown = _("not reported")
        yield _("torch differs: %(a)s and %(b)s") % {"a": a.torch_version or unknown, "b": b.torch_version or unknown}
    for name in _TELLING_CONDITIONS:
        if name in a.conditions and name in b.conditions and a.conditions[name] != b.conditions[name]:
            yield _("%(name)s differs: %(a)s and %(b)s") % {
                "name": name,
                "a": a.conditions[name],
                "b": b.conditions[name],
            }


def _of_each(a: Measurement, b: Measurement) -> Iterator[str]:
    """What is special about either run alone, once each; what `_doubts` says already is left out."""
    doubts = {_("an operator ran on the CPU instead")}
    yield from dict.fromkeys(remark for result in (a, b) for remark in result.remarks if remark not in doubts)


# --- of many results ---


def is_of_whole_card(result: Measurement) -> bool:
    """True for a rate that the accelerator itself reached: it ran, on all of the card, and nowhere else.

    A slice of a card (MIG), a fallback to the CPU and a run on another device than requested say nothing of the
    accelerator's rate.
    """
    card = result.card
    if result.rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return False
    return not is_refused(result) and result.conditions.get("fallback") is not True


def best_by(key: Callable[[Measurement], Key], results: Iterable[Measurement]) -> dict[Key, Measurement]:
    """For each key the result with the highest rate, the first of equals; results without a rate are left out."""
    best: dict[Key, Measurement] = {}
    for result in results:
        if result.rate is None:
            continue
        current = best.get(key(result))
        if current is None or current.rate is None or result.rate.value > current.rate.value:
            best[key(result)] = result
    return best
