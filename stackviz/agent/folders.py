"""The folder for files that outlive a run of the agent: writing to it, and locks that end with their holder."""

import errno
import os
import platform
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["TEMPORARY", "flush_folder", "is_locked_here", "state_folder", "system_folder", "write_whole"]

TEMPORARY = ".writing-"
"Prefix of the names of files that are still being written."


def state_folder(environ: Mapping[str, str] | None = None, system: str | None = None) -> Path:
    """ACCELWEB_SPOOL if set, otherwise the system's folder for application state."""
    environ = os.environ if environ is None else environ
    if environ.get("ACCELWEB_SPOOL"):
        return Path(environ["ACCELWEB_SPOOL"]).expanduser()
    return system_folder(environ, system)


def system_folder(environ: Mapping[str, str] | None = None, system: str | None = None) -> Path:
    """Return the system's folder for application state, whatever folder a run was given."""
    environ = os.environ if environ is None else environ
    system = system or platform.system()
    if system == "Darwin":
        return Path.home() / "Library" / "Application Support" / "accelweb-agent"
    if system == "Windows" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "accelweb-agent"
    base = environ.get("XDG_STATE_HOME") or ""
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "accelweb-agent"


def write_whole(path: Path, body: bytes, *, may_replace: bool = True) -> None:
    """Write a file atomically, readable only by its owner, and never through a symbolic link. Raises OSError,
    FileExistsError if something is there that may not be replaced.
    """
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        if may_replace:
            temporary.replace(path)
        else:
            _rename_if_new(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def _rename_if_new(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # refuses what is there, which renaming does not
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        temporary.replace(path)
    else:
        temporary.unlink()


def flush_folder(folder: Path) -> None:
    """Make a rename or removal survive a power cut. Windows cannot open folders, and orders this itself."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_BUSY = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}
_WINDOWS_OFFSET = 2**30  # locks there keep others from reading: one byte far behind the content


def is_locked_here(file: Any) -> bool | None:  # noqa: ANN401 - an open file of any kind
    """Lock the file without waiting: True if it is ours now, False if another process has it, None where the file
    system has no locks.
    """
    try:
        _lock(file)
    except OSError as error:
        return False if error.errno in _BUSY else None
    return True


def _lock(file: Any) -> None:  # noqa: ANN401
    if sys.platform == "win32":
        before = file.tell()
        file.seek(_WINDOWS_OFFSET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            file.seek(before)
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
