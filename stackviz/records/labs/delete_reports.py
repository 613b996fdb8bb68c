"""Delete reports with everything read from them, for uploads sent by mistake."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.dispatch import Signal

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Machine, Report, Snapshot


def standing_snapshots(machine: Machine) -> QuerySet[Snapshot]:
    """Those of reports that are not withdrawn, newest first."""
    return Snapshot.objects.filter(machine=machine, report__withdrawal__isnull=True).order_by("-taken_at", "-pk")


def point_at_newest(machines: Collection[int]) -> None:
    """Let these machines show their newest report again, after reports left or came. Locks them, in one order."""
    for machine in Machine.objects.filter(pk__in=machines).order_by("pk").select_for_update(of=("self",)):
        newest = standing_snapshots(machine).first()
        machine.latest_snapshot = newest
        machine.latest_taken_at = newest.taken_at if newest else None
        machine.times_read += 1
        machine.save(update_fields=["latest_snapshot", "latest_taken_at", "times_read"])


# Sent with `report_ids` before reports are deleted; a receiver returns what to call after that, in the transaction.
reports_leave = Signal()
NAMED = 100  # reports of one deletion that the audit log names


@transaction.atomic
def forget_reports(reports: QuerySet[Report]) -> int:
    """Delete these reports. Returns their number; affected machines show their newest remaining report."""
    locked = Report.objects.filter(pk__in=list(reports.values_list("pk", flat=True))).select_for_update()
    leaving = list(locked.order_by("pk").values_list("pk", "machine_id"))
    ids, of_machines = [pk for pk, _machine in leaving], {machine for _pk, machine in leaving}
    all_machines = set(of_machines)
    # Reports, series, machines: in this order they are locked while reports are stored, too (`ingest/store.py`).
    afterwards: list[Any] = [done for _receiver, done in reports_leave.send(Report, report_ids=ids)]
    affected = Machine.objects.filter(latest_snapshot__report__in=ids).order_by("pk")
    machines = [machine.pk for machine in affected.select_for_update(of=("self",))]
    Report.objects.filter(pk__in=ids).delete()
    for done in afterwards:
        done()
    point_at_newest(machines)
    of_machines.difference_update(machines)
    record(
        "report.deleted", f"{len(ids)} reports", reports=[str(pk) for pk in ids[:NAMED]], machines=sorted(all_machines)
    )
    Machine.objects.filter(pk__in=of_machines).update(times_read=F("times_read") + 1)
    return len(ids)
