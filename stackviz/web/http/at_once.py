"""Work of seconds of which a process does only so much at once: a thread is always left for everybody's pages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stackviz.web.http.rate_limit import RateLimited
from stackviz.web.metrics import count_rate_limited

AGAIN_AFTER_S = 3


class Busy(RateLimited):
    """As much of this work is being done as the process does at once, for whomever."""


class AtOnce:
    """At most `most` threads of the process are in `slot()`; one more is refused: waiting takes a thread too."""

    def __init__(self, name: str, most: int, message: str) -> None:
        self.name, self.message = name, message
        self._free = threading.BoundedSemaphore(most)
        self._of_thread = threading.local()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """For this thread; one inside another is the same. Raises Busy."""
        if getattr(self._of_thread, "is_inside", False):
            yield
            return
        if not self._free.acquire(blocking=False):
            count_rate_limited(self.name)
            raise Busy(self.message, AGAIN_AFTER_S)
        self._of_thread.is_inside = True
        try:
            yield
        finally:
            self._of_thread.is_inside = False
            self._free.release()


# Half of the threads that gunicorn is started with: reading texts, drawing pictures, making files.
COSTLY = AtOnce("at-once", 2, "the site is busy with other texts, pictures and files")
