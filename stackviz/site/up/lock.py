"""One `up` per `var/`. The kernel releases the lock when its holder dies, so a stale file is harmless."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stackviz.site.up.errors import AlreadyRunning


class Lock:
    """A lock from `held(path)`; its file records the process id and the address of the site."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def note(self, url: str = "") -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "url": url}, self._file)
        self._file.flush()


@contextmanager
def held(path: Path) -> Iterator[Lock]:
    """Hold the lock. Raises AlreadyRunning with the process id and address of the holder."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(_who_holds(file)) from None
        lock = Lock(file)
        lock.note()
        yield lock


def _who_holds(file: IO[str]) -> str:
    file.seek(0)
    try:
        holder = json.load(file)
        pid, url = int(holder["pid"]), str(holder["url"])
    except (ValueError, KeyError, TypeError):
        return "accelweb is already being started in another terminal"
    where = f"at {url}" if url else "and is still starting"
    return f"accelweb is already running: process {pid}, {where}. Stop it with Ctrl-C there, or: kill {pid}"
