"""Output for terminals: progress on standard error, one line that moves; printable lines and JSON."""

import json
import re
import shutil
import sys
from types import TracebackType
from typing import Any, TextIO

__all__ = ["Progress", "printable", "terminal_json"]

# Python escapes those below U+0020 itself. These move a terminal's cursor, end its line or turn its text around.
_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def terminal_json(document: Any) -> str:  # noqa: ANN401 (whatever JSON holds)
    """The document, indented, its letters as they are; what controls a terminal is escaped, and read back the same."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable(line: str) -> str:
    """The line with "?" for what moves the cursor, changes the terminal or turns the direction of the text."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)


_BAR_CHARS = 24


class Progress:
    """Says what is being done. `with` leaves the terminal's line clean, whatever happens inside."""

    def __init__(self, stream: TextIO | None = None, *, is_quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._is_quiet = is_quiet
        self._moves = not is_quiet and self._stream.isatty()
        self._has_bar = False
        self._last = ""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._clear()

    def say(self, text: str) -> None:
        """One line that stays."""
        if self._is_quiet:
            return
        self._clear()
        print(text, file=self._stream, flush=True)

    def step(self, done: int, total: int, what: str, left_s: float | None) -> None:
        """Show progress. On a terminal the line is overwritten; elsewhere each step is printed once."""
        if self._moves:
            self._draw(done, total, what, left_s)
        elif what != self._last:
            self._last = what
            self.say(f"[{done}/{total}] {what}")

    def _draw(self, done: int, total: int, what: str, left_s: float | None) -> None:
        filled = round(_BAR_CHARS * done / total) if total else 0
        bar = "#" * filled + "-" * (_BAR_CHARS - filled)
        left = "" if left_s is None else f", {_span(left_s)} left"
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{f'[{bar}] {done}/{total} {what}{left}'[:width]}", end="", file=self._stream, flush=True)
        self._has_bar = True

    def _clear(self) -> None:
        if self._has_bar:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
            self._has_bar = False


def _span(seconds: float) -> str:
    """About how long, in the unit people would use: a precise countdown would promise too much."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min"
