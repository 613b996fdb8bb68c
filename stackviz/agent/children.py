"""Run a part of the agent in its own process with a time limit: a hang or crash affects nothing else.

The child gets its input as JSON on standard input and writes its answer into a file; its output is only used as the
last lines of a failure. Works from a folder and from the single-file agent.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stackviz

__all__ = ["Ended", "answer_in_file", "run_child"]

_LAST_WORDS_BYTES = 4000
_AFTER_KILL_S = 2.0
_LOOK_EVERY_S = 0.05

# -P: a file in the current folder must not stand in for a module. The path is where this agent itself lies.
_START = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module(sys.argv[2], run_name='__main__')"


@dataclass(frozen=True)
class Ended:
    """How a child ended. `lines`: the JSON values it wrote, in order; a torn last line is left out."""

    state: str  # ok, failed, timeout
    detail: str | None
    lines: tuple[Any, ...]
    duration_s: float


def run_child(
    module: str,
    given: object,
    timeout_s: float,
    watch: Callable[[Any], None] | None = None,
) -> Ended:
    """Run a module as a child and collect the JSON lines it writes; `watch` sees each as it comes.

    The child and all it started are killed at the end of the time, and when we are interrupted.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="accelweb-agent-", ignore_cleanup_errors=True) as folder:
        answer, words = Path(folder) / "answer.jsonl", Path(folder) / "words"
        answer.touch()
        with words.open("wb") as printed:
            child = _start(module, answer, printed)
        feeder = threading.Thread(target=_feed, args=(child, given), daemon=True)
        feeder.start()
        reader = _LineReader(answer, watch)
        try:
            in_time = _wait(child, started + timeout_s, reader)
        finally:
            _end(child)
        reader.read()
        state, detail = _outcome(child.returncode, in_time=in_time, timeout_s=timeout_s, words=_last_words(words))
        return Ended(state, detail, tuple(reader.lines), time.monotonic() - started)


def _start(module: str, answer: Path, printed: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - an open file
    home = str(Path(next(iter(stackviz.__path__))).parent)
    environ = {**os.environ, "ACCELWEB_ANSWER": str(answer), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, home, module],
        stdin=subprocess.PIPE,
        stdout=printed,
        stderr=printed,
        env=environ,
        start_new_session=True,  # a group of its own, so that all of it can be ended
    )


def _feed(child: subprocess.Popen[bytes], given: object) -> None:
    with suppress(OSError, ValueError):  # a child that died early reads nothing
        if child.stdin:
            child.stdin.write(json.dumps(given).encode())
            child.stdin.close()


def _wait(child: subprocess.Popen[bytes], until: float, reader: "_LineReader") -> bool:
    while child.poll() is None:
        reader.read()
        left = until - time.monotonic()
        if left <= 0:
            return False
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(_LOOK_EVERY_S, left))
    return True


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child's whole group. A child stuck in a driver may not end even so: then it is left behind."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    with suppress(OSError):
        child.kill()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_AFTER_KILL_S)
    if child.stdin:
        with suppress(OSError):
            child.stdin.close()


def _outcome(code: int | None, *, in_time: bool, timeout_s: float, words: str) -> tuple[str, str | None]:
    if not in_time:
        return "timeout", f"timed out after {timeout_s:g} s"
    if code == 0:
        return "ok", None
    if code is not None and code < 0:
        ended = f"ended by signal {-code} ({_signal_name(-code)})"
    else:
        ended = f"ended with {code}"
    return "failed", f"{ended}: {words}" if words else ended


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _last_words(path: Path) -> str:
    """The last line a child printed: of a Python error, the line that names it."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _LAST_WORDS_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


class _LineReader:
    """Reads the JSON lines of a file that is still being written."""

    def __init__(self, path: Path, watch: Callable[[Any], None] | None) -> None:
        self.lines: list[Any] = []
        self._path = path
        self._watch = watch
        self._read_to = 0
        self._torn = b""

    def read(self) -> None:
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            fresh = file.read()
        self._read_to += len(fresh)
        *whole, self._torn = (self._torn + fresh).split(b"\n")
        for line in whole:
            with suppress(ValueError):
                value = json.loads(line)
                self.lines.append(value)
                if self._watch:
                    self._watch(value)


@contextmanager
def answer_in_file() -> Iterator[tuple[Any, Callable[[object], None]]]:
    """In a child: what was given, and a function that hands back one JSON value."""
    given = json.load(sys.stdin)
    with Path(os.environ["ACCELWEB_ANSWER"]).open("a", encoding="utf-8") as file:

        def hand_back(value: object) -> None:
            file.write(json.dumps(value) + "\n")
            file.flush()

        yield given, hand_back
