"""One machine on two days, each a public host: what its owner changed in between, and what that came to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, quantity_label
from stackviz.pages.machines.host_results import results_of
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import is_better, times_as_fast
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address, setting_text
from stackviz.records.hosts.describe import stated_fields
from stackviz.records.hosts.models import Host, HostComponent
from stackviz.records.hosts.queries import public_hosts
from stackviz.web.i18n.words import joined

MOST_RESULTS = 12
_Setting = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    title: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOnBothDays:
    """A setting that was measured on both days. `factor`: how much faster it was on the later one."""

    setting: str
    before: str
    before_url: str
    after: str
    after_url: str
    factor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoDays:
    """The host and the same machine on another day, the earlier one first."""

    before: Host
    after: Host
    changed: tuple[ChangedField, ...]
    results: tuple[ResultOnBothDays, ...]


def other_days(host: Host, results: Sequence[CitedResult]) -> list[TwoDays]:
    """Return what changed between this host and those that are the same machine. `results`: those shown of the host.

    One query for a machine that is described once; three more and one for each other day.
    """
    same = public_hosts().filter(Q(slug=host.same_machine_as) | Q(same_machine_as=host.slug))
    return [_two_days(host, results, other) for other in same.exclude(pk=host.pk)]


def _two_days(host: Host, results: Sequence[CitedResult], other: Host) -> TwoDays:
    days = [(host, results), (other, results_of(other)[0])]
    (before, earlier), (after, later) = sorted(days, key=lambda day: (day[0].seen_on, day[0].slug))
    return TwoDays(
        before=before,
        after=after,
        changed=tuple(_changed_fields(before, after)),
        results=tuple(_results_on_both(earlier, later))[:MOST_RESULTS],
    )


def _changed_fields(before: Host, after: Host) -> Iterator[ChangedField]:
    """Fields that both state, in other words; what one of them leaves out is no change."""
    unlike = {_("Title"), _("Note")}
    stated, now = (dict(_stated(host)) for host in (before, after))
    for title, text in stated.items():
        if title in now and now[title] != text and title not in unlike:
            yield ChangedField(title=title, before=text, after=now[title])


def _stated(host: Host) -> Iterator[tuple[str, str]]:
    known = [item for item in host.components.all() if item.state != HostComponent.State.UNKNOWN]
    return stated_fields(host, host.cards.all(), known)


def _results_on_both(earlier: Iterable[CitedResult], later: Iterable[CitedResult]) -> Iterator[ResultOnBothDays]:
    """Yield the best result of each setting that both days have, what changed most first."""
    before, after = _best_of_settings(earlier), _best_of_settings(later)
    both = [(before[key], after[key]) for key in before if key in after]
    for first, second in sorted(both, key=_size_of_change, reverse=True):
        benchmark = CITED_BENCHMARKS[first.benchmark]
        yield ResultOnBothDays(
            setting=joined([benchmark.title, setting_text(benchmark, benchmark.compared_params(first.params))]),
            before=quantity_label(first.amount, first.si),
            before_url=result_address(first),
            after=quantity_label(second.amount, second.si),
            after_url=result_address(second),
            factor=format_factor(times_as_fast(benchmark, second, first)),
        )


def _size_of_change(results: tuple[CitedResult, CitedResult]) -> float:
    return max(result.amount for result in results) / min(result.amount for result in results)


def _best_of_settings(results: Iterable[CitedResult]) -> dict[_Setting, CitedResult]:
    best: dict[_Setting, CitedResult] = {}
    for row in results:
        key = (row.benchmark, row.params_key, row.count, row.si)
        if row.amount > 0 and (key not in best or is_better(CITED_BENCHMARKS[row.benchmark], row, best[key])):
            best[key] = row
    return best
