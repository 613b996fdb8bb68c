"""Whether the site can do its work: database, broker, worker, beat, disk, the report that waits longest."""

import os
import shutil
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Min
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from stackviz.records.labs.models import Report
from stackviz.site.monitoring.heartbeats import Heartbeat, heartbeats, redis_client

CACHED_S = 5
SEEN_WITHIN_S = {"worker": 60, "beat": 150}  # a worker tells every 10 s; beat has something to send every minute
MB = 10**6
_cached: "tuple[float, Readiness] | None" = None


@dataclass(frozen=True, slots=True)
class ReadinessCheck:
    """`reason`: what is wrong and what to do, for whoever runs the site; "" where it holds."""

    name: str
    reason: str = ""

    @property
    def holds(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class Readiness:
    """`waiting`, `oldest_at`: reports that no worker read yet; None where the database cannot say."""

    checks: tuple[ReadinessCheck, ...]
    waiting: int | None
    oldest_at: datetime | None
    processes: tuple[Heartbeat, ...]
    disk_free_bytes: int

    @property
    def is_ready(self) -> bool:
        return all(check.holds for check in self.checks)

    @property
    def oldest_waiting_s(self) -> float:
        return max(0.0, (timezone.now() - self.oldest_at).total_seconds()) if self.oldest_at else 0.0


def readiness() -> Readiness:
    """Return the state, at most CACHED_S old in this process: asking often costs one query in that time."""
    global _cached  # noqa: PLW0603
    if _cached is None or time.monotonic() - _cached[0] > CACHED_S:
        with translation.override("en"):  # programs read it
            _cached = time.monotonic(), look_now()
    return _cached[1]


def look_now() -> Readiness:
    """Return the state of this moment, in the current language. One query."""
    waiting, oldest_at, database = _waiting_reports()
    processes, unread = _seen_processes()
    free = shutil.disk_usage(settings.VAR_DIR).free
    state = Readiness((), waiting, oldest_at, tuple(processes), free)
    checks = (
        ReadinessCheck("database", database),
        ReadinessCheck("broker", _problem_of_broker()),
        *(ReadinessCheck(kind, unread or _problem_of_process(kind, processes)) for kind in SEEN_WITHIN_S),
        ReadinessCheck("disk", _problem_of_disk(free)),
        ReadinessCheck("reports", _problem_of_reports(state)),
    )
    return Readiness(checks, waiting, oldest_at, tuple(processes), free)


def _waiting_reports() -> tuple[int | None, datetime | None, str]:
    """Return how many reports wait, since when, and what is wrong with the database. Waiting rows have an index."""
    received = Report.objects.filter(status=Report.Status.RECEIVED).order_by()
    try:
        counted = received.aggregate(count=Count("pk"), oldest=Min("received_at"))
    except DatabaseError as error:
        return None, None, _("the database cannot be read (%(error)s)") % {"error": type(error).__name__}
    return counted["count"], counted["oldest"], ""


def _problem_of_broker() -> str:
    try:
        if settings.REDIS_URL:
            redis_client(settings.REDIS_URL).ping()
        elif not os.access(Path(settings.VAR_DIR) / "broker" / "queue", os.W_OK):
            return _("the folder of the file broker cannot be written; set REDIS_URL, or start the site with make run")
    except (RedisError, OSError) as error:
        problem = _("the broker does not answer (%(error)s); reports wait in the database")
        return problem % {"error": type(error).__name__}
    return ""


def _seen_processes() -> tuple[list[Heartbeat], str]:
    try:
        return heartbeats(), ""
    except (RedisError, OSError, ValueError, TypeError) as error:
        return [], _("unknown: heartbeats cannot be read (%(error)s)") % {"error": type(error).__name__}


def _problem_of_process(kind: str, processes: list[Heartbeat]) -> str:
    silent_s = min((heartbeat.silent_s for heartbeat in processes if heartbeat.kind == kind), default=None)
    if silent_s is None:
        return _("no %(kind)s was seen in the last day; start one") % {"kind": kind}
    problem = _("%(kind)s not seen for %(seconds)d s; look at its log")
    return problem % {"kind": kind, "seconds": silent_s} if silent_s > SEEN_WITHIN_S[kind] else ""


def _problem_of_disk(free: int) -> str:
    least = settings.READY_DISK_FREE_MB
    problem = _("%(free)d MB left under VAR_DIR, less than %(least)d")
    return problem % {"free": free // MB, "least": least} if free < least * MB else ""


def _problem_of_reports(state: Readiness) -> str:
    waited = state.oldest_waiting_s
    problem = _("a report has waited for %(seconds)d s")
    return problem % {"seconds": waited} if waited > settings.READY_WAITING_S else ""
