"""A lab takes a report back, or says which later one supersedes it; staff can undo it.

A withdrawn report stays, with its receipt and the reason. Its results leave every chart, best and baseline; its
snapshot and findings are no longer what the machine shows. The rows say so: reading it again changes nothing.
"""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Report, ReportWithdrawal
from stackviz.records.labs.newest import point_at_newest
from stackviz.records.labs.queries import Visitor
from stackviz.records.labs.rights import is_staff_who_may, owns_lab
from stackviz.records.series.decide import decided_standings
from stackviz.records.series.models import Result
from stackviz.records.series.reason import checked_reason
from stackviz.records.series.rollup import refresh
from stackviz.records.series.standing import Standing


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
