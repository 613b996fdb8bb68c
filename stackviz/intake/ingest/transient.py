"""Faults of the moment: what failed for want of disk, memory, a lock or the database, and may succeed a little later.

Told by the codes that the database or the system gives (SQLSTATE, SQLite's result code, errno), never by words.
Everything else is a fault of the report or of ours, which trying again does not mend.
Sources: PostgreSQL, Appendix A, Error Codes; sqlite.org/rescode.html.
"""

import errno
import sqlite3

from django.db import InterfaceError, OperationalError

from stackviz.records.labs.models import Report

__all__ = ["fault_of"]

Fault = Report.Fault

_SQLSTATES = {
    "53100": Fault.DISK,
    "53200": Fault.MEMORY,
    "57014": Fault.TIMEOUT,  # statement_timeout, or cancelled by an administrator
    "25P03": Fault.TIMEOUT,  # idle in a transaction
    "55P03": Fault.LOCK,
    "55006": Fault.LOCK,  # object in use
    "25006": Fault.DATABASE,  # read-only: a standby that is not promoted yet
    "42P01": Fault.DATABASE,  # no such table, no such column: not migrated yet
    "42703": Fault.DATABASE,
}
_SQLSTATE_CLASSES = {
    "08": Fault.DATABASE,  # connection
    "40": Fault.LOCK,  # serialisation failure, deadlock
    "53": Fault.DATABASE,  # insufficient resources: connections
    "57": Fault.DATABASE,  # shut down, starting
    "58": Fault.DATABASE,  # its disk cannot be read or written
}
_SQLITE_CODES = {
    sqlite3.SQLITE_BUSY: Fault.LOCK,
    sqlite3.SQLITE_LOCKED: Fault.LOCK,
    sqlite3.SQLITE_PROTOCOL: Fault.LOCK,
    sqlite3.SQLITE_NOMEM: Fault.MEMORY,
    sqlite3.SQLITE_FULL: Fault.DISK,
    sqlite3.SQLITE_INTERRUPT: Fault.TIMEOUT,
    sqlite3.SQLITE_READONLY: Fault.DATABASE,
    sqlite3.SQLITE_IOERR: Fault.DATABASE,
    sqlite3.SQLITE_CANTOPEN: Fault.DATABASE,
}
_ERRNOS = {
    errno.ENOSPC: Fault.DISK,
    errno.EDQUOT: Fault.DISK,
    errno.ENOMEM: Fault.MEMORY,
    errno.EMFILE: Fault.SYSTEM,
    errno.ENFILE: Fault.SYSTEM,
    errno.EAGAIN: Fault.SYSTEM,
    errno.EIO: Fault.SYSTEM,
}
_PRIMARY_CODE = 0xFF  # SQLite's extended codes have theirs in the low byte


def fault_of(error: BaseException) -> Report.Fault | None:
    """Which fault of the moment this error is, or the one it was raised from; None: it is none."""
    for each in _innermost_first(error):
        is_known, fault = _by_its_code(each)
        if is_known:
            return fault
    # No server said anything: the connection is lost, or never came about.
    return Fault.DATABASE if isinstance(error, OperationalError | InterfaceError) else None


def _innermost_first(error: BaseException) -> list[BaseException]:
    """Django's errors say less than the driver's which they were made of."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain[::-1]


def _by_its_code(error: BaseException) -> tuple[bool, Report.Fault | None]:
    """Whether the error carries a code, and which fault that is."""
    if isinstance(error, MemoryError):
        return True, Fault.MEMORY
    if isinstance(error, OSError) and error.errno is not None:
        return True, _ERRNOS.get(error.errno)
    if (code := getattr(error, "sqlite_errorcode", None)) is not None:
        return True, _SQLITE_CODES.get(code & _PRIMARY_CODE)
    if state := getattr(error, "sqlstate", None):
        return True, _SQLSTATES.get(state) or _SQLSTATE_CLASSES.get(state[:2])
    return False, None
