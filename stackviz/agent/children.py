"""Run a part of the agent in its own process with a time limit: a hang or crash affects nothing else.

The child gets its input as a line of JSON on standard input and writes its answer into a file; its output is only used
as the last lines of a failure. It ends with the agent, however that ends. Works from a folder and from the single-file
agent.
"""

import json
import os
import secrets
import shutil
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
from stackviz.agent.child_start import end_with_input
from stackviz.agent.guard import forget_folder, forget_group, marked, parent_folder, watch_folder, watch_group
from stackviz.agent.guard_process import MARK

__all__ = ["Ended", "TimeLimit", "answer_in_file", "end_group", "run_child"]

_LAST_WORDS_BYTES = 4000
_AFTER_KILL_S = 2.0
_LOOK_EVERY_S = 0.05

# A file in the current folder, "" in the path, must not stand in for a module. The path is where this agent lies.
_START = (
    "import sys; sys.path = [sys.argv[1], *filter(None, sys.path)]; from stackviz.agent.child_start import begin; "
    "begin(sys.argv[2], int(sys.argv[3]))"
)


@dataclass(frozen=True)
class Ended:
    """How a child ended. `lines`: the JSON values it wrote, in order; a torn last line is left out."""

    state: str  # ok, failed, timeout
    detail: str | None
    lines: tuple[Any, ...]
    duration_s: float


@dataclass
class TimeLimit:
    """When a child must have ended, of time.monotonic: what watches the child may move it. `within_s` is for texts."""

    at: float
    within_s: float

    @classmethod
    def of(cls, seconds: float) -> "TimeLimit":
        return cls(time.monotonic() + seconds, seconds)

    def move(self, seconds: float) -> None:
        """From now on: so many seconds."""
        self.at, self.within_s = time.monotonic() + seconds, seconds


def run_child(
    module: str,
    given: object,
    limit: float | TimeLimit,
    watch: Callable[[Any], None] | None = None,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a module as a child and collect the JSON lines it writes; `watch` sees each as it comes.

    The child and all it started are killed at the end of the time, when `stop` is set, and when we are interrupted.
    """
    started = time.monotonic()
    limit = limit if isinstance(limit, TimeLimit) else TimeLimit.of(limit)
    with _temporary_folder() as folder:
        answer, words = folder / "answer.jsonl", folder / "words"
        answer.touch()
        mark = marked()
        with words.open("wb") as printed:
            child = _start(module, answer, printed, mark)
        reader = _LineReader(answer, watch)
        try:
            watch_group(child)  # before it is given anything to do: until then it starts nothing
            threading.Thread(target=_feed, args=(child, given), daemon=True).start()
            in_time = _wait(child, limit, reader, stop)
        finally:
            end_group(child, mark[MARK])
        reader.read()
        state, detail = _outcome(child.returncode, in_time=in_time, timeout_s=limit.within_s, words=_last_words(words))
        return Ended(state, detail, tuple(reader.lines), time.monotonic() - started)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder that goes with us, and with the guard if we are killed: it hears of the folder before there is one."""
    folder = Path(parent_folder() or tempfile.gettempdir()) / f"accelweb-agent-{secrets.token_hex(8)}"
    watch_folder(str(folder))
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        forget_folder(str(folder))


def _start(module: str, answer: Path, printed: Any, mark: dict[str, str]) -> subprocess.Popen[bytes]:  # noqa: ANN401 - an open file
    home = str(Path(next(iter(stackviz.__path__))).parent)
    environ = {**os.environ, **mark, "ACCELWEB_ANSWER": str(answer), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(  # noqa: S603 - our own Python, a module of ours
        [sys.executable, "-c", _START, home, module, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=printed,
        stderr=printed,
        env=environ,
        start_new_session=True,  # a group of its own, so that all of it can be ended
    )


def _feed(child: subprocess.Popen[bytes], given: object) -> None:
    """One line. The pipe stays open: its end means that we have ended."""
    with suppress(OSError, ValueError):  # a child that died early reads nothing
        if child.stdin:
            child.stdin.write(json.dumps(given).encode() + b"\n")
            child.stdin.flush()


def _wait(
    child: subprocess.Popen[bytes], limit: TimeLimit, reader: "_LineReader", stop: threading.Event | None
) -> bool:
    while child.poll() is None:
        reader.read()
        left = limit.at - time.monotonic()
        if left <= 0 or (stop is not None and stop.is_set()):
            return False
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(_LOOK_EVERY_S, left))
    return True


def end_group(child: subprocess.Popen[bytes], mark: str) -> None:
    """End the child, which leads a group, and all that it started. One stuck in a driver may not end even so: then it
    is left behind.
    """
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    with suppress(OSError):
        child.kill()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_AFTER_KILL_S)
    forget_group(child, mark)
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
    given = json.loads(sys.stdin.readline())
    end_with_input()
    with Path(os.environ["ACCELWEB_ANSWER"]).open("a", encoding="utf-8") as file:

        def hand_back(value: object) -> None:
            file.write(json.dumps(value) + "\n")
            file.flush()

        yield given, hand_back
