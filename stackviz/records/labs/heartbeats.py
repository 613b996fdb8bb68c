"""Signs of life of agents that stay: written as they come, and which machines have fallen silent since."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from stackviz.records.labs.models import AgentHeartbeat, Lab, Machine

SHORTEST_S = 10 * 60
LONGEST_S = 30 * 24 * 3600
BUSY_CHARS = 200
# Silent is who missed two turns and an hour: one turn may be skipped, and a site may be down for a while.
TURNS_MISSED = 2
GRACE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOfLife:
    """What is known of the agent that stays on a machine. `silent_since` None: it is heard of as it promised.

    `silence`: how long nothing was heard. `silent_since`: when that began to count, which is later than `heard_at`.
    """

    heard_at: datetime
    every: timedelta
    busy: str
    silent_since: datetime | None
    silence: timedelta

    @property
    def is_silent(self) -> bool:
        return self.silent_since is not None


def note_heartbeat(machine_id: int, key_id: int, every_s: int, busy: str = "") -> datetime:
    """Write that a machine was heard of just now -> when it counts as silent. One statement."""
    beat = AgentHeartbeat(machine_id=machine_id, key_id=key_id, heard_at=timezone.now(), every_s=every_s, busy=busy)
    AgentHeartbeat.objects.bulk_create(
        [beat],
        update_conflicts=True,
        unique_fields=["machine"],
        update_fields=["key", "heard_at", "every_s", "busy"],
    )
    return silent_from(beat)


def silent_from(beat: AgentHeartbeat) -> datetime:
    """When its silence counts as one, if nothing more is heard."""
    return beat.heard_at + TURNS_MISSED * timedelta(seconds=beat.every_s) + GRACE


def sign_of_life(beat: AgentHeartbeat, now: datetime) -> SignOfLife:
    since = silent_from(beat)
    return SignOfLife(
        heard_at=beat.heard_at,
        every=timedelta(seconds=beat.every_s),
        busy=beat.busy,
        silent_since=since if since <= now else None,
        silence=now - beat.heard_at,
    )


def signs_of_life(machines: Iterable[Machine], now: datetime | None = None) -> dict[int, SignOfLife]:
    """Machine pk -> what its agent that stays last said; machines without one are missing. One query."""
    now = now or timezone.now()
    beats = AgentHeartbeat.objects.filter(machine__in=[machine.pk for machine in machines])
    return {beat.machine_id: sign_of_life(beat, now) for beat in beats}


def silent_machines(lab: Lab, now: datetime | None = None) -> list[tuple[Machine, SignOfLife]]:
    """Machines of a lab whose agent stays and has fallen silent, the longest silence first. One query."""
    now = now or timezone.now()
    beats = AgentHeartbeat.objects.filter(
        machine__lab=lab, machine__merged_into__isnull=True, heard_at__lte=now - GRACE
    ).select_related("machine")
    signs = []
    for beat in beats:
        beat.machine.lab = lab
        signs.append((beat.machine, sign_of_life(beat, now)))
    return [(machine, sign) for machine, sign in signs if sign.is_silent]


def expect_no_more(machine: Machine) -> None:
    """Forget that its agent stays, as of a machine that was taken down; the next sign of life starts it anew."""
    AgentHeartbeat.objects.filter(machine=machine).delete()
