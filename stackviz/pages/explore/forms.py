"""The forms of the ladder, the scatter and the timeline: controls with their options, the chosen one marked."""

from collections.abc import Iterable, Mapping
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
    COLOURS,
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
from stackviz.records.cited.filled_cases import filled_cases


@dataclass(frozen=True, slots=True)
class ControlOption:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options under a heading; without one, `title` is empty."""

    title: str
    options: tuple[ControlOption, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """A drop-down list. `id` is also the name of the parameter."""

    id: str
    label: str
    groups: tuple[OptionGroup, ...]


def ladder_form(choice: LadderChoice, ranking: Ranking, known: ExploreOptions) -> tuple[Control, ...]:
    axis = ranking.axis
    controls = [measure_control("field", _("Rank by"), choice.field, known)]
    if len(axis.choices) > 1:
        # The usual condition has no parameter, because other fields may not have it.
        options = [
            ControlOption(
                condition.parameter if number else "",
                f"{condition.words or _('as sold')} ({condition.count})",
                condition.value == axis.condition,
            )
            for number, condition in enumerate(axis.choices)
        ]
        controls.append(control("condition", _("Condition"), options))
    usual = _("automatic: logarithmic") if ranking.is_log else _("automatic: linear")
    return (*controls, scale_control("scale", _("Scale"), choice.scale, usual), *filter_controls(choice, known))


def scatter_form(
    choice: ScatterChoice, drawing: ScatterPlot, known: ExploreOptions
) -> tuple[tuple[Control, ...], tuple[Control, ...]]:
    """Return the controls, and those that are collapsed until something in them is chosen."""
    automatic = {"log": _("automatic: logarithmic"), "linear": _("automatic: linear"), "year": _("years")}
    words = {"vendor": _("vendor"), "kind": _("kind"), "era": _("year")}
    none = ControlOption(NO_SIZE, _("same size"), choice.size == NO_SIZE)
    first = (
        measure_control("x", _("Horizontal axis"), choice.x, known, is_axis=True),
        measure_control("y", _("Vertical axis"), choice.y, known, is_axis=True),
        measure_control("size", _("Size"), choice.size, known, none=none),
        control("colour", _("Colour"), [ControlOption(name, words[name], name == choice.colour) for name in COLOURS]),
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


def heatmap_form(choice: HeatmapChoice, known: ExploreOptions) -> tuple[Control, ...]:
    settings = [
        ControlOption("", _("the most common of each")),
        ControlOption(ALL_SETTINGS, _("all common ones"), choice.settings == ALL_SETTINGS),
    ]
    return (control("settings", _("Settings of the benchmarks"), settings), *filter_controls(choice, known))


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
    vendors = [ControlOption(slug, name, slug == choice.vendor) for slug, name in names.items()]
    titles = {**{name: str(composed.title) for name, composed in COMPOSED.items()}, **dict(per_watt_titles(measures))}
    rates = [
        ControlOption(name, titles.get(name) or FIELDS[name].words[0], name == choice.rate) for name in TIMELINE_RATES
    ]
    return (
        control("rate", _("Drawn over the years"), rates),
        control("vendor", _("Vendor"), [ControlOption("", _("all")), *vendors]),
    )


def control(name: str, label: str, options: Iterable[ControlOption]) -> Control:
    return Control(name, label, (OptionGroup("", tuple(options)),))


def measure_control(
    name: str,
    label: str,
    chosen: str,
    known: ExploreOptions,
    *,
    none: ControlOption | None = None,
    is_axis: bool = False,
) -> Control:
    """Measures of several fields, fields under the headings of the spec sheet, derived quantities, cited benchmarks.

    `none`: an option for no measure; `is_axis`: of a plot, which has years as well.
    """
    groups = [
        OptionGroup(
            str(group.title), tuple(ControlOption(field.name, field.words[0], field.name == chosen) for field in fields)
        )
        for group, fields in grouped(field.name for field in numeric_fields())
    ]
    derived = [measure_derived(derivation) for derivation in DERIVATIONS.values()]
    options = [ControlOption(measure.name, measure.title, measure.name == chosen) for measure in derived]
    options += [ControlOption(item, title, item == chosen) for item, title in per_watt_titles(known.measures)]
    several = [ControlOption(item.name, str(item.title), item.name == chosen) for item in COMPOSED.values()]
    several += [ControlOption(RELEASED, _("Released"), chosen == RELEASED)] if is_axis else []
    first = OptionGroup("", (*([none] if none else []), *several))
    return Control(name, label, (first, *groups, OptionGroup(_("Derived"), tuple(options)), *_cited_groups(chosen)))


def per_watt_titles(known: Iterable[str]) -> list[tuple[str, str]]:
    """(name, title) of the rates per watt."""
    rates: dict[str, str] = {name: str(composed.title) for name, composed in COMPOSED.items()}
    rates |= {field.name: field.words[0] for field in numeric_fields()}
    rates |= {name: cited_title(case) for name, case in filled_cases().items()}
    names = per_watt_names(known)
    return [(name, _("%(rate)s, per watt") % {"rate": rates[name.removesuffix(ENDING)]}) for name in names]


def _cited_groups(chosen: str) -> list[OptionGroup]:
    """Cited benchmarks in their settings, a group for each."""
    by_benchmark: dict[str, list[ControlOption]] = {}
    for case in filled_cases().values():
        option = ControlOption(case.name, case.setting, case.name == chosen)
        by_benchmark.setdefault(str(case.benchmark.title), []).append(option)
    return [
        OptionGroup(_("Cited: %(benchmark)s") % {"benchmark": title}, tuple(options))
        for title, options in by_benchmark.items()
    ]


def scale_control(name: str, label: str, chosen: str, usual: str) -> Control:
    words = (("", usual if not chosen else _("automatic")), ("log", _("logarithmic")), ("linear", _("linear")))
    return control(name, label, [ControlOption(value, text, value == chosen) for value, text in words])


def filter_controls(filters: ExploreFilters, known: ExploreOptions) -> tuple[Control, ...]:
    vendors = [ControlOption(slug, name, slug == filters.vendor) for slug, name in known.vendors.items()]
    kinds = [ControlOption(value, str(label), value == filters.kind) for value, label in known.kinds.items()]
    years = [ControlOption(str(year), str(year), str(year) == filters.year) for year in known.years]
    everything = ControlOption("", _("all"))
    return (
        control("vendor", _("Vendor"), [everything, *vendors]),
        control("kind", _("Kind"), [everything, *kinds]),
        control("year", _("Year"), [everything, *years]),
    )
