"""The upload API: send a report, ask what became of it, fetch the format's JSON Schema."""

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Path, Router, Schema
from ninja.security import HttpBearer
from pydantic import WithJsonSchema

from stackviz.intake.ingest.accept import MachineDeleted, ReportConflict, accept_report, count_upload
from stackviz.intake.ingest.body import read_body
from stackviz.intake.ingest.faults import fault_of
from stackviz.intake.ingest.receipt import Receipt, readable_report, receipt_of, receipt_path, status_path
from stackviz.records.labs.keys import (
    KeyForbidden,
    KeyRefused,
    KeyUnknown,
    Sender,
    WrongMachine,
    authenticate,
    counting_guesses,
    recognise,
)
from stackviz.records.labs.models import AgentKey, Report
from stackviz.report.format import ReportError, ReportTooLarge, json_schema
from stackviz.web.http.errors import Refusal
from stackviz.web.http.openapi import link, one_of
from stackviz.web.http.rate_limit import RateLimited
from stackviz.web.metrics import count_accepted_report

log = logging.getLogger(__name__)
router = Router()

COME_BACK_S = 5  # after a database that is locked or away: long enough for a restart, short for a person who waits
COME_BACK_AFTER_FULL_S = 60  # for room somebody has to care
COME_BACK = "the database is unavailable; nothing was stored, send the same report again"
NO_ROOM = "the site's disk is full; nothing was stored, send the same report again"


@contextmanager
def refusing() -> Iterator[None]:
    """Turn the named errors of an upload into a Refusal; others propagate.

    422 correct the report; 401, 403 correct the key; 409 the id is taken; 413 send less; 415 send JSON; 429 send slower
    and 503 send again: both say when.
    """
    try:
        yield
    except KeyUnknown as error:
        raise Refusal(401, str(error), "Authorization") from None
    except WrongMachine as error:
        raise Refusal(403, str(error), "machine.identity") from None
    except KeyForbidden as error:
        raise Refusal(403, str(error), "Authorization") from None
    except ReportConflict:
        text = "another report has this id: use a new id for each report, and the same id when sending it again"
        raise Refusal(409, text, "id") from None
    except ReportTooLarge as error:
        raise Refusal(413, f"{error.path} {error.problem}", error.path) from None
    except ReportError as error:
        raise Refusal(422, f"{error.path} {error.problem}", error.path) from None
    except RateLimited as error:
        raise Refusal(429, str(error), None, error.retry_after_s) from None
    except Exception as error:
        if not isinstance(error, IntegrityError | MachineDeleted) and fault_of(error) is None:
            raise
        raise _come_back(error) from None


def _come_back(error: Exception) -> Refusal:
    """The refusal of an upload that could not be stored, through no fault of its sender."""
    if isinstance(error, IntegrityError):
        # A row the upload stands on went away between two statements; or a fault of ours, which must be seen.
        log.error("an upload violated a database constraint", exc_info=error)
    else:
        log.warning("an upload could not be stored: %s", error or type(error).__name__)
    if fault_of(error) == Report.Fault.DISK:
        return Refusal(503, NO_ROOM, None, COME_BACK_AFTER_FULL_S)
    return Refusal(503, COME_BACK, None, COME_BACK_S)


class AgentKeyAuth(HttpBearer):
    """`Authorization: Bearer aw_…`, an agent key of a lab or of one machine."""

    def __call__(self, request: HttpRequest) -> Sender:
        with refusing(), counting_guesses(request):
            return recognise(request.headers.get("Authorization", ""))

    def authenticate(self, request: HttpRequest, token: str) -> Sender:  # pragma: no cover
        raise NotImplementedError("__call__ does it, to answer in our own words")


class Stored(Schema):
    """The report is safe. `status_url` says what became of it in JSON, `receipt_url` is a page for people."""

    id: UUID
    status_url: str
    receipt_url: str


class Refused(Schema):
    """What is wrong, and which field of the report (or which header) it is about."""

    error: str
    field: str | None = None


class MachineLink(Schema):
    lab: str
    slug: str
    name: str
    url: str


class StageSchema(Schema):
    name: Literal["received", "stored", "read", "charted"]
    state: Literal["done", "active", "waiting", "failed"]
    at: datetime | None = None
    detail: str = ""


class NoticeSchema(Schema):
    code: str
    where: str = Field(description="path in the report")
    text: str


class PutOff(Schema):
    """Why a report waits though it is in order: the site had a fault of the moment."""

    fault: str = Field(description=f"{', '.join(Report.Fault.values)}")
    text: str
    faults: int = Field(description="how often reading it met such a fault")
    retry_at: datetime = Field(description="when it is tried again")


class ReportStatus(Schema):
    """How far a report came. Final once `status` is read or failed."""

    id: UUID
    status: str = Field(json_schema_extra=one_of(Report.Status.values))
    received_at: datetime
    read_at: datetime | None = None
    error: str = ""
    put_off: PutOff | None = Field(None, description="only while it waits because of a fault of the site")
    machine: MachineLink
    stages: list[StageSchema]
    warnings: list[NoticeSchema]
    unknown_fields: list[str] = Field(description="paths that were stored but not understood")
    unmatched: list[str] = Field(description="card names that no accelerator in the catalogue has")
    results: dict[str, int] = Field(description="results by state: ok, failed, skipped")
    receipt_url: str


_REFUSALS = dict.fromkeys((401, 403, 409, 413, 415, 422, 429, 503), Refused)


@functools.cache
def report_schema() -> dict[str, Any]:
    return dict(json_schema())


@router.post(
    "/reports/",
    auth=AgentKeyAuth(),
    response={202: Stored, 200: Stored, **_REFUSALS},
    url_name="reports",
    summary="Send a report",
    openapi_extra={
        "responses": {
            status: {"links": {"report_status": link("stackviz_ingest_api_report_status", report_id="/id")}}
            for status in (200, 202)
        },
        "requestBody": {
            "required": True,
            "description": "One report, UTF-8 JSON, at most 4 MiB; `Content-Encoding: gzip` is accepted.",
            "content": {"application/json": {"schema": report_schema()}},
        },
    },
)
def send_report(request: HttpRequest) -> HttpResponse:
    """Stores a report as sent; it is read in the background.

    202: stored. 200: was stored before, with the same content. 401, 403: correct the key. 409: the id belongs to
    another report. 413: too big. 415, 422: correct what `field` names. 429, 503: again after `Retry-After` seconds.
    """
    sender: Sender = request.auth  # type: ignore[attr-defined]  # set by ninja from AgentKeyAuth
    with refusing():
        count_upload(sender.key_id)
        accepted = accept_report(sender, *read_body(request))
    if accepted.is_new:
        count_accepted_report()
    here = request.build_absolute_uri("/").rstrip("/")
    stored = {
        "id": str(accepted.report_id),
        "status_url": here + status_path(accepted.report_id, is_public=sender.lab_is_public),
        "receipt_url": here + receipt_path(accepted.report_id, is_public=sender.lab_is_public),
    }
    return JsonResponse(stored, status=202 if accepted.is_new else 200)


@router.get(
    "/reports/{report_id}/",
    response={200: ReportStatus, **dict.fromkeys((404, 429, 503), Refused)},
    url_name="report_status",
)
def report_status(
    request: HttpRequest, report_id: Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"}), Path()]
) -> dict[str, Any]:
    """What became of a report. A private lab's needs the signed link of the upload's answer, or the lab's key.

    429: too many wrong keys from this address; again after `Retry-After` seconds, or with a right one.
    """
    with refusing():
        report = readable_report(request, _uuid(report_id), _sender_or_none(request))
        if report is None:
            raise Refusal(404, "there is no such report, or you may not see it", "id")
        return _status(request, receipt_of(report))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Refusal(404, "there is no such report, or you may not see it", "id") from None


def _sender_or_none(request: HttpRequest) -> Sender | None:
    header = request.headers.get("Authorization", "")
    try:
        with counting_guesses(request):
            return authenticate(header, *AgentKey.Scope.values) if header else None
    except KeyRefused:
        return None


def _status(request: HttpRequest, receipt: Receipt) -> dict[str, Any]:
    report, machine = receipt.report, receipt.report.machine
    lab = machine.lab
    return {
        "id": report.pk,
        "status": report.status,
        "received_at": report.received_at,
        "read_at": report.read_at,
        "error": report.error,
        "put_off": _put_off(receipt),
        "machine": {
            "lab": lab.slug,
            "slug": machine.slug,
            "name": machine.name,
            "url": request.build_absolute_uri(machine.get_absolute_url()),
        },
        "stages": list(receipt.stages),
        "warnings": list(receipt.notices),
        "unknown_fields": report.unknown_fields,
        "unmatched": list(receipt.unmatched),
        "results": receipt.results,
        "receipt_url": request.build_absolute_uri(receipt_path(report.pk, is_public=lab.is_public)),
    }


def _put_off(receipt: Receipt) -> dict[str, Any] | None:
    report = receipt.report
    if not receipt.is_put_off:
        return None
    text = report.get_fault_display()
    return {"fault": report.fault, "text": text, "faults": report.faults, "retry_at": report.retry_at}


@router.get("/schema/report.json", url_name="report_schema", summary="JSON Schema of a report")
def schema(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (ninja's signature)
    """What a report may hold, as JSON Schema 2020-12. docs/wire-format.md says it in prose."""
    return JsonResponse(report_schema(), content_type="application/schema+json")
