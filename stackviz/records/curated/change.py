"""Bring a table to what curated files say, without touching what people have corrected since.

Every row remembers the digest of what was last loaded into it. A row that still has it belongs to the files: it is
updated, or deleted when its line is gone. A row that differs has been corrected here: it stays, and is counted.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Max, Model, QuerySet
from django.utils import timezone
from simple_history.signals import pre_create_historical_record
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from stackviz.records.curated.rows import Curated
from stackviz.web.bulk_insert import execute, insert_objects

BATCH = 500
LOADING = 0x0CA7A106  # names the lock that a load holds; any number no other lock of ours uses
LOADED = "Loaded from the curated files"  # how the reason begins that a load leaves in the history
Row = TypeVar("Row", bound=Curated)
_loading_because: ContextVar[str] = ContextVar("loading_because", default="")


@contextmanager
def loading(version: str) -> Iterator[str]:
    """Give history records of this thread that have no reason the reason of the load, which is returned.

    Rows deleted by a cascade would have none otherwise.
    """
    token = _loading_because.set(f"{LOADED}, version {version[:12]}")
    try:
        yield _loading_because.get()
    finally:
        _loading_because.reset(token)


def with_reason(load: str, why: str) -> str:
    """The reason of a load with that of one row, which `own_reason` reads from it."""
    return f"{load}: {why}"


def own_reason(reason: str | None) -> str:
    """What readers are told: a person's reason, or that of a corrected line; "" for a load without one."""
    if not (reason or "").startswith(LOADED):
        return reason or ""
    return (reason or "").partition(": ")[2]


def _say_why(history_instance: Any, **_: Any) -> None:  # noqa: ANN401 - a signal's receiver
    if _loading_because.get() and not history_instance.history_change_reason:
        history_instance.history_change_reason = _loading_because.get()


pre_create_historical_record.connect(_say_why, dispatch_uid="why a load changes a row")


def wait_for_other_loads() -> None:
    """Take the loader lock until commit; concurrent starts wait.

    SQLite's transactions lock by themselves.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOADING])


@dataclass(slots=True)
class Counts:
    """What happened to the rows of one table. `protected`: corrected or deleted here, so left as they are."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    protected: int = 0

    def __str__(self) -> str:
        parts = {
            "new": self.created,
            "updated": self.updated,
            "deleted": self.deleted,
            "left as corrected here": self.protected,
        }
        return ", ".join(f"{number} {outcome}" for outcome, number in parts.items() if number) or "unchanged"


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What a load of the files about `what` did. `tables` is None where they were loaded already."""

    what: str
    version: str
    tables: dict[str, Counts] | None = None

    @property
    def is_unchanged(self) -> bool:
        return self.tables is None

    def __str__(self) -> str:
        if self.tables is None:
            return f"{self.what} {self.version[:12]}: already loaded"
        return f"{self.what} {self.version[:12]}: " + "; ".join(f"{name}: {did}" for name, did in self.tables.items())


class Change(Generic[Row]):
    """What it takes to bring one table to the wanted rows (by data_key). Reads on creation, writes in `apply`."""

    def __init__(self, model: type[Row], wanted: dict[str, Row], *, is_deleting: bool = True) -> None:
        self.model, self.wanted, self.is_deleting = model, wanted, is_deleting
        self.rows: QuerySet[Row] = QuerySet(model)
        rows: Iterable[Row] = self.rows.filter(data_key__isnull=False)
        self.existing: dict[str, Row] = {row.data_key or "": row for row in rows}
        self.corrected = [row for row in self.existing.values() if row.is_corrected_here]
        self._deleted_here = self._keys_deleted_by_people()

    def _keys_deleted_by_people(self) -> set[str]:
        """Keys of rows that were deleted by hand, not by an earlier load whose files lacked their line."""
        history = getattr(self.model, "history", None)
        if history is None:
            return set()
        deleted = history.filter(history_type="-", data_key__isnull=False)
        by_people = deleted.exclude(history_change_reason__startswith=LOADED)
        return set(by_people.values_list("data_key", flat=True))

    def apply(self, changed: list[str], reason: str) -> Counts:
        """Delete, update, create, in the caller's transaction; `changed`: the columns a line of the files decides."""
        protected = {row.data_key for row in self.corrected}
        gone = [key for key in self.existing if key not in self.wanted and key not in protected]
        absent = self.wanted.keys() - self.existing.keys()
        wanted_anew = absent - self._deleted_here
        new = {key: row for key, row in self.wanted.items() if key in wanted_anew}
        updated = self._updated(changed, protected)
        for row in [*new.values(), *updated]:
            row.loaded_digest = row.digest
        self._delete(gone)
        self._update(updated, changed, reason)
        self._create(list(new.values()), reason)
        protected_here = len(self.corrected) + len(self._deleted_here & absent)
        return Counts(len(new), len(updated), len(gone) if self.is_deleting else 0, protected_here)

    def _updated(self, changed: list[str], protected: set[str | None]) -> list[Row]:
        rows = []
        for key, wanted in self.wanted.items():
            row = self.existing.get(key)
            if row is None or key in protected or row.digest == wanted.digest:
                continue
            for name in changed:
                setattr(row, name, getattr(wanted, name))
            row.set_change_reason(wanted.change_reason)
            rows.append(row)
        return rows

    def _delete(self, gone: list[str]) -> None:
        if self.is_deleting and gone:
            self.rows.filter(data_key__in=gone).delete()

    def _update(self, rows: list[Row], changed: list[str], reason: str) -> None:
        if not rows:
            return
        if "is_preferred" in changed:  # free the places first: two values may swap their preference
            self.rows.filter(pk__in=[row.pk for row in rows]).update(is_preferred=False)
        columns = [*changed, "loaded_digest", "changed_at"]
        for row in rows:
            row.changed_at = timezone.now()
        if _has_history(self.model):
            bulk_update_with_history(rows, self.model, columns, batch_size=BATCH, default_change_reason=reason)
        else:
            self.rows.bulk_update(rows, columns, batch_size=BATCH)

    def _create(self, rows: list[Row], reason: str) -> None:
        if self.existing and _has_history(self.model):  # few rows, some with a reason of their own
            bulk_create_with_history(rows, self.model, batch_size=BATCH, default_change_reason=reason)
            return
        now = timezone.now()
        for row in rows:
            row.changed_at = now
        last = self.rows.aggregate(last=Max("pk"))["last"] or 0
        insert_objects(rows)
        if _has_history(self.model):
            _write_first_history(self.model, last, now, reason)


def _write_first_history(model: type[Model], last: int, now: datetime, reason: str) -> None:
    """A record "created" of each curated row after `last`, in one statement: a first load has tens of thousands."""
    table, history = model._meta.db_table, model.history.model._meta.db_table  # type: ignore[attr-defined]  # noqa: SLF001
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in model._meta.concrete_fields)  # noqa: SLF001
    execute(
        f"INSERT INTO {history} ({names}, history_date, history_type, history_change_reason) "  # noqa: S608 - names of a model
        f"SELECT {names}, %(now)s, '+', %(reason)s FROM {table} WHERE id > %(last)s AND data_key <> '' ORDER BY id",
        {"now": now, "reason": reason, "last": last},
    )


def _has_history(model: type[Model]) -> bool:
    return hasattr(model, "history")
