"""The forms of the ladder, the scatter and the timeline: controls with their options, the chosen one marked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.pages.explore.axes import measure_derived, numeric_fields
from stackviz.pages.explore.cited_axes import cited_title
from stackviz.pages.explore.composed import COMPOSED, ENDING, RELEASED, per_watt_names
from stackviz.pages.explore.ladder import Ranking
from stackviz.pages.explore.scatter import ScatterPlot
from stackviz.pages.explore.selection import (
    ALL_SETTINGS,
    EVERY_POINT,
    NO_SIZE,
    SCATTER_PRESETS,
    TIMELINE_RATES,
    ExploreFilters,
    ExploreOptions,
    HeatmapChoice,
    LadderChoice,
    ScatterChoice,
    TimelineChoice,
)
from stackviz.records.catalog.derived import DERIVATIONS
from stackviz.records.catalog.fields import FIELDS, grouped
from stackviz.records.catalog.uses import Use
from stackviz.records.cited.filled_cases import filled_cases

SHOWN_YEARS = 4  # the newest, one press away

Options = list[tuple[str, str]]  # (value, words)


@dataclass(frozen=True, slots=True)
class Control:
    """A drop-down list. `id` also names the parameter; groups have a title, or ""; `chosen` None is the first."""

    id: str
    label: str
    chosen: str | None
    groups: Sequence[tuple[str, Options]]


def ladder_form(choice: LadderChoice, ranking: Ranking, known: ExploreOptions) -> tuple[Control, ...]:
    axis = ranking.axis
    controls = [measure_control("field", _("Rank by"), choice.field, known)]
    if len(axis.choices) > 1:
        # The usual condition has no parameter, because other fields may not have it.
        values = {condition.value: condition.parameter if n else "" for n, condition in enumerate(axis.choices)}
        options = [
            (values[condition.value], f"{condition.words or _('as sold')} ({condition.count})")
            for condition in axis.choices
        ]
        controls.append(control("condition", _("Condition"), values.get(axis.condition, ""), options))
    usual = _("automatic: logarithmic") if ranking.is_log else _("automatic: linear")
    return (*controls, scale_control("scale", _("Scale"), choice.scale, usual), *filter_controls(choice, known))


def ladder_chips(choice: LadderChoice) -> list[tuple[str, str, bool]]:
    """Return (words, query, whether it is shown) of each use, then of the switch for what nobody can buy or rent."""
    uses = [("", _("All")), *((use.value, str(use.label)) for use in Use)]
    chips = [(words, replace(choice, use=use).query_string, choice.use == use) for use, words in uses]
    switched = replace(choice, announced="" if choice.announced else "1").query_string
    return [*chips, (_("Announced and in-house too"), switched, bool(choice.announced))]


def scatter_form(
    choice: ScatterChoice, drawing: ScatterPlot, known: ExploreOptions
) -> tuple[tuple[Control, ...], tuple[Control, ...]]:
    """Return the controls, and those that are collapsed until something in them is chosen."""
    automatic = {"log": _("automatic: logarithmic"), "linear": _("automatic: linear"), "year": _("years")}
    released = [(RELEASED, _("Released"))]
    first = (
        measure_control("x", _("Horizontal axis"), choice.x, known, more=released),
        measure_control("y", _("Vertical axis"), choice.y, known, more=released),
        measure_control("size", _("Size"), choice.size, known, first=[(NO_SIZE, _("same size"))]),
    )
    more = (
        scale_control("xscale", _("Horizontal scale"), choice.xscale, automatic[drawing.x_kind]),
        scale_control("yscale", _("Vertical scale"), choice.yscale, automatic[drawing.y_kind]),
        *filter_controls(choice, known),
    )
    return first, more


def presets(choice: ScatterChoice, known: ExploreOptions) -> list[tuple[str, str, bool]]:
    """Return common questions, each with the query that answers it, and whether it is shown.

    Those about cited results only where there are any.
    """
    questions = (
        _("Compute-bound or memory-bound?"),
        _("How fast does it generate, and what bounds it?"),
        _("Generated tokens against watts"),
        _("Generated tokens against price"),
        _("Generated tokens against memory"),
        _("How much power does compute take?"),
        _("How much does compute cost?"),
        _("Which model fits, and how fast can it be read?"),
        _("How has compute per watt grown?"),
        _("How have generated tokens per watt grown?"),
        _("How much compute per transistor?"),
    )
    presets = []
    for words, (x, y, size) in zip(questions, SCATTER_PRESETS, strict=True):
        of_question = replace(choice, x=x, y=y, size=size, xscale="", yscale="")
        is_shown = (choice.x, choice.y, choice.size) == (x, y, size)
        if y in known.measures:
            presets.append((words, of_question.query_string, is_shown))
    return presets


def point_choices(choice: ScatterChoice, known: ExploreOptions) -> list[tuple[str, str, bool]]:
    """Return which points the picture can draw (some, by use, of a year, all), with their query; whether shown."""
    some = replace(choice, use="", year="", draw="")
    years = [str(year) for year in known.years[:SHOWN_YEARS]]
    choices = (
        (_("a selection"), some),
        *((str(use.label), replace(some, use=use.value)) for use in Use),
        *((year, replace(some, year=year)) for year in years),
        (_("all"), replace(some, draw=EVERY_POINT)),
    )
    return [(words, other.query_string, other == choice) for words, other in choices]


def heatmap_form(choice: HeatmapChoice, known: ExploreOptions) -> tuple[Control, ...]:
    settings = [("", _("the most common of each")), (ALL_SETTINGS, _("all common ones"))]
    return (
        control("settings", _("Settings of the benchmarks"), choice.settings or None, settings),
        *filter_controls(choice, known),
    )


def efficiency_views(choice: TimelineChoice, known: ExploreOptions) -> list[tuple[str, str]]:
    """(words, address) of the rates per watt over the years, of the vendor that is chosen."""
    address = reverse("explore:scatter")
    views = []
    for name, title in per_watt_titles(known.measures):
        query = ScatterChoice(x=RELEASED, y=name, size=NO_SIZE, vendor=choice.vendor).query_string
        views.append((title, f"{address}?{query}"))
    return views


def timeline_form(choice: TimelineChoice, names: Mapping[str, str], measures: Iterable[str]) -> tuple[Control, ...]:
    """`names`: slug -> name of the vendors that have a lane; `measures`: those that are known."""
    titles = {**{name: str(composed.title) for name, composed in COMPOSED.items()}, **dict(per_watt_titles(measures))}
    rates = [(name, titles.get(name) or FIELDS[name].words[0]) for name in TIMELINE_RATES]
    return (
        control("rate", _("Drawn over the years"), choice.rate, rates),
        control("vendor", _("Vendor"), choice.vendor or None, [("", _("all")), *names.items()]),
    )


def control(name: str, label: str, chosen: str | None, options: Options) -> Control:
    return Control(name, label, chosen, [("", options)])


def measure_control(
    name: str,
    label: str,
    chosen: str,
    known: ExploreOptions,
    *,
    first: Options | None = None,
    more: Options | None = None,
) -> Control:
    """Measures of several fields, fields under the headings of the spec sheet, derived quantities, cited benchmarks.

    `first`, `more`: options before and after the measures of several fields.
    """
    several = [(item.name, str(item.title)) for item in COMPOSED.values()]
    fields = [
        (str(group.title), [(field.name, field.words[0]) for field in of_group])
        for group, of_group in grouped(field.name for field in numeric_fields())
    ]
    derived = [(measure.name, measure.title) for measure in map(measure_derived, DERIVATIONS.values())]
    derived += per_watt_titles(known.measures)
    cited: dict[str, Options] = {}
    for case in filled_cases().values():
        title = _("Cited: %(benchmark)s") % {"benchmark": case.benchmark.title}
        cited.setdefault(title, []).append((case.name, case.setting))
    groups = [("", [*(first or ()), *several, *(more or ())]), *fields, (_("Derived"), derived), *cited.items()]
    return Control(name, label, chosen, groups)


def per_watt_titles(known: Iterable[str]) -> Options:
    """(name, title) of the rates per watt."""
    rates: dict[str, str] = {name: str(composed.title) for name, composed in COMPOSED.items()}
    rates |= {field.name: field.words[0] for field in numeric_fields()}
    rates |= {name: cited_title(case) for name, case in filled_cases().items()}
    names = per_watt_names(known)
    return [(name, _("%(rate)s, per watt") % {"rate": rates[name.removesuffix(ENDING)]}) for name in names]


def scale_control(name: str, label: str, chosen: str, usual: str) -> Control:
    usual = usual if not chosen else _("automatic")
    return control(name, label, chosen, [("", usual), ("log", _("logarithmic")), ("linear", _("linear"))])


def filter_controls(filters: ExploreFilters, known: ExploreOptions) -> tuple[Control, ...]:
    everything = ("", _("all"))
    kinds = [(value, str(label)) for value, label in known.kinds.items()]
    years = [(str(year), str(year)) for year in known.years]
    return (
        control("vendor", _("Vendor"), filters.vendor or None, [everything, *known.vendors.items()]),
        control("kind", _("Kind"), filters.kind or None, [everything, *kinds]),
        control("year", _("Year"), filters.year or None, [everything, *years]),
    )
