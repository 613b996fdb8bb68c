"""One `up` per `var/`. The kernel holds the lock and lets go when its holder dies, so a stale file is harmless."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stackviz.up.errors import AlreadyRunning


class Lock:
    """Held from `held(path)` on; says in the file who holds it and where the site answers."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def note(self, url: str = "") -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "url": url}, self._file)
        self._file.flush()


@contextmanager
def held(path: Path) -> Iterator[Lock]:
    """Holds the lock. Raises AlreadyRunning with the other's process id and address."""
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
        return "accelweb is starting here already, in another terminal"
    where = f"at {url}" if url else "and is still starting"
    return f"accelweb is running here already: process {pid}, {where}. End it with Ctrl-C there, or: kill {pid}"
