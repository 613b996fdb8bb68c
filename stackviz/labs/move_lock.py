"""Readers of reports and people who move reports between machines keep out of each other's way.

A reader looks a report's machine up, and a series of that machine, before it writes rows with both. It holds the lock
shared until commit; whoever moves reports holds it alone. SQLite has one writer anyway.
"""

from django.db import connection

_MOVING = 7_200_510  # any number that no other advisory lock of ours has


def wait_for_moves() -> None:
    """Called first in a transaction that writes what reports say: no report moves until it ends."""
    _lock("pg_advisory_xact_lock_shared")


def stop_readers() -> None:
    """Called first in a transaction that moves reports: those being stored are finished, others wait until it ends."""
    _lock("pg_advisory_xact_lock")


def _lock(function: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [_MOVING])
