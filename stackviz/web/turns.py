"""Turns at SQLite's write lock, so that an upload waits for one transaction of a worker, not for many.

Whoever waits for the lock sleeps up to 100 ms between two tries, and a worker with reports to read takes it again a
few milliseconds after it gave it up. With eight senders 1 % of uploads waited longer than 1.3 to 1.9 s; with turns,
which are a lock on a file next to the database, longer than 0.27 to 0.35 s. Smaller transactions alone gained nothing.

This is for fairness only. Whoever asks for no turn, or cannot have one, waits in SQLite as before; PostgreSQL has no
turns. It cannot be the database's own file: closing that would release the locks that SQLite has on it.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from django.db import connection

TRY_EVERY_S = 0.001
GIVE_WAY_S = 0.006  # several tries of those who do not give way
LONGEST_WAIT_S = 2.0  # for a turn; then SQLite's own wait begins


def takes_turns() -> bool:
    """Whether the database is a file of SQLite."""
    return connection.vendor == "sqlite" and Path(connection.settings_dict["NAME"]).is_file()


@contextmanager
def turn_to_write(*, gives_way: bool = False) -> Iterator[None]:
    """Held around a whole transaction, or a statement that is one; within a transaction it does nothing.

    `gives_way`: whoever waits without it goes first.
    """
    with ExitStack() as stack:
        if takes_turns() and not connection.in_atomic_block:
            with suppress(OSError):  # the file cannot be made, or the file system has no locks
                _wait(stack.enter_context(_file().open("ab")), GIVE_WAY_S if gives_way else 0)
        yield


def _file() -> Path:
    return Path(f"{connection.settings_dict['NAME']}-turns")


def _wait(file: IO[bytes], pause_s: float) -> None:
    """Lock the file, until it is closed or this process ends; without a lock once LONGEST_WAIT_S is over."""
    deadline = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < deadline:
        time.sleep(pause_s)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(TRY_EVERY_S)
        else:
            return
