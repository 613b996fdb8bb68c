"""The folder of an installation, checked at each start: its lock, its secrets, and why a site cannot start."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

SECRET_KEY_BYTES = 50


class CannotStart(Exception):
    """The site cannot start until the user fixes something."""


class StepsFailed(CannotStart):
    """The process of the steps ended; it has printed why."""


class AlreadyRunning(CannotStart):
    """Another `up` uses this `var/`."""


class Stopped(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal. Not an error, so not an Exception."""


def open_folder(path: Path) -> None:
    """Create `path` with access for its owner only. Raises CannotStart if it is not writable."""
    os.umask(0o077)  # the database holds password hashes, the folder holds keys
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"{path} is not writable ({error.strerror}). Fix its permissions, or choose another folder with VAR_DIR=..."
        ) from None


def secret_key(path: Path) -> tuple[str, bool]:
    """The secret key as (text, is_new). A missing or truncated one is replaced, which logs everybody out."""
    stored = read_secret(path)
    if len(stored) >= SECRET_KEY_BYTES:
        return stored, False
    text = secrets.token_urlsafe(SECRET_KEY_BYTES)
    write_secret(path, text)
    return text, True


def read_secret(path: Path) -> str:
    """The text of the file; "" if it does not exist. Raises CannotStart if it cannot be read."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(
            f"{path} cannot be read ({error}). Fix its permissions, or remove it to have it created again"
        ) from None


def write_secret(path: Path, text: str) -> None:
    """Write the file atomically, readable only by its owner."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


class Lock:
    """A lock from `held(path)`; its file records the process id and the address of the site.

    One `up` holds it for each `var/`. The kernel releases it when its holder dies, so a file left behind is harmless.
    """

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
