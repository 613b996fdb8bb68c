"""Options of the list's filters, each with the number of accelerators it matches under the other filters."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.pages.accelerators.list_query import (
    AVAILABILITY,
    COLUMN_NAMES,
    FORMS,
    SUPPORTS,
    FilterChoices,
    ListQuery,
    column_field,
    form_of,
)
from stackviz.pages.accelerators.list_search import Search, availability_of, supporting
from stackviz.records.catalog.fields import GROUPS
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter of several choices: (value, label, how many it would find, id of the count on the page).

    `hint` says how they combine, where that is not plain.
    """

    name: str
    title: str
    choices: Sequence[tuple[str, str, int, str]]
    chosen: Collection[str]
    hint: str = ""


def known_choices(catalogue: PublicCatalogue) -> FilterChoices:
    """What filters may name in this edition of the catalogue."""
    return catalogue.once("filter choices", lambda: _known_choices(catalogue))


def _known_choices(catalogue: PublicCatalogue) -> FilterChoices:
    vendors = sorted({(row.vendor.name, row.vendor.slug) for row in catalogue.accelerators})
    values = [value for row in catalogue.accelerators for value in catalogue.preferred(row.pk, "architecture")]
    architectures = sorted({value.value for value in values})
    return FilterChoices({slug: name for name, slug in vendors}, {name: name for name in architectures})


def facets(search: Search, choices: FilterChoices) -> tuple[Facet, ...]:
    """The filters with their counts."""
    query = search.query
    kinds = {value: str(label) for value, label in Accelerator.Kind.choices}
    vendors = Counter(row.vendor.slug for row in search.filtered(without="vendor"))
    architectures = _by_text(search, "architecture", "architecture")
    return (
        _facet("vendor", _("Vendor"), choices.vendors, query.vendor, vendors),
        _facet("architecture", _("Architecture"), choices.architectures, query.architecture, architectures),
        _facet("kind", _("Kind"), kinds, query.kind, Counter(row.kind for row in search.filtered(without="kind"))),
        _facet("form", _("Form"), FORMS, query.form, _by_form(search)),
        _facet("availability", _("Availability"), AVAILABILITY, query.availability, _by_availability(search)),
        _facet(
            "supports",
            _("Supports"),
            {name: _("%(format)s matrix products") % {"format": name} for name in SUPPORTS},
            query.supports,
            _by_support(search),
            hint=_(
                "Only accelerators that support every ticked format: by a published rate or, without one, by the "
                "compute capability or architecture of an NVIDIA chip."
            ),
        ),
    )


def _facet(
    name: str,
    title: str,
    labels: Mapping[str, object],
    chosen: Iterable[str],
    counts: Mapping[str, int],
    hint: str = "",
) -> Facet:
    choices = [
        (value, str(label), counts.get(value, 0), f"n-{name}-{slugify(value)}") for value, label in labels.items()
    ]
    return Facet(name, title, choices, frozenset(chosen).intersection(labels), hint)


def _by_text(search: Search, name: str, field: str) -> Counter[str]:
    """Text of a field -> how many accelerators have it, without the filter of this name."""
    accelerators, preferred = search.filtered(without=name), search.catalogue.preferred
    return Counter(text for row in accelerators for text in {value.value for value in preferred(row.pk, field)})


def _by_form(search: Search) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, count in _by_text(search, "form", "form_factor").items():
        counts[form_of(text)] += count
    return counts


def _by_availability(search: Search) -> Counter[str]:
    return Counter(availability_of(row, search.catalogue) for row in search.filtered(without="availability"))


def _by_support(search: Search) -> dict[str, int]:
    accelerators = search.filtered()
    return {name: sum(map(supporting(rate, search.catalogue), accelerators)) for name, rate in SUPPORTS.items()}


def column_choices(query: ListQuery) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """(name, title, whether it is chosen) of all columns, under their groups' titles, in the registry's order."""
    by_group = []
    for group in GROUPS:
        names = [name for name in COLUMN_NAMES if column_field(name).group == group.name]
        choices = [(name, column_field(name).words[0], name in query.cols) for name in names]
        if choices:
            by_group.append((str(group.title), choices))
    return by_group
