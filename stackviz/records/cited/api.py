"""The HTTP API of cited results, for reading. Pages go by primary key, so that each costs the same."""

from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Field as Described
from ninja import Path, Query, Router, Schema
from ninja.decorators import decorate_view

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address
from stackviz.records.hosts.models import Host
from stackviz.web.http.address import clean_text
from stackviz.web.http.conditional import unless_changed
from stackviz.web.http.errors import ErrorBody, Refusal, refuse_others
from stackviz.web.http.openapi import link, links, none_or_one_of, one_of

router = Router()

MOST_ROWS = 1000
LARGEST_ID = 2**63 - 1  # of a primary key
REFUSED = dict.fromkeys((404, 422, 429), ErrorBody)
_BENCHMARK = one_of(CITED_BENCHMARKS)
_STATE = one_of(CitedResult.State.values)
_tagged = decorate_view(unless_changed(edition_of_cases))


class CitedSourceOut(Schema):
    """`read_in`: the copy it was read in, or empty."""

    key: str
    title: str
    url: str
    kind: str
    licence: str
    read_in: str


class CitedResultOut(Schema):
    """One figure that others measured: `value` as printed in `unit`, `amount` in `si_unit`, of all `count` devices.

    `case`: results of the same benchmark with the same case may be compared. `accelerator`: slug of the sheet, null
    where none is certain. `reason`: why it is doubtful or withdrawn. `date`: of the run or the document. `url`: of the
    page of this result, which stays the same. `host`: slug of the public host it was measured on, if the source
    describes one.
    """

    id: int
    url: str
    accelerator: str | None
    reported_name: str
    count: int
    benchmark: str = Described(json_schema_extra=_BENCHMARK)
    params: dict[str, str | int]
    case: str
    value: str
    unit: str
    amount: float
    si_unit: str
    software: dict[str, str]
    date: str | None
    source: CitedSourceOut
    note: str
    state: str = Described(json_schema_extra=_STATE)
    reason: str
    host: str | None


class CitedParameters(Schema):
    accelerator: str = Described("", description="slug of a sheet")
    benchmark: str = Described(
        "",
        description="key, as /api/v1/cited/benchmarks/ lists them",
        json_schema_extra=none_or_one_of(CITED_BENCHMARKS),
    )
    host: str = Described("", description="slug of a public host, as /api/v1/hosts/ lists them")
    state: str = Described("public", description="whether it is charted", json_schema_extra=_STATE)
    after: int = Described(0, ge=0, le=LARGEST_ID, description="only results with a larger id")
    limit: int = Described(100, ge=1, le=MOST_ROWS, description="at most so many items")


class CitedPage(Schema):
    """`next`: address of the next page, null on the last."""

    next: str | None
    items: list[CitedResultOut]


class CitedBenchmarkOut(Schema):
    """`compared`: parameters that must be equal for two results to be compared; `units`: base units it may have."""

    key: str
    title: str
    measures: str
    units: list[str]
    better: Literal["higher", "lower"]
    compared: list[str]
    parameters: list[str]
    definition: str


class CitedBenchmarks(Schema):
    items: list[CitedBenchmarkOut]


@router.get(
    "/cited/",
    response={200: CitedPage, **REFUSED},
    summary="Cited results, in pages",
    openapi_extra=links(200, link("stackviz_cited_api_get_cited", pk="/items/0/id")),
)
@_tagged
def list_cited(request: HttpRequest, parameters: Query[CitedParameters]) -> CitedPage:
    """What others measured and published, by id. Without `state` the public results, which pages chart."""
    refuse_others(request, {"accelerator", "benchmark", "host", "state", "after", "limit"})
    limit = parameters.limit
    rows = list(_filtered(parameters).filter(pk__gt=parameters.after).order_by("pk")[: limit + 1])
    is_last = len(rows) <= limit
    return CitedPage(
        next=None if is_last else _page_after(request, rows[limit - 1].pk),
        items=[_out(request, row) for row in rows[:limit]],
    )


@router.get(
    "/cited/benchmarks/",
    response={200: CitedBenchmarks, 422: ErrorBody, 429: ErrorBody},
    summary="The benchmarks that results are cited of",
    openapi_extra=links(200, link("stackviz_cited_api_list_cited", benchmark="/items/0/key")),
)
def list_cited_benchmarks(request: HttpRequest) -> CitedBenchmarks:
    """Units, direction, parameters, and where each is defined."""
    refuse_others(request, set())
    return CitedBenchmarks(
        items=[
            CitedBenchmarkOut(
                key=item.key,
                title=str(item.title),
                measures=str(item.measures),
                units=list(item.units),
                better="higher" if item.higher_is_better else "lower",
                compared=list(item.compared),
                parameters=sorted(item.parameters),
                definition=item.definition.url,
            )
            for item in CITED_BENCHMARKS.values()
        ]
    )


@router.get("/cited/{pk}/", response={200: CitedResultOut, **REFUSED}, summary="One cited result")
@_tagged
def get_cited(request: HttpRequest, pk: Annotated[int, Path(le=LARGEST_ID)]) -> CitedResultOut:
    """In whatever state it is."""
    refuse_others(request, set())
    row = CitedResult.objects.filter(pk=pk).select_related("accelerator", "source", "host").first()
    if row is None:
        raise Refusal(404, f"unknown cited result {pk}", "pk")
    return _out(request, row)


def _filtered(parameters: CitedParameters) -> "QuerySet[CitedResult]":
    accelerator, benchmark, state = parameters.accelerator, parameters.benchmark, parameters.state
    rows = CitedResult.objects.select_related("accelerator", "source", "host")
    if state not in CitedResult.State.values:
        raise Refusal(422, f"state must be one of {', '.join(CitedResult.State.values)}, not {state[:40]!r}", "state")
    rows = rows.filter(state=state)
    if state == CitedResult.State.PUBLIC:
        rows = rows.filter(accelerator__is_public=True)
    if benchmark:
        if benchmark not in CITED_BENCHMARKS:
            raise Refusal(
                422, f"unknown benchmark {benchmark[:40]!r}; /api/v1/cited/benchmarks/ lists them", "benchmark"
            )
        rows = rows.filter(benchmark=benchmark)
    if accelerator:
        sheet = Accelerator.objects.filter(slug=accelerator, is_public=True).first()
        if sheet is None:
            raise Refusal(404, f"unknown accelerator {accelerator[:80]!r}", "accelerator")
        rows = rows.filter(accelerator=sheet)
    if parameters.host:
        slug = clean_text(parameters.host)
        host = Host.objects.filter(slug=slug, state=Host.State.PUBLIC).first()
        if host is None:
            raise Refusal(404, f"unknown host {slug[:80]!r}", "host")
        rows = rows.filter(host=host)
    return rows


def _page_after(request: HttpRequest, pk: int) -> str:
    query = request.GET.copy()
    query["after"] = str(pk)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


def _out(request: HttpRequest, row: CitedResult) -> CitedResultOut:
    source: Any = row.source
    host = row.public_host
    sheet = row.accelerator if row.accelerator is not None and row.accelerator.is_public else None
    return CitedResultOut(
        id=row.pk,
        url=request.build_absolute_uri(result_address(row)),
        accelerator=sheet.slug if sheet is not None else None,
        reported_name=row.reported_name,
        count=row.count,
        benchmark=row.benchmark,
        params=row.params,
        case=row.params_key,
        value=row.value,
        unit=row.unit,
        amount=row.amount,
        si_unit=row.si,
        software=row.software,
        date=row.date.isoformat() if row.date else None,
        source=CitedSourceOut(
            key=source.key,
            title=source.title,
            url=source.url,
            kind=source.kind,
            licence=source.licence,
            read_in=source.read_in,
        ),
        note=row.note,
        state=row.state,
        reason=row.reason,
        host=host.slug if host is not None else None,
    )
