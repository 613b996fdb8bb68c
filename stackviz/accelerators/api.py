"""The HTTP API of the catalogue, for reading: accelerators, their values, the fields, the sources.

Filters are those of the list, read by the same parser; a parameter it cannot read is refused with 422. Answers
depend only on the address and the catalogue's edition: each has an ETag, and a conditional request costs one query.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from ninja import Field as Described
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view

from stackviz.accelerators.api_query import (
    field_names,
    is_true,
    page_links,
    read_condition,
    read_filters,
    value_order,
)
from stackviz.accelerators.api_schemas import (
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
    field_out,
    source_brief,
    spec_out,
)
from stackviz.accelerators.list_query import ListQuery
from stackviz.accelerators.list_search import Search
from stackviz.catalog.conditions import KEYS
from stackviz.catalog.fields import FIELDS
from stackviz.catalog.models import Accelerator, Alias, CatalogueEdition, Source, SpecValue
from stackviz.catalog.past import names_at, public_accelerators_at, public_values_at
from stackviz.catalog.queries import preferred_values, public_accelerators
from stackviz.web.address import clean_text, read_moment
from stackviz.web.conditional import unless_changed
from stackviz.web.errors import ErrorBody, Refusal, refuse_others

router = Router()

MOST_ROWS = 1000
FARTHEST = 100_000  # rows skipped: the database reads every one of them
REFUSED = {404: ErrorBody, 422: ErrorBody}
_CUT = frozenset({"limit", "offset"})
_tagged = decorate_view(unless_changed(CatalogueEdition.current))

Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=FARTHEST, description="number of items to skip")]
Fields = Annotated[
    list[str], Query(description="names of fields, repeated or comma-separated: include only their values")
]
Alternatives = Annotated[str, Query(description="1: include values of other sources")]


class Filters(Schema):
    """The filters of /accelerators/. Several values: the parameter several times, or once with commas."""

    q: str = Described("", description="text in a name, or a name that a card, a Mac or a tool reports")
    vendor: list[str] = Described([], description="slugs, such as nvidia")
    architecture: list[str] = Described([], description="such as Hopper")
    kind: list[str] = Described([], description="gpu, soc, npu or asic")
    form: list[str] = Described([], description="pcie, sxm, oam or other")
    supports: list[str] = Described(
        [], description="bf16, fp8, ...: by a published rate that is not zero, or by compute capability (NVIDIA)"
    )
    year_from: str = Described("", description="released in this year or later")
    year_to: str = Described("", description="released in this year or earlier")
    memory_min: str = Described("", description="at least this many GB of memory")
    power_max: str = Described("", description="at most this many W of board power")


@router.get(
    "/accelerators/",
    operation_id="stackviz_catalog_api_list_accelerators",
    response={200: AcceleratorPage, **REFUSED},
    summary="Accelerators, filtered, sorted, in pages",
)
@_tagged
def list_accelerators(
    request: HttpRequest,
    filters: Query[Filters],  # noqa: ARG001 - read by the parser the list has; here for the document
    sort: Annotated[str, Query(description="name, vendor, kind or any field; -tdp_w: descending")] = "",  # noqa: ARG001
    fields: Fields = [],  # noqa: B006
    limit: Limit = 100,
    offset: Offset = 0,
) -> AcceleratorPage:
    """Sorted by name by default. Accelerators without a value of the field sorted by come last."""
    query = read_filters(request, _CUT | {"sort", "fields"})
    names = field_names(fields)
    search = Search(query)
    items = search.ordered()[offset : offset + limit]
    specs = _specs_of(items, names)
    counts = search.counted()
    return AcceleratorPage(
        **page_links(request, counts.matching, limit, offset),
        without_figure=counts.unknown,
        items=[
            AcceleratorItem(**brief(item).dict(), address=address_of(request, item), specs=specs.get(item.pk, []))
            for item in items
        ],
    )


@router.get(
    "/accelerators/{slug}/",
    operation_id="stackviz_catalog_api_get_accelerator",
    response={200: AcceleratorOut, **REFUSED},
    summary="One accelerator with its values",
)
@_tagged
def get_accelerator(
    request: HttpRequest,
    slug: str,
    fields: Fields = [],  # noqa: B006
    alternatives: Alternatives = "",
    at: Annotated[str, Query(description="2026-11-20 or 2026-11-20T16:00:00Z: as of this moment")] = "",
) -> AcceleratorOut:
    """Every public value with its source, in the unit it is printed in; `fields` leaves out the others."""
    refuse_others(request, {"fields", "alternatives", "at"})
    names, with_others = field_names(fields), is_true(alternatives, "alternatives")
    accelerator = public_accelerators().filter(slug=clean_text(slug)).first()
    if accelerator is None:
        raise Refusal(404, f"unknown accelerator {slug[:80]!r}", "slug")
    answer = _at(request, accelerator, at) if at else _now(request, accelerator)
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
def list_values(
    request: HttpRequest,
    filters: Query[Filters],  # noqa: ARG001
    field: Annotated[list[str], Query(description="names of fields, repeated or comma-separated")] = [],  # noqa: B006
    condition: Annotated[str | None, Query(description="sparsity=dense; empty: values without a condition")] = None,
    alternatives: Alternatives = "",
    sort: Annotated[str, Query(description="amount or -amount, texts last; by accelerator if not given")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> ValuePage:
    """The preferred value of each field and condition of the accelerators that the filters find."""
    query = read_filters(request, _CUT | {"field", "condition", "alternatives", "sort"}, without=("sort",))
    matching = _values(query, field_names(field, "field"), condition, with_others=is_true(alternatives, "alternatives"))
    ordered = matching.order_by(*value_order(sort))
    rows = list(ordered.select_related("source", "accelerator__vendor")[offset : offset + limit])
    names = checkers(rows)
    return ValuePage(
        **page_links(request, matching.count(), limit, offset),
        items=[ValueOut(**spec_out(row, names).dict(), accelerator=brief(row.accelerator)) for row in rows],
    )


@router.get(
    "/fields/",
    operation_id="stackviz_catalog_api_list_fields",
    response=RegistryOut,
    by_alias=True,
    summary="The fields and the conditions of values",
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
def list_sources(
    request: HttpRequest,
    q: Annotated[str, Query(description="text in the title or the address")] = "",
    kind: Annotated[str, Query(description="maker, device, press or community")] = "",
    read_as: Annotated[str, Query(description="first-hand, copy, quote or excerpt")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> SourcePage:
    """Sources with at least one public value, by title."""
    refuse_others(request, _CUT | {"q", "kind", "read_as"})
    if kind and kind not in Source.Kind.values:
        raise Refusal(422, f"kind must be one of {', '.join(Source.Kind.values)}, not {kind[:40]!r}", "kind")
    if read_as and read_as not in Source.Reading.values:
        problem = f"read_as must be one of {', '.join(Source.Reading.values)}, not {read_as[:40]!r}"
        raise Refusal(422, problem, "read_as")
    public = Q(spec_values__status=SpecValue.Status.PUBLIC, spec_values__accelerator__is_public=True)
    values = SpecValue.objects.filter(
        source=OuterRef("pk"), status=SpecValue.Status.PUBLIC, accelerator__is_public=True
    )
    wanted = {name: value for name, value in (("kind", kind), ("read_as", read_as)) if value}
    sources = Source.objects.filter(Exists(values), **wanted)
    for term in clean_text(q).split():
        sources = sources.filter(Q(title__icontains=term) | Q(url__icontains=term))
    rows = sources.annotate(values=Count("spec_values", filter=public)).order_by("title", "pk")[offset : offset + limit]
    return SourcePage(
        **page_links(request, sources.count(), limit, offset),
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
    who = checkers(rows)
    return AcceleratorOut(
        **brief(item).dict(),
        address=address_of(request, item),
        family=item.family,
        aliases=list(dict.fromkeys(names)),
        at=at,
        specs=[spec_out(row, who) for row in rows],
    )
