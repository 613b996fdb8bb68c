"""Readers of reports and people who move reports between machines keep out of each other's way.

A reader looks a report's machine up, and a series of that machine, before it writes rows with both. It holds the lock
shared until commit; whoever moves reports holds it alone. SQLite has one writer anyway.
"""

from django.db import connection

_MOVING = 7_200_510  # any number that no other advisory lock of ours has
LONGEST_WAIT = "30s"
"""For any lock of a reader's transaction: it gives up, and tries again later, before the limit of a task kills it."""


def wait_for_moves() -> None:
    """Called first in a transaction that writes what reports say: no report moves until it ends."""
    _lock(f"set_config('lock_timeout', '{LONGEST_WAIT}', true), pg_advisory_xact_lock_shared")


def stop_readers() -> None:
    """Called first in a transaction that moves reports: those being stored are finished, others wait until it ends."""
    _lock("pg_advisory_xact_lock")


def _lock(expressions: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {expressions}(%s)", [_MOVING])
