"""Rows at the database's own pace: COPY on PostgreSQL, one prepared INSERT on SQLite, statements written by hand.

Django's bulk_create makes an object, a placeholder and a converted value for each field of each row, and composes each
statement anew, which costs more than the database does: a report of 60 results is stored twice as fast this way. For
rows we worked out ourselves: nothing is validated, no default filled in, no signal sent, a conflict is an error.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.models import DateField, DateTimeField, DecimalField, Field, JSONField, Model, UUIDField


@dataclass(frozen=True, slots=True)
class _Plan:
    """How rows of a model get in: statements with names of ours and bound values, and what is done to which value."""

    copy: str
    insert: str
    changes: tuple[tuple[int, Callable[[Any], Any]], ...]

    def ready(self, row: Sequence[Any]) -> list[Any]:
        """The row with those values changed that the driver does not know: JSON, and on SQLite times and UUIDs."""
        ready = list(row)
        for index, change in self.changes:
            if ready[index] is not None:
                ready[index] = change(ready[index])
        return ready


@lru_cache(maxsize=32)
def _plan(
    model: type[Model],
    fields: tuple[str, ...],
    ops: BaseDatabaseOperations,
    as_json: Callable[[Any], str] | None = None,
) -> _Plan:
    """Return the plan for a connection, given by its `ops`: finding the connection for each value takes longer."""
    columns = [_column(model, name) for name in fields]
    table = ops.quote_name(model._meta.db_table)  # noqa: SLF001 (Django's documented _meta API)
    names = ", ".join(ops.quote_name(str(column.column)) for column in columns)
    changes = tuple(
        (index, change) for index, column in enumerate(columns) if (change := _change_for(column, ops, as_json))
    )
    marks = ", ".join(["%s"] * len(columns))
    return _Plan(f"COPY {table} ({names}) FROM STDIN", f"INSERT INTO {table} ({names}) VALUES ({marks})", changes)  # noqa: S608 - names of a model, quoted


def insert_rows(
    model: type[Model],
    fields: tuple[str, ...],
    rows: Iterable[Sequence[Any]],
    as_json: Callable[[Any], str] | None = None,
) -> None:
    """Insert `rows`, values in the order of `fields` (Python values; JSON fields take what JSON can hold)."""
    plan = _plan(model, fields, connection.ops, as_json)
    ready = [plan.ready(row) for row in rows]
    if not ready:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Django wraps what `execute` raises, and not what `copy` does.
            with connection.wrap_database_errors, cursor.copy(plan.copy) as copy:
                for row in ready:
                    copy.write_row(row)
        else:
            cursor.executemany(plan.insert, ready)


def insert_objects(rows: Sequence[Model]) -> None:
    """Insert objects of one model, as they are; which do not learn their primary keys. JSON is as Django writes it."""
    if rows:
        model = type(rows[0])
        columns = [column for column in model._meta.concrete_fields if not column.primary_key]  # noqa: SLF001
        values_of = attrgetter(*(column.attname for column in columns))
        insert_rows(model, tuple(column.name for column in columns), map(values_of, rows), json.dumps)


def insert_numbered(model: type[Model], fields: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> list[int]:
    """Insert `rows` -> their primary keys, in order; of several on PostgreSQL taken from the sequence first: COPY
    returns none."""
    if connection.vendor != "postgresql" or len(rows) == 1:
        plan = _plan(model, fields, connection.ops)
        return [int(select(f"{plan.insert} RETURNING id", *plan.ready(row))[0][0]) for row in rows]
    table = model._meta.db_table  # noqa: SLF001
    keys = [int(key) for (key,) in select(_NEXT_KEYS, table, len(rows))]
    insert_rows(model, ("id", *fields), [(key, *row) for key, row in zip(keys, rows, strict=True)])
    return keys


_NEXT_KEYS = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"


def _column(model: type[Model], name: str) -> "Field[Any, Any]":
    column = model._meta.get_field(name)  # noqa: SLF001
    if not isinstance(column, Field):
        raise TypeError(f"{model.__name__}.{name} is no column")
    return column


def _change_for(
    column: "Field[Any, Any]", ops: BaseDatabaseOperations, as_json: Callable[[Any], str] | None
) -> Callable[[Any], Any] | None:
    if isinstance(column, JSONField):
        return as_json or json_text
    if ops.connection.vendor == "postgresql":
        return None
    if isinstance(column, DateTimeField):
        return ops.adapt_datetimefield_value
    if isinstance(column, DateField | DecimalField):
        return partial(column.get_db_prep_save, connection=ops.connection)
    return _hex if isinstance(getattr(column, "target_field", column), UUIDField) else None


def json_text(value: Any) -> str:  # noqa: ANN401 (whatever JSON holds)
    return orjson.dumps(value).decode()


def _hex(value: UUID) -> str:
    return value.hex


def execute(sql: str, values: Mapping[str, Any]) -> int:
    """Run one statement -> how many rows it changed. Times and UUIDs may be given as such; JSON as text."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: _for_driver(value) for name, value in values.items()})
        return int(cursor.rowcount)


def select(sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """The rows a query finds, as the driver gives them: right for numbers and text, not for times and UUIDs."""
    with connection.cursor() as cursor:
        cursor.execute(sql, [_for_driver(value) for value in values])
        return list(cursor.fetchall())


def _for_driver(value: Any) -> Any:  # noqa: ANN401
    if connection.vendor == "postgresql":
        return value
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value.hex if isinstance(value, UUID) else value
