"""Faults of the moment: what failed for want of disk, memory, a lock or the database, and may succeed a little later.

Recognised by the codes that the database or the system gives (SQLSTATE, SQLite's result code, errno), never by words.
Everything else is a fault of the report or of ours, which trying again does not mend.
Sources: PostgreSQL, Appendix A, Error Codes; sqlite.org/rescode.html.
"""

import errno
import logging
import random
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from django.db.models import F
from django.db.models.functions import Greatest, Least
from django.utils import timezone

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


# --- putting reports off ---

FIRST_RETRY_S = 10.0
LAST_RETRY_S = 900.0  # from the seventh fault on
SPREAD = 0.2  # either way: what failed together is not all tried again at the same moment
LONGEST_RETRY_S = LAST_RETRY_S * (1 + SPREAD)
ALERT_FROM = 8  # faults of one report, after about half an hour: logged as an error, which somebody should look at
_MOST_COUNTED = 1_000  # a smallint holds 32,767

log = logging.getLogger(__name__)


def put_off(report_ids: Sequence[UUID], fault: Report.Fault) -> list[UUID]:
    """Note the fault at those of these reports that wait, and when they are tried again -> their ids.

    The attempt does not count among the `tries`, which are those that killed their worker. Raises what the database
    does where even this cannot be written: then they wait as before, and the periodic task queues them again.
    """
    connection.close_if_unusable_or_obsolete()  # the fault may have been its end
    by_faults: dict[int, list[UUID]] = defaultdict(list)
    waiting = Report.objects.filter(pk__in=report_ids, status=Report.Status.RECEIVED)
    for pk, faults in waiting.order_by("pk").values_list("pk", "faults"):
        by_faults[faults].append(pk)
    for faults, ids in by_faults.items():
        _note(ids, faults, fault)
    return [pk for ids in by_faults.values() for pk in ids]


def _note(ids: list[UUID], faults: int, fault: Report.Fault) -> None:
    wait_s = retry_after_s(faults)
    Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED).update(
        faults=Least(F("faults") + 1, _MOST_COUNTED),
        fault=fault,
        retry_at=timezone.now() + timedelta(seconds=wait_s),
        queued_at=None,
        tries=Greatest(F("tries") - 1, 0),
    )
    level = logging.ERROR if faults + 1 >= ALERT_FROM else logging.WARNING
    log.log(level, "%d reports put off for %.0f s, fault %d: %s", len(ids), wait_s, faults + 1, fault.value)


def retry_after_s(faults: int) -> float:
    """How long a report waits after so many faults before this one."""
    pause_s: float = min(FIRST_RETRY_S * 2 ** min(faults, 16), LAST_RETRY_S)
    return pause_s * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 (no secret)
