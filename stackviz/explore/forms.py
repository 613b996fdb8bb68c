"""What the forms of the ladder and the scatter offer: options with the chosen one marked, names in words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.catalog.derived import DERIVATIONS
from stackviz.catalog.fields import grouped
from stackviz.explore.axes import measure_derived, numeric_fields
from stackviz.explore.ladder import Ranking
from stackviz.explore.scatter import Drawing
from stackviz.explore.selection import (
    COLOURS,
    NO_SIZE,
    SCATTER_PRESETS,
    Filters,
    Known,
    LadderChoice,
    ScatterChoice,
    TimelineChoice,
)


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options under a heading; without one, `title` is empty."""

    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """A choice of one of several. `id` is also the parameter's name."""

    id: str
    label: str
    groups: tuple[OptionGroup, ...]


def ladder_form(choice: LadderChoice, ranking: Ranking, known: Known) -> tuple[Control, ...]:
    axis = ranking.axis
    controls = [measure_control("field", _("Rank by"), choice.field)]
    if len(axis.choices) > 1:
        # The usual one needs no parameter: another field's would not know it.
        options = [
            Option(
                one.parameter if number else "",
                f"{one.words or _('as sold')} ({one.count})",
                one.value == axis.condition,
            )
            for number, one in enumerate(axis.choices)
        ]
        controls.append(control("condition", _("Condition"), options))
    usual = _("automatic: logarithmic") if ranking.is_log else _("automatic: linear")
    return (*controls, scale_control("scale", _("Scale"), choice.scale, usual), *filter_controls(choice, known))


@dataclass(frozen=True, slots=True)
class ScatterForm:
    """`more` is folded while nothing of it is chosen."""

    first: tuple[Control, ...]
    more: tuple[Control, ...]
    is_open: bool


def scatter_form(choice: ScatterChoice, drawing: Drawing, known: Known) -> ScatterForm:
    automatic = {"log": _("automatic: logarithmic"), "linear": _("automatic: linear")}
    words = {"vendor": _("vendor"), "kind": _("kind"), "era": _("year")}
    none = Option(NO_SIZE, _("all equal"), choice.size == NO_SIZE)
    first = (
        measure_control("x", _("Across"), choice.x),
        measure_control("y", _("Up"), choice.y),
        measure_control("size", _("Size"), choice.size, none=none),
        control("colour", _("Colour"), [Option(name, words[name], name == choice.colour) for name in COLOURS]),
    )
    more = (
        scale_control("xscale", _("Scale across"), choice.xscale, automatic[drawing.x_kind]),
        scale_control("yscale", _("Scale up"), choice.yscale, automatic[drawing.y_kind]),
        *filter_controls(choice, known),
    )
    return ScatterForm(first, more, is_open=bool(choice.xscale or choice.yscale or not choice.is_all))


@dataclass(frozen=True, slots=True)
class Preset:
    """A drawing worth looking at, by name."""

    words: str
    query: str
    is_shown: bool


def presets(choice: ScatterChoice) -> tuple[Preset, ...]:
    """Questions people come with, and the axes that answer them."""
    questions = (
        _("Compute or memory bound?"),
        _("What does a rate cost in power?"),
        _("What does it cost in dollars?"),
        _("Which model fits, how fast is it read?"),
        _("Transistors into rate"),
    )
    found = []
    for words, (x, y, size) in zip(questions, SCATTER_PRESETS, strict=True):
        of_question = replace(choice, x=x, y=y, size=size, xscale="", yscale="")
        is_shown = (choice.x, choice.y, choice.size) == (x, y, size)
        found.append(Preset(words, of_question.query_string, is_shown))
    return tuple(found)


def timeline_form(choice: TimelineChoice, names: Mapping[str, str]) -> tuple[Control, ...]:
    """`names`: of the makers that have a lane, by slug."""
    vendors = [Option(slug, name, slug == choice.vendor) for slug, name in names.items()]
    return (control("vendor", _("Vendor"), [Option("", _("all")), *vendors]),)


def control(name: str, label: str, options: Iterable[Option]) -> Control:
    return Control(name, label, (OptionGroup("", tuple(options)),))


def measure_control(name: str, label: str, chosen: str, *, none: Option | None = None) -> Control:
    """All measures under the headings of the sheet, then what follows from them."""
    groups = [
        OptionGroup(
            str(group.title), tuple(Option(field.name, field.words[0], field.name == chosen) for field in fields)
        )
        for group, fields in grouped(field.name for field in numeric_fields())
    ]
    derived = [measure_derived(derivation) for derivation in DERIVATIONS.values()]
    options = tuple(Option(one.name, one.title, one.name == chosen) for one in derived)
    first = (OptionGroup("", (none,)),) if none else ()
    return Control(name, label, (*first, *groups, OptionGroup(_("Derived"), options)))


def scale_control(name: str, label: str, chosen: str, usual: str) -> Control:
    words = (("", usual if not chosen else _("automatic")), ("log", _("logarithmic")), ("linear", _("linear")))
    return control(name, label, [Option(value, text, value == chosen) for value, text in words])


def filter_controls(filters: Filters, known: Known) -> tuple[Control, ...]:
    vendors = [Option(slug, name, slug == filters.vendor) for slug, name in known.vendors.items()]
    kinds = [Option(value, str(label), value == filters.kind) for value, label in known.kinds.items()]
    years = [Option(str(year), str(year), str(year) == filters.year) for year in known.years]
    everything = Option("", _("all"))
    return (
        control("vendor", _("Vendor"), [everything, *vendors]),
        control("kind", _("Kind"), [everything, *kinds]),
        control("year", _("Year"), [everything, *years]),
    )
