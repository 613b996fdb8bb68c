"""The HTTP API of the catalogue, for reading: accelerators, their values, the fields, the sources.

Filters are those of the list, read by the same parser; a parameter it cannot read is refused with 422. Answers
depend only on the address and the catalogue's edition: each has an ETag, and a conditional request costs one query.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from ninja import Query, Router
from ninja.decorators import decorate_view

from stackviz.pages.accelerators.api_query import (
    ListParameters,
    SheetParameters,
    SourceParameters,
    ValueParameters,
    field_names,
    is_true,
    page_links,
    read_condition,
    read_filters,
    value_order,
)
from stackviz.pages.accelerators.api_schemas import (
    AcceleratorItem,
    AcceleratorOut,
    AcceleratorPage,
    ConditionKeyOut,
    RegistryOut,
    SourceOut,
    SourcePage,
    SpecOut,
    ValueOut,
    ValuePage,
    address_of,
    brief,
    checkers,
    costs_out,
    drivers_out,
    field_out,
    source_brief,
    spec_out,
)
from stackviz.pages.accelerators.list_query import ListQuery
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.conditions import KEYS
from stackviz.records.catalog.costs import costs_now, costs_of
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, Source, SpecValue
from stackviz.records.catalog.past import names_at, public_accelerators_at, public_prices_at, public_values_at
from stackviz.records.catalog.queries import preferred_values, public_accelerators, public_catalogue
from stackviz.records.stacks.driver_words import sheet_drivers
from stackviz.records.stacks.models import Edition
from stackviz.web.http.address import clean_text, read_moment
from stackviz.web.http.conditional import unless_changed
from stackviz.web.http.errors import ErrorBody, Refusal, refuse_others
from stackviz.web.http.openapi import link, links

router = Router()

REFUSED = dict.fromkeys((404, 422, 429), ErrorBody)
_CUT = frozenset({"limit", "offset"})
_tagged = decorate_view(unless_changed(CatalogueEdition.current))
_tagged_with_drivers = decorate_view(unless_changed(lambda: f"{CatalogueEdition.current()} {Edition.current()}"))


@router.get(
    "/accelerators/",
    operation_id="stackviz_catalog_api_list_accelerators",
    response={200: AcceleratorPage, **REFUSED},
    summary="Accelerators, filtered, sorted, in pages",
    openapi_extra=links(
        200,
        link("stackviz_catalog_api_get_accelerator", slug="/items/0/slug"),
        link("stackviz_fit_api_fit", accelerator="/items/0/slug"),
        link("stackviz_cited_api_list_cited", accelerator="/items/0/slug"),
        link("stackviz_machines_api_list_machines", accelerator="/items/0/slug"),
    ),
)
@_tagged
def list_accelerators(request: HttpRequest, parameters: Query[ListParameters]) -> AcceleratorPage:
    """Sorted by name by default. Accelerators without a value of the field sorted by come last."""
    query = read_filters(request, _CUT | {"sort", "fields"})
    names = field_names(parameters.fields_)
    search = Search(query)
    items = search.ordered()[parameters.offset : parameters.offset + parameters.limit]
    specs = _specs_of(items, names)
    counts = search.counted()
    return AcceleratorPage(
        **page_links(request, counts.matching, parameters.limit, parameters.offset),
        without_figure=counts.unknown,
        items=[
            AcceleratorItem(
                **brief(item).dict(),
                address=address_of(request, item),
                costs=costs_out(costs_now(item.pk, search.catalogue)),
                specs=specs.get(item.pk, []),
            )
            for item in items
        ],
    )


@router.get(
    "/accelerators/{slug}/",
    operation_id="stackviz_catalog_api_get_accelerator",
    response={200: AcceleratorOut, **REFUSED},
    summary="One accelerator with its values",
)
@_tagged_with_drivers
def get_accelerator(request: HttpRequest, slug: str, parameters: Query[SheetParameters]) -> AcceleratorOut:
    """Every public value with its source, in the unit it is printed in; `fields` leaves out the others."""
    refuse_others(request, {"fields", "alternatives", "at"})
    names, with_others = field_names(parameters.fields_), is_true(parameters.alternatives, "alternatives")
    accelerator = public_accelerators().filter(slug=clean_text(slug)).first()
    if accelerator is None:
        raise Refusal(404, f"unknown accelerator {slug[:80]!r}", "slug")
    answer = _at(request, accelerator, parameters.at) if parameters.at else _now(request, accelerator)
    answer.specs = [
        spec for spec in answer.specs if (with_others or spec.is_preferred) and (not names or spec.field in names)
    ]
    return answer


@router.get(
    "/values/",
    operation_id="stackviz_catalog_api_list_values",
    response={200: ValuePage, **REFUSED},
    summary="Values across accelerators",
)
@_tagged
def list_values(request: HttpRequest, parameters: Query[ValueParameters]) -> ValuePage:
    """The preferred value of each field and condition of the accelerators that the filters find."""
    query = read_filters(request, _CUT | {"field", "condition", "alternatives", "sort"}, without=("sort",))
    with_others = is_true(parameters.alternatives, "alternatives")
    matching = _values(query, field_names(parameters.field, "field"), parameters.condition, with_others=with_others)
    ordered = matching.order_by(*value_order(parameters.sort)).select_related("source", "accelerator__vendor")
    rows = list(ordered[parameters.offset : parameters.offset + parameters.limit])
    names = checkers(rows)
    return ValuePage(
        **page_links(request, matching.count(), parameters.limit, parameters.offset),
        items=[ValueOut(**spec_out(row, names).dict(), accelerator=brief(row.accelerator)) for row in rows],
    )


@router.get(
    "/fields/",
    operation_id="stackviz_catalog_api_list_fields",
    response={200: RegistryOut, 422: ErrorBody, 429: ErrorBody},
    by_alias=True,
    summary="The fields and the conditions of values",
    openapi_extra=links(200, link("stackviz_catalog_api_list_values", field="/fields/0/name")),
)
@_tagged
def list_fields(request: HttpRequest) -> RegistryOut:
    """Title, unit and meaning of each field, and the keys that conditions are made of."""
    refuse_others(request, set())
    return RegistryOut(
        fields=[field_out(field) for field in FIELDS.values()],
        conditions=[
            ConditionKeyOut(key=key.name, meaning=str(key.meaning), values=list(key.values), varies=key.varies)
            for key in KEYS
        ],
    )


@router.get(
    "/sources/",
    operation_id="stackviz_catalog_api_list_sources",
    response={200: SourcePage, **REFUSED},
    summary="The documents that values come from",
)
@_tagged
def list_sources(request: HttpRequest, parameters: Query[SourceParameters]) -> SourcePage:
    """Sources with at least one public value, by title."""
    refuse_others(request, _CUT | {"q", "kind", "read_as"})
    if parameters.kind and parameters.kind not in Source.Kind.values:
        raise Refusal(422, f"kind must be one of {', '.join(Source.Kind.values)}, not {parameters.kind[:40]!r}", "kind")
    if parameters.read_as and parameters.read_as not in Source.Reading.values:
        problem = f"read_as must be one of {', '.join(Source.Reading.values)}, not {parameters.read_as[:40]!r}"
        raise Refusal(422, problem, "read_as")
    public = Q(spec_values__status=SpecValue.Status.PUBLIC, spec_values__accelerator__is_public=True)
    values = SpecValue.objects.filter(
        source=OuterRef("pk"), status=SpecValue.Status.PUBLIC, accelerator__is_public=True
    )
    wanted = {name: value for name, value in (("kind", parameters.kind), ("read_as", parameters.read_as)) if value}
    sources = Source.objects.filter(Exists(values), **wanted)
    for term in clean_text(parameters.q).split():
        sources = sources.filter(Q(title__icontains=term) | Q(url__icontains=term))
    rows = sources.annotate(values=Count("spec_values", filter=public)).order_by("title", "pk")[
        parameters.offset : parameters.offset + parameters.limit
    ]
    return SourcePage(
        **page_links(request, sources.count(), parameters.limit, parameters.offset),
        items=[
            SourceOut(**dict(source_brief(row)), key=row.key, kind=row.kind, values=getattr(row, "values", 0))
            for row in rows
        ],
    )


# --- reading rows ---


def _specs_of(items: list[Accelerator], names: frozenset[str]) -> dict[int, list[SpecOut]]:
    """Accelerator id -> its preferred values of these fields. Two queries at most, none without a field."""
    if not names:
        return {}
    rows = list(preferred_values(item.pk for item in items).filter(field__in=names).order_by("field", "condition"))
    names_of_checkers = checkers(rows)
    by_accelerator: dict[int, list[SpecOut]] = defaultdict(list)
    for row in rows:
        by_accelerator[row.accelerator_id].append(spec_out(row, names_of_checkers))
    return by_accelerator


def _values(
    query: ListQuery, names: frozenset[str], condition: str | None, *, with_others: bool
) -> QuerySet[SpecValue]:
    accelerators = [item.pk for item in Search(query).filtered()]
    values = SpecValue.objects.filter(status=SpecValue.Status.PUBLIC, accelerator__in=accelerators)
    if names:
        values = values.filter(field__in=names)
    if condition is not None:
        values = values.filter(condition=read_condition(condition))
    return values if with_others else values.filter(is_preferred=True)


def _now(request: HttpRequest, item: Accelerator) -> AcceleratorOut:
    printed = item.aliases.filter(kind=Alias.Kind.REPORTED, source__isnull=False)
    names = printed.order_by("name").values_list("name", flat=True)
    values = item.spec_values.filter(status=SpecValue.Status.PUBLIC).select_related("source")
    return _described(request, item, names, values.order_by("field", "condition", "-is_preferred", "pk"), None)


def _at(request: HttpRequest, item: Accelerator, text: str) -> AcceleratorOut:
    at = read_moment(text)
    if at is None:
        raise Refusal(422, f"{text[:40]!r} is not a past moment such as 2026-11-20 or 2026-11-20T16:00:00Z", "at")
    then = public_accelerators_at([item.pk], at).get(item.pk)
    if then is None:
        raise Refusal(404, f"{item.slug} was not public at that moment", "at")
    names = [alias.name for alias in names_at(item.pk, at) if alias.source and alias.kind == Alias.Kind.REPORTED]
    return _described(request, then, names, public_values_at([item.pk], at), at)


def _described(
    request: HttpRequest, item: Accelerator, names: Iterable[str], values: Iterable[SpecValue], at: datetime | None
) -> AcceleratorOut:
    rows = list(values)
    prices = public_prices_at(item.pk, at) if at else public_catalogue().prices(item.pk)
    who = checkers(rows)
    return AcceleratorOut(
        **brief(item).dict(),
        address=address_of(request, item),
        family=item.family,
        aliases=list(dict.fromkeys(names)),
        at=at,
        costs=costs_out(costs_of(rows, prices)),
        drivers=None if at else drivers_out(sheet_drivers(item)),
        specs=[spec_out(row, who) for row in rows],
    )
