"""What the person who started us sees: one line a step, with what came of it and how long it took."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

NAME_WIDTH = 20
CLEAR_LINE = "\r\033[K"


class Step:
    """One line in the making; set `outcome` to a few words before the step ends."""

    def __init__(self) -> None:
        self.outcome = "done"


class Progress:
    """Writes steps to `out`. On a terminal a line appears when its step begins and is completed in place;
    elsewhere (a pipe, a log, TERM=dumb) a step is one plain line when it is over."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    @contextmanager
    def step(self, name: str, heading: str = "") -> Iterator[Step]:
        """Times what happens inside. An exception ends the line with the word failed and goes on its way.

        `heading`: for a step that prints lines of its own; they stand between it and the outcome.
        """
        started = time.monotonic()
        label = f"  {name:<{NAME_WIDTH}}"
        if heading:
            self._write(f"{label} {heading}\n")
        elif self.is_live:
            self._write(f"{label} ...")
        step = Step()
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
