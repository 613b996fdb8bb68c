"""Delete what is old: the list of its kinds, for the nightly task and for `manage.py delete_old`."""

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from stackviz.intake.ingest.body import drop_old_bodies, old_bodies
from stackviz.intake.notices.models import LabEvent
from stackviz.intake.notices.note_events import SILENCE_IS_NEWS_FOR
from stackviz.pages.data.dump import delete_old_dumps, old_dump_names
from stackviz.pages.diagnose.links import delete_expired
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.records.audit.models import AuditEntry
from stackviz.records.series.delete_results import delete_results_before, results_before

ROWS_TOGETHER = 5_000  # deleted in one transaction


@dataclass(frozen=True, slots=True)
class Retained:
    """Something with an age. `setting`: how many days it stays, 0 for ever; "": each has an end of its own.

    `old` and `delete` take the moment before which it is old; `delete` returns how many there were.
    """

    name: str
    setting: str
    old: Callable[[datetime], QuerySet[Any] | Sized]
    delete: Callable[[datetime], int]

    @property
    def before(self) -> datetime | None:
        """The moment before which things are deleted; None: nothing is."""
        days = getattr(settings, self.setting) if self.setting else 0
        if self.setting and not days:
            return None
        return timezone.now() - timedelta(days=days)

    def count(self, before: datetime) -> int:
        rows = self.old(before)
        return rows.count() if isinstance(rows, QuerySet) else len(rows)


@dataclass(frozen=True, slots=True)
class Old:
    """The number of old things of one kind. `before` None: this site stores them for ever."""

    retained: Retained
    before: datetime | None
    count: int


def look_for_old() -> Iterator[Old]:
    """Yield what `delete_old` would delete. Changes nothing."""
    for retained in RETAINED:
        before = retained.before
        yield Old(retained, before, retained.count(before) if before else 0)


def delete_old() -> Iterator[Old]:
    """Delete it -> how many of each. Safe to run at any time, and again after it was interrupted."""
    for retained in RETAINED:
        before = retained.before
        yield Old(retained, before, retained.delete(before) if before else 0)


def _audit(before: datetime) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(at__lt=before)


def _admin_log(before: datetime) -> QuerySet[LogEntry]:
    return LogEntry.objects.filter(action_time__lt=before)


def _events(before: datetime) -> QuerySet[LabEvent]:
    """Exclude the time in which a silence is news: it would be noted again."""
    return LabEvent.objects.filter(noted_at__lt=min(before, timezone.now() - SILENCE_IS_NEWS_FOR))


def _key_batches(rows: QuerySet[Any]) -> Iterator[list[int]]:
    """Yield the keys of ROWS_TOGETHER rows, and of the next when these are deleted, until none is left."""
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS_TOGETHER]):
        yield keys


def _delete_rows(rows: QuerySet[AuditEntry] | QuerySet[LogEntry]) -> int:
    """Delete rows that nothing refers to, a statement for each batch, past models that refuse to be deleted."""
    deleted = 0
    for keys in _key_batches(rows):
        part = rows.model._base_manager.filter(pk__in=keys)  # noqa: SLF001 (Django's documented API)
        deleted += QuerySet._raw_delete(part, part.db)  # noqa: SLF001 (see above)
    return deleted


def _delete_events(rows: QuerySet[LabEvent]) -> int:
    """Delete events in batches, with the deliveries that name them."""
    deleted = 0
    for keys in _key_batches(rows):
        LabEvent.objects.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def _log_files(before: datetime) -> list[Path]:
    """Logs of earlier starts of `make run`; the present ones are written to."""
    logs = (Path(settings.VAR_DIR) / "log").glob("*.log.1")
    return [log for log in logs if log.stat().st_mtime < before.timestamp()]


def _delete_log_files(before: datetime) -> int:
    files = _log_files(before)
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def _links(now: datetime) -> QuerySet[PrivateLink]:
    return PrivateLink.objects.filter(expires_at__lte=now)


def _sessions(now: datetime) -> QuerySet[Session]:
    return Session.objects.filter(expire_date__lt=now)


RETAINED = (
    Retained("raw reports", "RAW_REPORT_DAYS", old_bodies, lambda _before: drop_old_bodies()),
    Retained("results", "RESULT_DAYS", results_before, delete_results_before),
    Retained("private links of Diagnose", "", _links, lambda _now: delete_expired()),
    Retained("dumps of the public data", "DATA_DAYS", old_dump_names, delete_old_dumps),
    Retained("entries of the audit log", "AUDIT_DAYS", _audit, lambda before: _delete_rows(_audit(before))),
    Retained("entries of the admin's log", "AUDIT_DAYS", _admin_log, lambda before: _delete_rows(_admin_log(before))),
    Retained("events of labs", "EVENT_DAYS", _events, lambda before: _delete_events(_events(before))),
    Retained("log files of earlier starts", "LOG_DAYS", _log_files, _delete_log_files),
    Retained("sessions that have ended", "", _sessions, lambda now: _sessions(now).delete()[0]),
)
