"""Progress on the terminal: one line per step, with its outcome and duration."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

NAME_WIDTH = 20
CLEAR_LINE = "\r\033[K"


class StartStep:
    """A running step; set `outcome` to a few words before it ends."""

    def __init__(self) -> None:
        self.outcome = "done"


class StartProgress:
    """Writes steps to `out`: on a terminal, a line that is completed in place; elsewhere, a line at the end of each."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    @contextmanager
    def step(self, name: str, heading: str = "") -> Iterator[StartStep]:
        """Time the block. An exception sets the outcome to "failed" or "stopped" and propagates.

        `heading`: text for a step that prints lines itself; they appear between the heading and the outcome.
        """
        started = time.monotonic()
        label = f"  {name:<{NAME_WIDTH}}"
        if heading:
            self._write(f"{label} {heading}\n")
        elif self.is_live:
            self._write(f"{label} ...")
        step = StartStep()
        try:
            yield step
        except BaseException as problem:
            step.outcome = "failed" if isinstance(problem, Exception) else "stopped"
            raise
        finally:
            seconds = time.monotonic() - started
            back = CLEAR_LINE if self.is_live and not heading else ""
            self._write(f"{back}{label} {step.outcome} ({seconds:.1f} s)\n")

    def say(self, text: str = "") -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()
