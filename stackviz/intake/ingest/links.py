"""Addresses of a report's receipt and status. A private lab's carry a signature: who has the link may look."""

from uuid import UUID

from django.core.signing import Signer
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from stackviz.records.labs.keys import Sender
from stackviz.records.labs.models import Report
from stackviz.records.labs.queries import Visitor, visible_reports
from stackviz.web.reverse import address_by_id

TOKEN = "t"  # noqa: S105 (the name in the query string, no password)
_signer = Signer(salt="stackviz.ingest.receipt")


def token(report_id: UUID) -> str:
    return _signer.signature(str(report_id))


def receipt_path(report_id: UUID, *, is_public: bool) -> str:
    return _path("ingest:receipt", report_id, is_public=is_public)


def status_path(report_id: UUID, *, is_public: bool) -> str:
    return _path("api:report_status", report_id, is_public=is_public)


def _path(name: str, report_id: UUID, *, is_public: bool) -> str:
    signature = "" if is_public else f"?{TOKEN}={token(report_id)}"
    return f"{address_by_id(name, report_id)}{signature}"


def readable_report(request: HttpRequest, report_id: UUID, sender: Sender | None = None) -> Report | None:
    """The report, if this request may see it: a public lab's, a member's, with a signed link, or its lab's own key.

    None otherwise, the same as for a report that does not exist. The body is left in the database.
    """
    report = Report.objects.select_related("machine__lab").defer("body").filter(pk=report_id).first()
    if report is None or report.machine.lab.is_public or _is_signed(request, report_id):
        return report
    if sender is not None and sender.speaks_for(report.machine):
        return report
    user: Visitor = request.user
    return report if visible_reports(user).filter(pk=report_id).exists() else None


def _is_signed(request: HttpRequest, report_id: UUID) -> bool:
    given = request.GET.get(TOKEN, "")
    return bool(given) and constant_time_compare(given, token(report_id))
