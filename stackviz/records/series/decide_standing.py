"""What people decide about results and reports: accept, withdraw, supersede. Each decision is a row that stays."""

from collections.abc import Collection
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.delete_reports import point_at_newest
from stackviz.records.labs.models import Lab, Report, ReportWithdrawal
from stackviz.records.labs.queries import Visitor, is_staff_who_may, owns_lab
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.rollup import refresh
from stackviz.records.series.standing import Standing

REASON_CHARS = 300


def checked_reason(reason: str) -> str:
    """The reason without needless white space. Raises ValidationError."""
    reason = " ".join(reason.replace("\0", "").split())
    if not reason:
        raise ValidationError({"reason": _("Give the reason.")})
    if len(reason) > REASON_CHARS:
        raise ValidationError({"reason": _("The reason is too long: at most %(n)d characters.") % {"n": REASON_CHARS}})
    return reason


@transaction.atomic
def record_decision(
    result: Result,
    standing: Standing,
    reason: str,
    by: Visitor,
    replaced_by: Report | None = None,
) -> ResultDecision:
    """Record a decision and let it hold. Raises ValidationError naming the field.

    The row of the report is locked first, as it is while the report is read again: the decision is either carried over
    to the rows written then, or changes them. A decision that repeats the newest one is that one.
    """
    reason = checked_reason(reason)
    if replaced_by is not None and replaced_by.pk == result.report_id:
        raise ValidationError({"replaced_by": _("A report does not supersede itself.")})
    report = Report.objects.select_for_update().only("pk", "withdrawal").get(pk=result.report_id)
    if report.withdrawal is not None:
        raise ValidationError(_("The whole report is withdrawn. Restore it before deciding about its results."))
    newest = ResultDecision.objects.filter(report=result.report_id, position=result.position).order_by("pk").last()
    if newest is not None and newest.says(standing, reason, replaced_by):
        result.standing = standing
        return newest
    decided = Result.objects.filter(report_id=result.report_id, position=result.position)
    decided.update(standing=standing)
    refresh(decided.values_list("series_id", flat=True))
    result.standing = standing
    record(f"result.{standing}", f"result {result.position} of report {result.report_id}", by, reason=reason)
    return ResultDecision.objects.create(
        report_id=result.report_id,
        position=result.position,
        standing=standing,
        reason=reason,
        by_id=by.pk,
        replaced_by=replaced_by,
    )


def decided_standings(reports: Collection[UUID]) -> dict[tuple[UUID, int], str]:
    """(report, position in it) -> the standing a person decided last. One query."""
    rows = ResultDecision.objects.filter(report__in=reports).order_by("pk")
    decided = rows.values_list("report_id", "position", "standing")
    return {(report, position): standing for report, position, standing in decided}


# --- whole reports ---


def may_decide_about(user: Visitor, lab: Lab) -> bool:
    """Whether this person may withdraw reports and results of the lab: its owners and staff. One query at most."""
    return may_undo_withdrawals(user) or owns_lab(user, lab)


def may_undo_withdrawals(user: Visitor) -> bool:
    """Staff who may decide about results."""
    return is_staff_who_may(user, "benchmarks.change_result")


@transaction.atomic
def withdraw_report(report: Report, reason: str, by: Visitor, replaced_by: Report | None = None) -> ReportWithdrawal:
    """Withdraw the report, or let a later one of the same machine supersede it. Raises ValidationError.

    Sent twice it is withdrawn once: a second withdrawal is refused while the first one stands.
    """
    reason = checked_reason(reason)
    locked = Report.objects.select_for_update(of=("self",)).defer("body").get(pk=report.pk)
    if locked.withdrawal is not None:
        raise ValidationError(_("This report is withdrawn already."))
    if replaced_by is not None:
        _check_replacement(locked, replaced_by)
    locked.withdrawal = Report.Withdrawal.SUPERSEDED if replaced_by else Report.Withdrawal.WITHDRAWN
    locked.save(update_fields=["withdrawal"])
    made = ReportWithdrawal.objects.create(report=locked, reason=reason, replaced_by=replaced_by, made_by_id=by.pk)
    results = Result.objects.filter(report=locked)
    results.update(standing=locked.withdrawal)
    refresh(set(results.values_list("series_id", flat=True)))
    point_at_newest([locked.machine_id])
    record(f"report.{locked.withdrawal}", f"report {locked.pk}", by, reason=reason)
    return made


@transaction.atomic
def restore_report(report: Report, by: Visitor) -> None:
    """Let the report count again, each result as it did before. Raises ValidationError."""
    locked = Report.objects.select_for_update(of=("self",)).defer("body").get(pk=report.pk)
    if locked.withdrawal is None:
        raise ValidationError(_("This report is not withdrawn."))
    locked.withdrawal = None
    locked.save(update_fields=["withdrawal"])
    standing = ReportWithdrawal.objects.filter(report=locked, undone_at__isnull=True)
    standing.update(undone_at=timezone.now(), undone_by_id=by.pk)
    results = Result.objects.filter(report=locked)
    results.update(standing=None)
    results.exclude(flags="").filter(flags__isnull=False).update(standing=Standing.FLAGGED)
    for (_report, position), decided in decided_standings([locked.pk]).items():
        results.filter(position=position).update(standing=decided)
    refresh(set(results.values_list("series_id", flat=True)))
    point_at_newest([locked.machine_id])
    record("report.restored", f"report {locked.pk}", by)


def _check_replacement(report: Report, later: Report) -> None:
    if later.pk == report.pk:
        raise ValidationError({"replaced_by": _("A report does not supersede itself.")})
    if later.machine_id != report.machine_id or later.received_at <= report.received_at or later.withdrawal:
        raise ValidationError({"replaced_by": _("Name a later report of the same machine that is not withdrawn.")})
