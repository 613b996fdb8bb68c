"""Charts of a comparison of hosts: one test on every public host that has it, those compared in their vendor's colour.

Decode over memory bandwidth, a prompt over the matrix rate, tokens over watts. Two queries each at most.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, QuerySet, When
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, from_si, quantity_label, unit_label
from stackviz.draw.charts.plane import Plane, PlaneContent, PlanePoint, place_plane
from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.colours import hue_of
from stackviz.pages.compare.explained import Work
from stackviz.pages.compare.host_rows import HostResults
from stackviz.pages.compare.host_runs import shown_results, test_key
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.best import phase_of
from stackviz.records.cited.host_bounds import host_bound, peaks_of_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.hosts.models import Host

FEWEST_POINTS = 4
MOST_READ = 300  # results of a test: more points hide one another
CITED_SHAPE = 0
WATTS = "system-power"
_TITLES = {
    "decode": gettext_lazy("Decode over memory bandwidth"),
    "prefill": gettext_lazy("Prompt over matrix rate"),
}


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
            yield point, placed.x, placed.y, placed.point.hue.css + pale

    @property
    def shape(self) -> str:
        return SHAPES[CITED_SHAPE]


def host_charts(results: HostResults | None, compared: Sequence[Host]) -> tuple[HostChart, ...]:
    """Of each kind of work the test of the compared that most hosts have; none with too few points."""
    if results is None:
        return ()
    compared_hosts = frozenset(host.pk for host in compared)
    charts = [_rate_chart(keys, work, compared_hosts) for work in _TITLES if (keys := _keys_of_work(results, work))]
    models = [str(row.results_of_all[0].params.get("model", "")) for row in results.rows if row.key[0] == WATTS]
    charts += [_watts_chart(models, compared_hosts)] if models else []
    return tuple(chart for chart in charts if chart is not None)


def _keys_of_work(results: HostResults, work: str) -> list[Work]:
    return [row.key for row in results.rows if row.work == work]


def _rate_chart(keys: Sequence[Work], work: str, compared: frozenset[int]) -> HostChart | None:
    """The best of each host at the test over the published figure that bounds it, where that is of one field."""
    by_host = {row.host_id: row for row in _results_of_test(_widest_test(keys), compared)}
    published = peaks_of_results(by_host.values())
    bounds = {pk: bound for pk, result in by_host.items() if (bound := host_bound(result, published))}
    fields = Counter(bound.field for bound in bounds.values())
    if not fields:
        return None
    field = FIELDS[fields.most_common(1)[0][0]]
    points = [
        HostPoint(
            host=host,
            x=from_si(bound.peak * result.count, field.unit),
            y=result.amount,
            note=_label(result.amount, result.si),
            is_compared=pk in compared,
        )
        for pk, result in by_host.items()
        if (host := result.host) and (bound := bounds.get(pk)) and bound.field == field.name
    ]
    setting = next(iter(by_host.values())).params
    named = " · ".join(str(setting[name]) for name in ("test", "model", "quant", "precision") if name in setting)
    return _chart(f"{_TITLES[work]}: {named}", f"{field.words[0]}, {field.unit}", unit_label("token/s"), points)


def _widest_test(keys: Sequence[Work]) -> Work:
    """Of these tests the one that most hosts have, whatever their engine. One query."""
    rows = shown_results().filter(params_key__in={key[1] for key in keys}).order_by()
    counted = rows.values_list("benchmark", "params_key").annotate(hosts=Count("host", distinct=True))
    hosts = {(benchmark, params_key): count for benchmark, params_key, count in counted}
    return max(keys, key=lambda key: hosts.get((key[0], key[1]), 0))


def _results_of_test(test: Work, compared: frozenset[int]) -> list[CitedResult]:
    """Results of a test, those of a host from the slowest on. One query."""
    rows = shown_results().filter(benchmark=test[0], params_key=test[1]).select_related("host__vendor")
    return sorted((row for row in _newest(rows, compared) if test_key(row) == test), key=lambda row: row.amount)


def _newest(rows: QuerySet[CitedResult], compared: frozenset[int]) -> QuerySet[CitedResult]:
    """MOST_READ of these: those of the compared hosts first, then of the newest."""
    is_compared = Case(When(host__in=compared, then=0), default=1)
    return rows.order_by(is_compared, "-host__seen_on", "host", "-pk")[:MOST_READ]


def _watts_chart(models: Sequence[str], compared: frozenset[int]) -> HostChart | None:
    """Tokens per second over the watts of the whole system, while it runs the model that most hosts ran."""
    by_model: dict[str, dict[int, float]] = defaultdict(dict)
    for row in _newest(shown_results().filter(benchmark=WATTS), compared):
        by_model[str(row.params.get("model", ""))][row.host_id or 0] = row.amount
    model = max(models, key=lambda name: len(by_model[name]))
    watts = by_model[model]
    rows = shown_results().filter(host__in=watts, params__model=model).select_related("host__vendor")
    decoding = [row for row in rows.order_by("amount") if phase_of(row.benchmark, row.params) == "decode"]
    best = {row.host: row for row in decoding if row.host is not None}
    points = [
        HostPoint(
            host=host,
            x=watts[host.pk],
            y=result.amount,
            note=", ".join([_label(result.amount, result.si), _label(watts[host.pk], "W")]),
            is_compared=host.pk in compared,
        )
        for host, result in best.items()
    ]
    return _chart(f"{_('Decode over watts of the system')}: {model}", _("power, W"), unit_label("token/s"), points)


def _label(amount: float, unit: str) -> str:
    return quantity_label(amount, unit, digits=3)


def _chart(title: str, x: str, y: str, points: Sequence[HostPoint]) -> HostChart | None:
    if len(points) < FEWEST_POINTS or not any(point.is_compared for point in points):
        return None
    ordered = tuple(sorted(points, key=lambda point: point.is_compared))  # those compared on top
    labels = short_titles([point.host for point in ordered if point.is_compared])
    content = PlaneContent(
        points=tuple(
            PlanePoint(
                key=number,
                x=point.x,
                y=point.y,
                hue=hue_of(point.host.vendor.slug),
                shape=CITED_SHAPE,
                label=labels.get(point.host.pk, ""),
                note=f"{point.host.title}: {point.note} ({format_number(point.x, 4)})",
                url=point.host.get_absolute_url(),
            )
            for number, point in enumerate(ordered)
        )
    )
    return HostChart(title=title, x=x, y=y, plane=place_plane(content), points=ordered)


def short_titles(hosts: Sequence[Host]) -> dict[int, str]:
    """Return a short name by primary key: the first words of the title, or what follows where hosts share them."""
    parts = {host.pk: host.title.split(", ") for host in hosts}
    first = Counter(words[0] for words in parts.values())
    return {pk: words[0] if first[words[0]] == 1 else words[min(1, len(words) - 1)] for pk, words in parts.items()}
