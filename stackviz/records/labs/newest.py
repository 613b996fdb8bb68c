"""Which snapshot a machine shows: the newest of a report that is not withdrawn."""

from collections.abc import Collection

from django.db.models import QuerySet

from stackviz.records.labs.models import Machine, Snapshot


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
