"""What the filters of the list offer, with how many accelerators each choice would find under the other filters."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.accelerators.list_query import COLUMN_NAMES, FORMS, SUPPORTS, FilterChoices, ListQuery, form_of
from stackviz.accelerators.list_search import filtered, public_values, supporting
from stackviz.catalog.fields import FIELDS, GROUPS
from stackviz.catalog.models import Accelerator, Vendor

_KEPT_S = 600


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a filter. `count`: how many it would find; `element`: what the page calls the count."""

    value: str
    label: str
    count: int
    is_chosen: bool
    element: str


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter of several choices. `hint` says how they combine, where that is not plain."""

    name: str
    title: str
    choices: tuple[Choice, ...]
    hint: str = ""

    @property
    def chosen(self) -> int:
        return sum(choice.is_chosen for choice in self.choices)


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    field: str
    title: str
    is_chosen: bool


def known_choices(edition: str) -> FilterChoices:
    """What filters may name in this edition of the catalogue. Two queries, none where it was read before."""
    key = f"catalog-known-{edition}"
    found: tuple[dict[str, str], list[str]] | None = cache.get(key)
    if found is None:
        vendors = Vendor.objects.filter(accelerators__is_public=True).distinct().order_by("name")
        values = public_values(field="architecture", accelerator__is_public=True).order_by("value").values_list("value")
        found = dict(vendors.values_list("slug", "name")), [value for (value,) in values.distinct()]
        cache.set(key, found, _KEPT_S)
    vendor_names, architectures = found
    return FilterChoices(vendor_names, {name: name for name in architectures})


def facets(query: ListQuery, choices: FilterChoices) -> tuple[Facet, ...]:
    """The filters with their counts. Five queries."""
    kinds = {value: str(label) for value, label in Accelerator.Kind.choices}
    return (
        _facet("vendor", _("Vendor"), choices.vendors, query.vendor, _by_column(query, "vendor", "vendor__slug")),
        _facet(
            "architecture",
            _("Architecture"),
            choices.architectures,
            query.architecture,
            _by_value(query, "architecture"),
        ),
        _facet("kind", _("Kind"), kinds, query.kind, _by_column(query, "kind", "kind")),
        _facet("form", _("Form"), FORMS, query.form, _forms(query)),
        _facet(
            "supports",
            _("Supports"),
            {name: _("%(format)s matrix products") % {"format": name} for name in SUPPORTS},
            query.supports,
            _supporting(query),
            _(
                "Each one ticked must be there: by a published rate, or, without one, by the compute capability or "
                "architecture of an NVIDIA chip."
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
    taken = frozenset(chosen)
    choices = [
        Choice(value, str(label), counts.get(value, 0), value in taken, f"n-{name}-{slugify(value)}")
        for value, label in labels.items()
    ]
    return Facet(name, title, tuple(choices), hint)


def _by_column(query: ListQuery, name: str, column: str) -> dict[str, int]:
    found = filtered(query, without=name).order_by().values_list(column)
    return dict(found.annotate(Count("pk")))


def _by_value(query: ListQuery, name: str, field: str = "") -> dict[str, int]:
    values = public_values(field=field or name, accelerator__in=_ids(filtered(query, without=name)))
    return dict(values.order_by().values_list("value").annotate(Count("accelerator", distinct=True)))


def _forms(query: ListQuery) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for value, count in _by_value(query, "form", "form_factor").items():
        counts[form_of(value)] += count
    return counts


def _supporting(query: ListQuery) -> dict[str, int]:
    each = {name: Count("pk", filter=supporting(rate), distinct=True) for name, rate in SUPPORTS.items()}
    return dict(filtered(query).order_by().aggregate(**each))


def _ids(found: QuerySet[Accelerator]) -> QuerySet[Accelerator]:
    return found.order_by().values("pk")  # type: ignore[return-value]


def column_choices(query: ListQuery) -> list[tuple[str, list[ColumnChoice]]]:
    """All columns under their groups' titles, in the registry's order."""
    found = []
    for group in GROUPS:
        names = [name for name in COLUMN_NAMES if FIELDS[name].group == group.name]
        choices = [ColumnChoice(name, FIELDS[name].words[0], name in query.cols) for name in names]
        if choices:
            found.append((str(group.title), choices))
    return found
