"""Until when a text is read: whoever works on one asks between pieces of the work, and leaves the rest out in time."""

import time
from collections.abc import Callable

__all__ = ["NEVER", "Deadline", "DeadlinePassed"]

_worked: Callable[[], float] = getattr(time, "thread_time", time.process_time)  # not every system counts by thread


class DeadlinePassed(Exception):
    """The work was not done in time, and half of it is of no use."""


class Deadline:
    """So many seconds of work from now on. Nothing is interrupted, no signal sent, no thread ended.

    Seconds of the processor in this thread: a machine that is busy with other things leaves nothing out. To be asked in
    the thread that made it.
    """

    __slots__ = ("_end", "_start")

    def __init__(self, seconds: float) -> None:
        self._start = _worked()
        self._end = self._start + seconds

    @property
    def is_over(self) -> bool:
        return _worked() >= self._end

    @property
    def spent_s(self) -> float:
        return _worked() - self._start

    def share(self, part: float) -> "Deadline":
        """A deadline for the next step: it may take this part of what is left."""
        return Deadline(max(0.0, self._end - _worked()) * part)

    def check(self) -> None:
        """Raises DeadlinePassed where it is over."""
        if self.is_over:
            raise DeadlinePassed


NEVER = Deadline(float("inf"))
"""For who waits for nobody else: the agent, on its own machine."""
