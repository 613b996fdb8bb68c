"""The list of accelerators as it is shown: column heads, rows, and the texts around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from stackviz.base.units import format_number, unit_label
from stackviz.pages.accelerators.list_query import (
    AVAILABILITY,
    BOUNDS,
    COLUMN_NAMES,
    FORMS,
    PRICE_COLUMN,
    FilterChoices,
    ListQuery,
    column_field,
)
from stackviz.pages.accelerators.list_search import Counted, Search, largest_shown, listed_field
from stackviz.records.catalog.costs import DOLLARS, Cost, costs_now, costs_with_memory, leading_cost
from stackviz.records.catalog.fields import DENSE, Field
from stackviz.records.catalog.figures import Headline, choose_headline, nearest_headline
from stackviz.records.catalog.match import CardName, match_cards
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue, is_announced


@dataclass(frozen=True, slots=True, kw_only=True)
class ListColumn:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCell:
    """One figure in a row; `remark` names the condition where it differs from that of the column.

    `is_other`: it has a figure, but under a condition that this column does not compare; `missing` names both.

    Without a `text`, `missing` says why there is none. `bar`: per cent of the largest in the column, "" without one.
    """

    is_number: bool
    text: str = ""
    exact: str = ""
    remark: str = ""
    missing: str = ""
    bar: str = ""
    applies: bool = True
    is_other: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """The result of searching for an exact reported name: its accelerators, and in `needs` what tells them apart."""

    name: str
    accelerators: tuple[Accelerator, ...]
    needs: str


def kind_words() -> dict[str, str]:
    return {value: str(label) for value, label in Accelerator.Kind.choices}


def list_columns(query: ListQuery) -> tuple[ListColumn, ...]:
    """The heads of the columns shown."""
    return tuple(_column(column_field(name), query) for name in query.columns)


def _column(field: Field, query: ListQuery) -> ListColumn:
    is_dense = field.usual[-1] == DENSE
    return ListColumn(
        field=field.name,
        title=field.words[0],
        unit=unit_label(field.unit),
        condition=_("dense") if is_dense else "",
        meaning=field.words[1],
        is_number=not field.is_text,
        sort_address=query.address(sort=next_sort(field.name, query)),
        order=_order(field.name, query),
    )


def next_sort(key: str, query: ListQuery) -> str:
    """The sort key of a click on a head: better or newer first; a second click reverses it."""
    if query.sort_key == key:
        return key if query.is_descending else f"-{key}"
    field = column_field(key) if key in COLUMN_NAMES else None
    if field is None or (field.is_text and key != "release_date") or field.higher_is_better is False:
        return key
    return f"-{key}"


def _order(key: str, query: ListQuery) -> str:
    if query.sort_key != key:
        return ""
    return "descending" if query.is_descending else "ascending"


def name_column(query: ListQuery) -> ListColumn:
    """The head of the names."""
    order = _order("name", query)
    return ListColumn(
        field="name",
        title=_("Name"),
        unit="",
        condition="",
        meaning="",
        is_number=False,
        sort_address=query.address(sort=next_sort("name", query)),
        order=order,
    )


def kind_column(query: ListQuery) -> ListColumn:
    """The head of the kinds."""
    address = query.address(sort=next_sort("kind", query))
    order = _order("kind", query)
    return ListColumn(
        field="kind",
        title=_("Kind"),
        unit="",
        condition="",
        meaning="",
        is_number=False,
        sort_address=address,
        order=order,
    )


def list_rows(
    folded: Sequence[Sequence[Accelerator]],
    names: Sequence[str],
    catalogue: PublicCatalogue,
    memory_min: float | None = None,
) -> list[dict[str, object]]:
    """A row for the first of each, with a cell for each of these fields; a cell is written once for each edition.

    `memory_min`: the GB that a price must be for.
    `variants`: others of its family, which share the row; `is_announced`: it cannot be had yet.
    """
    kinds, language = kind_words(), get_language()
    fields = [column_field(name) for name in names]

    def cell(item: Accelerator, field: Field) -> ListCell:
        if field is PRICE_COLUMN and memory_min:
            return _price_cell(costs_with_memory(item.pk, catalogue, memory_min), names_memory=True)
        if field is PRICE_COLUMN:
            return catalogue.once(
                ("cell", item.pk, field.name, language), lambda: _price_cell(costs_now(item.pk, catalogue))
            )
        values = catalogue.preferred(item.pk, field.name)
        return catalogue.once(
            ("cell", item.pk, field.name, language), lambda: _cell(item, field, values, largest_shown(field, catalogue))
        )

    return [
        {
            "accelerator": item,
            "kind": kinds[item.kind],
            "cells": [cell(item, field) for field in fields],
            "variants": variants,
            "variants_text": ngettext("+ %(n)d variant", "+ %(n)d variants", len(variants)) % {"n": len(variants)},
            "is_announced": is_announced(item, catalogue),
        }
        for item, *variants in folded
    ]


def _cell(accelerator: Accelerator, field: Field, values: Sequence[SpecValue], largest: float) -> ListCell:
    shown = choose_headline(listed_field(field), values)
    if not shown.is_published:
        return ListCell(
            is_number=not field.is_text,
            missing=missing_words(field, accelerator, values),
            is_other=bool(values),
            applies=bool(values) or _applies(field, accelerator),
        )
    exact = shown.exact if shown.exact != shown.number else ""
    if shown.basis not in ("", "published", "probed"):
        exact = f"{exact} · {SpecValue.Basis(shown.basis).label}"
    bar = f"{min(shown.amount / largest, 1) * 100:.0f}" if shown.amount and largest else ""
    return ListCell(is_number=not field.is_text, text=shown.number, exact=exact, remark=_remark(field, shown), bar=bar)


def _price_cell(costs: Sequence[Cost], *, names_memory: bool = False) -> ListCell:
    """The leading price with its kind and month, and the memory it buys; the title has all prices in full."""
    shown = leading_cost(costs)
    if shown is None:
        return ListCell(is_number=True, missing=_("no price known"))
    everything = "; ".join(f"{cost.text} ({cost.remark})" for cost in (shown, *(c for c in costs if c is not shown)))
    text = shown.amount_text if shown.currency == DOLLARS else shown.text
    remark = ", ".join(filter(None, (shown.variant_memory if names_memory else "", shown.short_remark)))
    return ListCell(is_number=True, text=text, exact=everything, remark=remark)


def missing_words(field: Field, accelerator: Accelerator, values: Sequence[SpecValue]) -> str:
    """Why a figure is missing: not published, not applicable, or known under a condition that lists do not compare.

    `values`: the preferred ones of the field. The sheet shows the same figure, first.
    """
    if values:
        figure = nearest_headline(listed_field(field), values)
        words = {"figure": f"{figure.number} {figure.unit}".strip(), "condition": figure.condition}
        return _("only %(condition)s: %(figure)s") % words
    return _("not published") if _applies(field, accelerator) else _("does not apply")


def _applies(field: Field, accelerator: Accelerator) -> bool:
    return field.applies_to(accelerator.vendor.slug, accelerator.kind)


def _remark(field: Field, shown: Headline) -> str:
    """The condition, unless it is the default: every rate in the list is dense."""
    if not shown.condition or field.name == "release_date" or shown.condition == _("dense"):
        return ""
    return shown.condition


def found_text(counts: Counted, everything: int, query: ListQuery) -> str:
    """How many were found and how many there are, for people and screen readers."""
    if not query.is_filtered:
        return ngettext("%(n)d accelerator", "%(n)d accelerators", counts.matching) % {"n": counts.matching}
    return _("%(n)d of %(all)d accelerators") % {"n": counts.matching, "all": everything}


def order_text(counts: Counted, query: ListQuery) -> str:
    """The sort order, and how many come last because nothing is published; "" for the default order."""
    if not query.sort and not query.q:
        return _("most asked for first, then the newest")
    if query.sort_key not in COLUMN_NAMES:
        return ""
    field = column_field(query.sort_key)
    text = _("sorted by %(title)s, %(way)s") % {"title": field.words[0], "way": _way(field, query)}
    if not counts.unknown:
        return text
    if field is PRICE_COLUMN:
        unpriced = ngettext(
            "%(n)d without a purchase price is listed last", "%(n)d without a purchase price are listed last",
            counts.unknown,
        )  # fmt: skip
        return f"{text}; {unpriced % {'n': counts.unknown}}"
    unknown = ngettext(
        "%(n)d without a published value is listed last",
        "%(n)d without a published value are listed last",
        counts.unknown,
    )
    return f"{text}; {unknown % {'n': counts.unknown}}"


def lacking_text(search: Search) -> tuple[str, str] | None:
    """How many have no published figure for the bounds that are set, and the address of the list with them, or None."""
    rows = search.lacking_figures()
    if not rows:
        return None
    titles = {
        "year_from": "release_date",
        "year_to": "release_date",
        "memory_min": "memory_gb",
        "power_max": "tdp_w",
        "price_max": "price",
    }
    figures = dict.fromkeys(
        column_field(titles[name]).words[0] for name in BOUNDS if getattr(search.query, name) is not None
    )
    text = ngettext(
        "%(n)d more has no published figure for this filter: %(figures)s",
        "%(n)d more have no published figure for this filter: %(figures)s",
        len(rows),
    )
    return text % {"n": len(rows), "figures": ", ".join(figures)}, search.query.address(unknown=True)


def _way(field: Field, query: ListQuery) -> str:
    if field.name == "release_date":
        return _("newest first") if query.is_descending else _("oldest first")
    if field.is_text:
        return _("Z to A") if query.is_descending else _("A to Z")
    return _("highest first") if query.is_descending else _("lowest first")


def narrowings(query: ListQuery, choices: FilterChoices) -> list[tuple[str, str]]:
    """The active filters in words, each with the address without it."""
    words: dict[str, Mapping[str, object]] = {
        "vendor": choices.vendors,
        "architecture": choices.architectures,
        "kind": kind_words(),
        "form": FORMS,
        "availability": AVAILABILITY,
    }
    active = [(f"“{query.q}”", query.address(q=""))] if query.q else []
    for name in ("vendor", "architecture", "kind", "form", "availability", "supports"):
        chosen: tuple[str, ...] = getattr(query, name)
        for value in chosen:
            rest = tuple(other for other in chosen if other != value)
            active.append((str(words.get(name, {}).get(value, value)), query.address(**{name: rest})))
    return active + _bounds(query)


def _bounds(query: ListQuery) -> list[tuple[str, str]]:
    active = []
    if query.year_from is not None:
        active.append((_("from %(year)d") % {"year": query.year_from}, query.address(year_from=None)))
    if query.year_to is not None:
        active.append((_("to %(year)d") % {"year": query.year_to}, query.address(year_to=None)))
    if query.memory_min is not None:
        size = {"gb": format_number(query.memory_min)}
        active.append((_("at least %(gb)s GB") % size, query.address(memory_min=None)))
    if query.power_max is not None:
        power = {"watts": format_number(query.power_max)}
        active.append((_("at most %(watts)s W") % power, query.address(power_max=None)))
    if query.price_max is not None:
        price = {"dollars": format_number(query.price_max)}
        active.append((_("at most %(dollars)s USD") % price, query.address(price_max=None)))
    if query.unknown:
        active.append((_("also without a published figure"), query.address(unknown=False)))
    return active


def reported_as(q: str) -> Reported | None:
    """The accelerators that report exactly this name; None if there is none. One query."""
    if not q:
        return None
    (match,) = match_cards([CardName(q)])
    if match.accelerator is not None:
        return Reported(q, (match.accelerator,), "") if match.accelerator.is_public else None
    sheets = tuple(item for item in match.candidates if item.is_public)
    return Reported(q, sheets, match.needs) if sheets else None
