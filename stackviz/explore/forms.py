"""What the forms of the ladder and the scatter offer: options with the chosen one marked, names in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.catalog.derived import DERIVATIONS
from stackviz.catalog.fields import grouped
from stackviz.explore.axes import measure_derived, numeric_fields
from stackviz.explore.ladder import Ranking
from stackviz.explore.selection import Filters, Known, LadderChoice


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
        options = [
            Option(one.parameter, f"{one.words or _('as sold')} ({one.count})", one.value == axis.condition)
            for one in axis.choices
        ]
        controls.append(control("condition", _("Condition"), options))
    usual = _("automatic: logarithmic") if ranking.is_log else _("automatic: linear")
    return (*controls, scale_control("scale", _("Scale"), choice.scale, usual), *filter_controls(choice, known))


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
