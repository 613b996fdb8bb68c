"""The list of accelerators as people see it: heads, rows, sentences around them. One query for any number of rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.accelerators.list_query import COLUMNS, FORMS, Asked, Known
from stackviz.accelerators.list_search import Counted
from stackviz.catalog.fields import DENSE, FIELDS, Field
from stackviz.catalog.figures import printed_unit
from stackviz.catalog.match import CardName, match_cards
from stackviz.catalog.models import Accelerator, SpecValue
from stackviz.catalog.queries import Headline, headline, preferred_values
from stackviz.units import format_number

_SHOWN = ("accelerator_id", "field", "value", "unit", "amount", "condition", "basis")  # of a value, in a cell


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column. `condition` holds for all its figures unless a cell says otherwise.

    `sort_address` sorts by it, the other way round where it is sorted by already; `order` is what aria-sort says.
    """

    field: str
    title: str
    unit: str
    condition: str
    meaning: str
    is_number: bool
    sort_address: str
    order: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure in a row; `remark` is said where it holds under another condition than the column's head says.

    Without a `text`, `missing` says why there is none.
    """

    text: str
    exact: str
    remark: str
    missing: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class ListRow:
    accelerator: Accelerator
    kind: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """One filter that is on, in words, and the address of the list without it."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Reported:
    """What a search for exactly a reported name says: whose it is, or between which sheets `needs` decides."""

    name: str
    accelerators: tuple[Accelerator, ...]
    needs: str


def kind_words() -> dict[str, str]:
    return {value: str(label) for value, label in Accelerator.Kind.choices}


def columns(asked: Asked) -> tuple[Column, ...]:
    """The heads of the columns asked for."""
    return tuple(_column(FIELDS[name], asked) for name in asked.columns)


def _column(field: Field, asked: Asked) -> Column:
    is_dense = field.usual[-1] == DENSE
    return Column(
        field=field.name,
        title=field.words[0],
        unit=printed_unit(field.unit),
        condition=_("dense") if is_dense else "",
        meaning=field.words[1],
        is_number=not field.is_text,
        sort_address=asked.address(sort=next_sort(field.name, asked)),
        order=_order(field.name, asked),
    )


def next_sort(key: str, asked: Asked) -> str:
    """What a click on a head sorts by: first the better or newer side first, then the other way round."""
    if asked.sort_key == key:
        return key if asked.is_descending else f"-{key}"
    field = FIELDS.get(key)
    if field is None or (field.is_text and key != "release_date") or field.higher_is_better is False:
        return key
    return f"-{key}"


def _order(key: str, asked: Asked) -> str:
    if asked.sort_key != key:
        return ""
    return "descending" if asked.is_descending else "ascending"


def name_column(asked: Asked) -> Column:
    """The head of the names: the usual order, but for a search, which has the nearest first."""
    order = _order("name", asked) or ("" if asked.sort or asked.q else "ascending")
    sort = "-name" if order == "ascending" else "name" if asked.q else ""
    return Column("name", _("Name"), "", "", "", is_number=False, sort_address=asked.address(sort=sort), order=order)


def kind_column(asked: Asked) -> Column:
    """The head of the kinds."""
    address = asked.address(sort=next_sort("kind", asked))
    order = _order("kind", asked)
    return Column("kind", _("Kind"), "", "", "", is_number=False, sort_address=address, order=order)


def list_rows(accelerators: Sequence[Accelerator], names: Sequence[str] = COLUMNS) -> list[ListRow]:
    """The rows for these accelerators, a cell for each of these fields. One query."""
    values = values_by_cell(accelerators, names)
    kinds = kind_words()
    return [
        ListRow(
            item,
            kinds[item.kind],
            tuple(_cell(item, FIELDS[name], values.get((item.pk, name), ())) for name in names),
        )
        for item in accelerators
    ]


def values_by_cell(
    accelerators: Sequence[Accelerator], names: Sequence[str], *, with_sources: bool = False
) -> Mapping[tuple[int, str], list[SpecValue]]:
    """(accelerator id, field) -> its preferred values. One query."""
    values: dict[tuple[int, str], list[SpecValue]] = defaultdict(list)
    rows = preferred_values(item.pk for item in accelerators).filter(field__in=names)
    for value in rows if with_sources else rows.select_related(None).only(*_SHOWN):
        values[value.accelerator_id, value.field].append(value)
    return values


def _cell(accelerator: Accelerator, field: Field, values: Sequence[SpecValue]) -> Cell:
    found = headline(field, values)
    if not found.is_published:
        return Cell("", "", "", missing_words(field, accelerator), not field.is_text)
    exact = found.exact if found.exact != found.number else ""
    if found.basis not in ("", "published", "probed"):
        exact = f"{exact} · {SpecValue.Basis(found.basis).label}"
    return Cell(found.number, exact, _remark(field, found), "", not field.is_text)


def missing_words(field: Field, accelerator: Accelerator) -> str:
    """Why there is no figure: no source here prints one, or there can be none."""
    applies = field.applies_to(accelerator.vendor.slug, accelerator.kind)
    return _("not published") if applies else _("does not apply")


def _remark(field: Field, found: Headline) -> str:
    """The condition, unless it goes without saying: every rate in the list is a dense one."""
    if not found.condition or field.name == "release_date" or found.condition == _("dense"):
        return ""
    return found.condition


def found_text(counts: Counted, everything: int, asked: Asked) -> str:
    """How many were found and how many there are, for people and screen readers."""
    if not asked.is_filtered:
        return ngettext("%(n)d accelerator", "%(n)d accelerators", counts.found) % {"n": counts.found}
    return _("%(n)d of %(all)d accelerators") % {"n": counts.found, "all": everything}


def order_text(counts: Counted, asked: Asked) -> str:
    """By what they are sorted, and how many stand last because nothing is published; "" for the usual order."""
    field = FIELDS.get(asked.sort_key)
    if field is None or asked.sort_key == "vendor":
        return ""
    text = _("sorted by %(title)s, %(way)s") % {"title": field.words[0], "way": _way(field, asked)}
    if not counts.unknown:
        return text
    unknown = ngettext(
        "%(n)d without a published figure stands last", "%(n)d without a published figure stand last", counts.unknown
    )
    return f"{text}; {unknown % {'n': counts.unknown}}"


def _way(field: Field, asked: Asked) -> str:
    if field.name == "release_date":
        return _("newest first") if asked.is_descending else _("oldest first")
    if field.is_text:
        return _("from the end of the alphabet") if asked.is_descending else _("by the alphabet")
    return _("highest first") if asked.is_descending else _("lowest first")


def narrowings(asked: Asked, known: Known) -> list[Narrowing]:
    """The filters that are on, each with the way out of it."""
    words: dict[str, Mapping[str, object]] = {
        "vendor": known.vendors,
        "architecture": known.architectures,
        "kind": kind_words(),
        "form": FORMS,
    }
    found = [Narrowing(f"“{asked.q}”", asked.address(q=""))] if asked.q else []
    for name in ("vendor", "architecture", "kind", "form", "supports"):
        chosen: tuple[str, ...] = getattr(asked, name)
        for value in chosen:
            rest = tuple(other for other in chosen if other != value)
            found.append(Narrowing(str(words.get(name, {}).get(value, value)), asked.address(**{name: rest})))
    return found + _bounds(asked)


def _bounds(asked: Asked) -> list[Narrowing]:
    found = []
    if asked.year_from is not None:
        found.append(Narrowing(_("from %(year)d") % {"year": asked.year_from}, asked.address(year_from=None)))
    if asked.year_to is not None:
        found.append(Narrowing(_("to %(year)d") % {"year": asked.year_to}, asked.address(year_to=None)))
    if asked.memory_min is not None:
        size = {"gb": format_number(asked.memory_min)}
        found.append(Narrowing(_("at least %(gb)s GB") % size, asked.address(memory_min=None)))
    if asked.power_max is not None:
        power = {"watts": format_number(asked.power_max)}
        found.append(Narrowing(_("at most %(watts)s W") % power, asked.address(power_max=None)))
    return found


def reported_as(q: str) -> Reported | None:
    """Whose name this is, exactly as a card, a Mac or a tool reports it; None if it is nobody's. One query."""
    if not q:
        return None
    (match,) = match_cards([CardName(q)])
    if match.accelerator is not None:
        return Reported(q, (match.accelerator,), "") if match.accelerator.is_public else None
    sheets = tuple(item for item in match.candidates if item.is_public)
    return Reported(q, sheets, match.needs) if sheets else None


def plain(asked: Asked) -> bool:
    """Whether many people ask for just this, so that what was rendered is worth keeping: it has an end.

    What people type has none: searches, years, sizes; nor have all ways to combine filters and columns.
    """
    if asked.q or asked.notes or asked.cols != COLUMNS:
        return False
    filters = len(replace(asked, sort="").query_string.split("&")) if asked.is_filtered else 0
    typed = (asked.year_from, asked.year_to, asked.memory_min, asked.power_max)
    return not any(value is not None for value in typed) and filters + bool(asked.sort) <= 1
