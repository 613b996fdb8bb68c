"""A lock on an open file that the system gives up however its holder ends."""

import errno
import sys
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["is_locked_here"]

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
