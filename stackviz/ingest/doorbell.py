"""Asks a worker to read reports, without making the sender wait or fail: the row in the database is what counts.

Publishing to the broker costs about as much as the INSERT, and a broker that is away costs its time-out. So a thread of
its own does it, with one message for all reports that came in meanwhile. What it cannot deliver it forgets: the
periodic task rings again for rows that wait. One thread per web process, started by its first report.
"""

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from celery import current_app

from stackviz.web.breaker import Breaker

PAUSE_S = 0.1  # between two messages: the first of a while goes out at once, a busy site gathers what comes meanwhile
REPORTS_PER_MESSAGE = 100
REST_S = 15  # after a failure; as often as the periodic task rings anyway
FAREWELL_S = 2.0  # for the last bells of a process that ends

log = logging.getLogger(__name__)


def publish(report_ids: list[str]) -> None:
    """One message for these reports, now, in this thread. Raises whatever the broker's transport raises."""
    from stackviz.ingest.tasks import read_report

    read_report.delay(*report_ids)


class Doorbell:
    """The bells of one process that are still to be rung, and the thread that rings them with `send`."""

    def __init__(self, send: Callable[[list[str]], object]) -> None:
        self.send = send
        self.breaker = Breaker(REST_S)
        self._reset()

    def _reset(self) -> None:
        """As new. Also after a fork: a child has its parent's bells, which the parent rings, and not its thread."""
        self._waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def ring(self, report_id: str) -> None:
        self._waiting.put(report_id)
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._ring_for_ever, name="doorbell", daemon=True)
                self._thread.start()

    def _ring_for_ever(self) -> None:
        while True:
            first = self._waiting.get()
            self._try([first, *self._gathered()])
            time.sleep(PAUSE_S)

    def _gathered(self) -> list[str]:
        """What waits now, at most what fits into a message with the first."""
        gathered: list[str] = []
        while len(gathered) < REPORTS_PER_MESSAGE - 1:
            try:
                gathered.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return gathered

    def _try(self, report_ids: list[str]) -> None:
        if self.breaker.is_open:
            return
        try:
            self.send(report_ids)
        except Exception as error:  # noqa: BLE001 (each transport has its own errors; none may end this thread)
            self.breaker.trip()
            log.warning("the broker is away (%s): reports wait in the database, the next bell in %s s", error, REST_S)

    def farewell(self) -> None:
        """A process that is asked to stop rings its last bells: else these reports would wait for the periodic task."""
        deadline = time.monotonic() + FAREWELL_S
        while time.monotonic() < deadline and (last := self._gathered()):
            self._try(last)


_doorbell = Doorbell(publish)
atexit.register(_doorbell.farewell)
os.register_at_fork(after_in_child=_doorbell._reset)  # noqa: SLF001 (same module)


def ring(report_id: str) -> None:
    """Have this report read soon. Returns at once, whatever the broker does."""
    if current_app.conf.task_always_eager:
        publish([report_id])
    else:
        _doorbell.ring(report_id)


def is_silent() -> bool:
    """Whether the broker failed so lately that ringing is of no use now."""
    return _doorbell.breaker.is_open
