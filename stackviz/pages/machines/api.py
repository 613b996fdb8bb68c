"""Machines over HTTP, for reading. A private lab's machines are there for its members only; else 404."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema

from stackviz.pages.machines.rows import machines_found, machines_page
from stackviz.records.labs.keys import KeyForbidden, KeyUnknown, reader_of
from stackviz.records.labs.models import Card, Finding, Machine
from stackviz.records.labs.queries import LabReader, Visitor, machine_detail
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import Result
from stackviz.records.series.queries import latest_results
from stackviz.web.http.address import clean_text
from stackviz.web.http.errors import ErrorBody, Refusal
from stackviz.web.http.openapi import link, links, one_of
from stackviz.web.http.rate_limit import RateLimited
from stackviz.web.paging import CUT_PATTERN, Cut, cut_of

router = Router()
MOST_ITEMS = 200
DEEPEST = 1_000_000  # rows skipped: the database reads every one of them
COUNTED = 10_000  # machines that are counted for an answer


class MachineItem(Schema):
    lab: str
    slug: str
    name: str
    subject: str
    url: str
    last_report_at: datetime | None
    accelerators: list[str]


class MachineList(Schema):
    """`items` holds at most `limit` of the machines that match, newest report first; `next`: the address of the rest.

    `count` is of all machines that match. Where there are very many and `is_count_exact` is false, there are more.
    """

    count: int
    is_count_exact: bool
    next: str | None
    items: list[MachineItem]


class CardItem(Schema):
    index: int
    kind: str
    vendor: str
    reported_name: str
    accelerator: str | None
    memory_bytes: int | None
    facts: dict[str, Any]
    absent: dict[str, Any]


class FindingItem(Schema):
    rule: str
    severity: str = Field(json_schema_extra=one_of(Finding.Severity.values))
    component: str
    title: str
    evidence: dict[str, Any]
    explanation: str
    advice: str
    source_title: str
    source_url: str


class ResultItem(Schema):
    """A newest result. `median`, `low`, `high` in `unit`; `rate` in `rate_unit`, None where none follows.

    `set_aside`: why it stands in no chart, ranking or comparison; `flags` and `standing`: the codes behind that.
    """

    benchmark: str
    version: int
    device: str
    card: int | None
    params: dict[str, Any]
    state: str = Field(json_schema_extra=one_of(Result.State.values))
    reason: str
    unit: str
    samples: int
    median: float | None
    low: float | None
    high: float | None
    rate: float | None
    rate_unit: str | None
    share_of_peak: float | None
    remarks: list[str]
    flags: list[str]
    standing: str | None
    set_aside: list[str]
    conditions: dict[str, Any]
    measured_at: datetime
    report: str


class MachineFull(MachineItem):
    facts: dict[str, Any]
    absent: dict[str, Any]
    cards: list[CardItem]
    software: list[dict[str, Any]]
    findings: list[FindingItem]
    results: list[ResultItem]
    results_left_out: int


class MachineFilter(Schema):
    q: str = ""
    accelerator: str = ""
    limit: int = Field(50, ge=1, le=MOST_ITEMS)
    page: str = Field("", pattern=rf"^({CUT_PATTERN})?$", description="Of the address in `next`.")
    offset: int = Field(0, ge=0, le=DEEPEST, description="Machines to skip, without `page`. Deep lists: follow `next`.")


@router.get(
    "/machines/",
    response={200: MachineList, **dict.fromkeys((401, 403, 422, 429), ErrorBody)},
    url_name="machines",
    openapi_extra=links(200, link("stackviz_machines_api_get_machine", lab="/items/0/lab", slug="/items/0/slug")),
)
def list_machines(request: HttpRequest, response: HttpResponse, filters: Query[MachineFilter]) -> dict[str, Any]:
    """Machines by name (`q`) or by the slug of an accelerator in them. Follow `next` for all of them.

    With a lab's key that reads in `Authorization: Bearer aw_…` also those of its private lab. 401, 403: correct the
    key. 429: again after `Retry-After` seconds.
    """
    rows = machines_found(
        _reader(request, response), q=clean_text(filters.q), accelerator=clean_text(filters.accelerator)
    )
    cut = cut_of(filters.page) or Cut(skipped=filters.offset)
    page = machines_page(rows, cut, filters.limit)
    counted = rows.values("pk")[: COUNTED + 1].count()
    listed = cut.skipped + len(page.items) + bool(page.after)
    slugs = _accelerators_in(page.items)
    return {
        "count": counted if counted <= COUNTED else max(COUNTED, listed),
        "is_count_exact": counted <= COUNTED,
        "next": _next_address(request, page.after),
        "items": [_item(machine, slugs.get(machine.latest_snapshot_id, ())) for machine in page.items],
    }


def _reader(request: HttpRequest, response: HttpResponse) -> Visitor:
    """Who asks; what a key reads is stored by no cache. Raises Refusal."""
    try:
        reader = reader_of(request)
    except KeyUnknown as error:
        raise Refusal(401, str(error), "Authorization") from None
    except KeyForbidden as error:
        raise Refusal(403, str(error), "Authorization") from None
    except RateLimited as error:
        raise Refusal(429, str(error), None, error.retry_after_s) from None
    if isinstance(reader, LabReader):
        response["Cache-Control"] = "private, no-store"
    return reader


def _next_address(request: HttpRequest, after: str) -> str | None:
    if not after:
        return None
    query = request.GET.copy()
    query.pop("offset", None)
    query["page"] = after
    return request.build_absolute_uri(f"?{query.urlencode()}")


@router.get(
    "/machines/{lab}/{slug}/",
    response={200: MachineFull, **dict.fromkeys((401, 403, 404, 429), ErrorBody)},
    url_name="machine",
    openapi_extra=links(200, link("stackviz_ingest_api_report_status", report_id="/results/0/report")),
)
def get_machine(request: HttpRequest, response: HttpResponse, lab: str, slug: str) -> dict[str, Any]:
    """One machine as its latest report describes it, with the newest result of each series.

    Of very many series the most recently measured are listed, the others counted in `results_left_out`. A machine of a
    private lab is there for its members and with the lab's key that reads.
    """
    reader = _reader(request, response)
    try:
        detail = machine_detail(reader, lab, slug)
    except Machine.DoesNotExist:
        raise Refusal(404, f"no machine {lab[:80]}/{slug[:80]} here", "slug") from None
    snapshot = detail.snapshot
    results = latest_results([detail.machine])[detail.machine.pk]
    return {
        **_item(detail.machine, filter(None, map(_sheet, detail.cards))),
        "facts": snapshot.facts if snapshot else {},
        "absent": snapshot.absent if snapshot else {},
        "cards": [_card(card) for card in detail.cards],
        "software": snapshot.software if snapshot else [],
        "findings": [_finding(finding) for finding in detail.findings],
        "results": [_result(result) for result in results],
        "results_left_out": results.left_out,
    }


def _accelerators_in(machines: Iterable[Machine]) -> dict[int | None, list[str]]:
    """Snapshot pk -> the slugs of public sheets of its cards. One query, without what the reports say."""
    snapshots = [machine.latest_snapshot_id for machine in machines if machine.latest_snapshot_id is not None]
    cards = Card.objects.filter(snapshot__in=snapshots, accelerator__is_public=True)
    slugs: dict[int | None, list[str]] = defaultdict(list)
    for pk, slug in cards.values_list("snapshot_id", "accelerator__slug") if snapshots else ():
        slugs[pk].append(slug)
    return slugs


def _item(machine: Machine, slugs: Iterable[str]) -> dict[str, Any]:
    return {
        "lab": machine.lab.slug,
        "slug": machine.slug,
        "name": machine.name,
        "subject": machine.subject,
        "url": machine.get_absolute_url(),
        "last_report_at": machine.latest_taken_at,
        "accelerators": sorted(set(slugs)),
    }


def _sheet(card: Card) -> str | None:
    return card.public_sheet.slug if card.public_sheet else None


def _card(card: Card) -> dict[str, Any]:
    names = ("index", "kind", "vendor", "reported_name", "memory_bytes", "facts", "absent")
    return {"accelerator": _sheet(card), **{name: getattr(card, name) for name in names}}


def _finding(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in FindingItem.model_fields}


def _result(result: Measurement) -> dict[str, Any]:
    summary, rate = result.summary, result.rate
    return {
        "benchmark": result.benchmark_key,
        "version": result.version,
        "device": result.device,
        "card": result.card_index,
        "params": dict(result.params),
        "state": result.state,
        "reason": result.reason,
        "unit": result.unit,
        "samples": summary.count if summary else 0,
        "median": summary.median if summary else None,
        "low": summary.low if summary else None,
        "high": summary.high if summary else None,
        "rate": rate.value if rate else None,
        "rate_unit": rate.unit if rate else None,
        "share_of_peak": result.peak.share if result.peak else None,
        "remarks": list(result.remarks),
        "flags": list(result.flags),
        "standing": result.standing,
        "set_aside": list(result.why_set_aside),
        "conditions": dict(result.conditions),
        "measured_at": result.measured_at,
        "report": str(result.report_id),
    }
