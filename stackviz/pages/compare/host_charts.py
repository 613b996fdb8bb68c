"""Charts of a comparison of hosts: one test on every public host that has it, those compared in their vendor's colour.

Decode over memory bandwidth, a prompt over the matrix rate, tokens over watts. No queries beyond those of `host_runs`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from stackviz.base.units import format_number, from_si, quantity_label
from stackviz.draw.charts.plane import Plane, PlaneContent, PlanePoint, place_plane
from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.pages.compare.explained import Work
from stackviz.pages.compare.host_rows import HostResults
from stackviz.pages.compare.host_runs import HostRuns, host_runs, test_key
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.best import phase_of
from stackviz.records.cited.host_bounds import host_bound
from stackviz.records.cited.models import CitedResult
from stackviz.records.hosts.models import Host

FEWEST_POINTS = 4
CITED_SHAPE = 0
WATTS = "system-power"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPoint:
    """A host in a chart, in the units of the axes. `is_compared`: whether it is one of the subjects."""

    host: Host
    x: float
    y: float
    note: str
    is_compared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChart:
    """One test on all hosts that have it. `points`: in the order of `plane.points`."""

    title: str
    x: str
    y: str
    plane: Plane
    points: tuple[HostPoint, ...]

    @property
    def marks(self) -> Iterator[tuple[HostPoint, float, float, str]]:
        """(host, x and y in per cent, class)"""
        for point, placed in zip(self.points, self.plane.points, strict=True):
            pale = "" if point.is_compared else " pale"
            yield point, placed.x, placed.y, css(placed.point.slot) + pale

    @property
    def shape(self) -> str:
        return SHAPES[CITED_SHAPE]


def host_charts(results: HostResults | None, compared: Sequence[Host]) -> tuple[HostChart, ...]:
    """Of each kind of work the test of the compared that most hosts have; none with too few points."""
    if results is None:
        return ()
    runs, names = host_runs(), frozenset(host.pk for host in compared)
    counts = Counter(key for of_host in runs.by_host.values() for key in {test_key(result) for result in of_host})
    charts = []
    for work in ("decode", "prefill"):
        keys = [row.key for row in results.rows if row.work == work]
        if keys:
            charts.append(_rate_chart(max(keys, key=lambda key: counts[key]), work, runs, names))
    models = [str(row.results_of_all[0].params.get("model", "")) for row in results.rows if row.key[0] == WATTS]
    if models:
        count = partial(_count_of_model, runs)
        charts.append(_watts_chart(max(models, key=count), runs, names))
    return tuple(chart for chart in charts if chart is not None)


def _rate_chart(key: Work, work: str, runs: HostRuns, compared: frozenset[int]) -> HostChart | None:
    """The best of each host at this test over the published figure that bounds it, where that is of one field."""
    best = {pk: result for pk, of_host in runs.by_host.items() if (result := _best_at(key, of_host))}
    bounds = {pk: bound for pk, result in best.items() if (bound := host_bound(result, runs.published))}
    fields = Counter(bound.field for bound in bounds.values())
    if not fields:
        return None
    field = FIELDS[fields.most_common(1)[0][0]]
    points = [
        HostPoint(
            host=runs.hosts[pk],
            x=from_si(bound.peak * best[pk].count, field.unit),
            y=best[pk].amount,
            note=quantity_label(best[pk].amount, best[pk].si, digits=3),
            is_compared=pk in compared,
        )
        for pk, bound in bounds.items()
        if bound.field == field.name
    ]
    titles = {"decode": _("Decode over memory bandwidth"), "prefill": _("Prompt over matrix rate")}
    setting = next(iter(best.values())).params
    named = " · ".join(str(setting[name]) for name in ("test", "model", "quant", "precision") if name in setting)
    axis = f"{field.words[0]}, {field.unit}"
    return _chart(f"{titles[work]}: {named}", axis, "token/s", points)


def _watts_chart(model: str, runs: HostRuns, compared: frozenset[int]) -> HostChart | None:
    """Tokens per second over the watts of the whole system, while it runs this model."""
    points = []
    for pk, of_host in runs.by_host.items():
        of_model = [result for result in of_host if result.params.get("model") == model]
        watts = next((result.amount for result in of_model if result.benchmark == WATTS), None)
        rates = [result for result in of_model if phase_of(result.benchmark, result.params) == "decode"]
        if watts is not None and rates:
            best = max(rates, key=lambda result: result.amount)
            note = f"{quantity_label(best.amount, best.si, digits=3)}, {quantity_label(watts, 'W', digits=3)}"
            points.append(HostPoint(host=runs.hosts[pk], x=watts, y=best.amount, note=note, is_compared=pk in compared))
    return _chart(f"{_('Decode over watts of the system')}: {model}", _("power, W"), "token/s", points)


def _count_of_model(runs: HostRuns, model: str) -> int:
    return sum(result.benchmark == WATTS and result.params.get("model") == model for result in runs.results)


def _best_at(key: Work, results: Sequence[CitedResult]) -> CitedResult | None:
    return max((row for row in results if test_key(row) == key), key=lambda row: row.amount, default=None)


def _chart(title: str, x: str, y: str, points: Sequence[HostPoint]) -> HostChart | None:
    if len(points) < FEWEST_POINTS or not any(point.is_compared for point in points):
        return None
    ordered = tuple(sorted(points, key=lambda point: point.is_compared))  # those compared on top
    labels = _labels([point.host for point in ordered if point.is_compared])
    content = PlaneContent(
        points=tuple(
            PlanePoint(
                key=number,
                x=point.x,
                y=point.y,
                slot=vendor_slot(point.host.vendor.slug),
                shape=CITED_SHAPE,
                label=labels.get(point.host.pk, ""),
                note=f"{point.host.title}: {point.note} ({format_number(point.x, 4)})",
                url=point.host.get_absolute_url(),
            )
            for number, point in enumerate(ordered)
        )
    )
    return HostChart(title=title, x=x, y=y, plane=place_plane(content), points=ordered)


def _labels(hosts: Sequence[Host]) -> dict[int, str]:
    """The first words of each title; of hosts that share them the words that follow."""
    parts = {host.pk: host.title.split(", ") for host in hosts}
    first = Counter(words[0] for words in parts.values())
    return {pk: words[0] if first[words[0]] == 1 else words[min(1, len(words) - 1)] for pk, words in parts.items()}
