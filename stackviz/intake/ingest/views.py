"""The receipt page of an upload, which fills in while a worker reads the report."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from stackviz.intake.ingest.receipt import readable_report, receipt_of
from stackviz.records.labs.models import Report, ReportWithdrawal
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.decide_standing import (
    may_decide_about,
    may_undo_withdrawals,
    restore_report,
    withdraw_report,
)
from stackviz.web.http.htmx import vary_on_htmx, wants_partial


@require_safe
@never_cache
@vary_on_htmx
def receipt(request: HttpRequest, report_id: UUID) -> HttpResponse:
    report = report_to_decide(request, report_id)
    if report is None:
        raise Http404
    template = "ingest/_receipt.html" if wants_partial(request) else "ingest/receipt.html"
    context = {
        "receipt": receipt_of(report),
        "address": request.get_full_path(),
        "report": report,
        "rights": rights_about(request.user, report),
    }
    return render(request, template, context)


# --- withdrawing ---

LATER_OFFERED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRights:
    """What a receipt shows of withdrawing. `standing`: the withdrawal that holds."""

    standing: ReportWithdrawal | None
    may_withdraw: bool
    may_restore: bool


def rights_about(user: Visitor, report: Report) -> ReceiptRights:
    """Two queries at most; none for visitors of a report that counts."""
    is_withdrawn = report.withdrawal is not None
    rows = report.withdrawals.filter(undone_at__isnull=True).select_related("replaced_by")
    return ReceiptRights(
        standing=rows.defer("replaced_by__body").first() if is_withdrawn else None,
        may_withdraw=not is_withdrawn and may_decide_about(user, report.machine.lab),
        may_restore=is_withdrawn and may_undo_withdrawals(user),
    )


def report_to_decide(request: HttpRequest, report_id: UUID) -> Report | None:
    """As `readable_report`; staff who decide about results decide about those of private labs, too."""
    report = readable_report(request, report_id)
    if report is None and may_undo_withdrawals(request.user):
        return Report.objects.select_related("machine__lab").defer("body").filter(pk=report_id).first()
    return report


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw_page(request: HttpRequest, report_id: UUID) -> HttpResponse:
    """A GET asks for the reason, and says what follows."""
    report = report_to_decide(request, report_id)
    if report is None:
        raise Http404
    if not may_decide_about(request.user, report.machine.lab):
        raise PermissionDenied
    problems: list[str] = []
    if request.method == "POST":
        try:
            _withdraw(request, report)
        except ValidationError as error:
            problems = error.messages
        else:
            messages.success(request, _("The report no longer counts. The reason is in the log."))
            return redirect("ingest:receipt", report_id)
    elif report.withdrawal is not None:
        return redirect("ingest:receipt", report_id)
    later = Report.objects.filter(machine=report.machine, received_at__gt=report.received_at, withdrawal__isnull=True)
    context = {
        "report": report,
        "problems": problems,
        "later": later.defer("body").order_by("-received_at")[:LATER_OFFERED],
        "posted": request.POST,
    }
    return render(request, "ingest/withdraw.html", context, status=422 if problems else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def restore_page(request: HttpRequest, report_id: UUID) -> HttpResponse:
    """A GET, from whoever had to log in first, only leads back to the receipt."""
    report = report_to_decide(request, report_id)
    if report is None:
        raise Http404
    if request.method == "POST":
        if not may_undo_withdrawals(request.user):
            raise PermissionDenied
        try:
            restore_report(report, request.user)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, _("The report counts again."))
    return redirect("ingest:receipt", report_id)


def _withdraw(request: HttpRequest, report: Report) -> None:
    wanted = request.POST.get("replaced_by", "").strip()
    later = None
    if wanted:
        try:
            later = Report.objects.defer("body").filter(pk=UUID(wanted), machine=report.machine).first()
        except ValueError:
            later = None
        if later is None:
            raise ValidationError(_("Name a later report of the same machine that is not withdrawn."))
    withdraw_report(report, request.POST.get("reason", ""), request.user, later)
