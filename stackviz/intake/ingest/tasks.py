"""Background work of the inbox: its tasks, and how a report is queued for one without making the sender wait or fail.

A task takes ids, makes one call, returns a short text; the row in the database is what counts. Publishing to the broker
costs about as much as the INSERT, and an unreachable broker costs its time-out. So a thread of the web process
publishes, one message for all reports that came in meanwhile. What it cannot deliver it drops: the periodic task queues
waiting rows again. One thread per web process, started by its first report.
"""

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from celery import current_app, shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, Q
from django.utils import timezone

from stackviz.intake.ingest.body import drop_old_bodies
from stackviz.intake.ingest.faults import LONGEST_RETRY_S
from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs.models import Report
from stackviz.web.http.circuit_breaker import Breaker
from stackviz.web.http.request_ids import current_request_id, request_id_set
from stackviz.web.metrics import count_interpreted_reports, count_queue_failure

REQUEUED_AT_ONCE = 1_000  # reports that one turn of the periodic task queues, the longest waiting first


@shared_task(
    autoretry_for=(OperationalError, InterfaceError),  # a database that is away, so that nothing could be put off
    retry_backoff=True,
    retry_backoff_max=60,
    max_retries=5,
    acks_late=True,  # with the next line: a message outlives the worker that dies over it
    reject_on_worker_lost=True,
)
def read_report(*report_ids: str) -> str:
    """Read these reports, many in a transaction. Doing it twice, or for one that is read, does nothing."""
    statuses = interpret_all(report_ids)
    count_interpreted_reports(statuses)
    return " ".join(statuses)


@shared_task(ignore_result=True)
def requeue_waiting_reports() -> str:
    """Queue reports again that no worker read: their message was lost with a broker or worker, or never sent; and those
    that a fault of the site had put off until now. A time far ahead is of a clock that was set back since: it counts as
    past.

    One message for each that was begun before: should it kill its reader again, it takes no other with it.
    """
    now = timezone.now()
    again_after, longest_retry = timedelta(seconds=settings.REQUEUE_AFTER_S), timedelta(seconds=LONGEST_RETRY_S)
    waiting = Report.objects.filter(
        Q(queued_at__isnull=True) | Q(queued_at__lte=now - again_after) | Q(queued_at__gt=now + again_after),
        Q(retry_at__isnull=True) | Q(retry_at__lte=now) | Q(retry_at__gt=now + longest_retry),
        status=Report.Status.RECEIVED,
    )
    longest_waiting = F("queued_at").asc(nulls_first=True)  # never queued at all; databases differ in where NULLs go
    due_reports = list(waiting.order_by(longest_waiting).values_list("pk", "tries")[:REQUEUED_AT_ONCE])
    ids = [pk for pk, _tries in due_reports]
    # Marked first: a broker that fails halfway leaves the rest to a later turn, and no report is queued twice at once.
    Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED).update(queued_at=now, retry_at=None)
    fresh = [str(pk) for pk, tries in due_reports if not tries]
    for start in range(0, len(fresh), REPORTS_PER_MESSAGE):
        read_report.delay(*fresh[start : start + REPORTS_PER_MESSAGE])
    for pk in (pk for pk, tries in due_reports if tries):
        read_report.delay(str(pk))
    return f"{len(ids)} queued"


@shared_task(ignore_result=True)
def drop_old_raw_reports() -> str:
    """Drop the bodies of reports that are older than RAW_REPORT_DAYS; none where it is 0."""
    return f"{drop_old_bodies()} dropped"


# --- the queue of a web process ---

PAUSE_S = 0.1  # between two messages: the first of a while goes out at once, a busy site gathers what comes meanwhile
REPORTS_PER_MESSAGE = 100
REST_S = 15  # after a failure; as often as the periodic task runs anyway
FLUSH_S = 2.0  # for the last messages of a process that ends

log = logging.getLogger(__name__)


def publish(report_ids: list[str]) -> None:
    """One message for these reports, now, in this thread. Raises whatever the broker's transport raises."""
    read_report.delay(*report_ids)


class ReportQueue:
    """The reports of one process that are not published yet, and the thread that publishes them with `send`."""

    def __init__(self, send: Callable[[list[str]], object]) -> None:
        self.send = send
        self.breaker = Breaker(REST_S)
        self._reset()

    def _reset(self) -> None:
        """As new. Also after a fork: a child has its parent's queue, which the parent empties, and not its thread."""
        self._waiting: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()  # report, request
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, report_id: str) -> None:
        self._waiting.put((report_id, current_request_id()))
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._publish_for_ever, name="report-queue", daemon=True)
                self._thread.start()

    def _publish_for_ever(self) -> None:
        while True:
            first = self._waiting.get()
            self._try([first, *self._gather()])
            time.sleep(PAUSE_S)

    def _gather(self) -> list[tuple[str, str]]:
        """What waits now, at most what fits into a message with the first."""
        gathered: list[tuple[str, str]] = []
        while len(gathered) < REPORTS_PER_MESSAGE - 1:
            try:
                gathered.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return gathered

    def _try(self, waiting: list[tuple[str, str]]) -> None:
        if self.breaker.is_open:
            return
        requests = dict.fromkeys(request_id for _report_id, request_id in waiting)
        try:
            with request_id_set(",".join(requests)):
                self.send([report_id for report_id, _request_id in waiting])
        except Exception as error:  # noqa: BLE001 (each transport has its own errors; none may end this thread)
            self.breaker.trip()
            count_queue_failure()
            log.warning(
                "broker unreachable (%s); reports stay queued in the database, next attempt in %s s", error, REST_S
            )

    def flush(self) -> None:
        """Publish what waits before the process ends: else these reports would wait for the periodic task."""
        deadline = time.monotonic() + FLUSH_S
        while time.monotonic() < deadline and (last := self._gather()):
            self._try(last)


_queue = ReportQueue(publish)
atexit.register(_queue.flush)
os.register_at_fork(after_in_child=_queue._reset)  # noqa: SLF001 (same module)


def enqueue(report_id: str) -> None:
    """Have this report read soon. Returns at once, whatever the broker does."""
    if current_app.conf.task_always_eager:
        publish([report_id])
    else:
        _queue.put(report_id)


def is_broker_unreachable() -> bool:
    """Whether the broker failed within the last REST_S, so that nothing can be queued now."""
    return _queue.breaker.is_open
