"""The curated files in a test's database: loaded for real once in a process, copied row by row after that.

Loading the catalogue takes seconds, and every file of tests that wants it would pay them. The copy holds every table
the load wrote to, so that the tests see what a load leaves, histories and editions included.
"""

from collections.abc import Callable
from typing import Any

from django.db import connection

from stackviz.catalog.change import Summary
from stackviz.catalog.load import load_catalogue
from stackviz.stacks.load import load_stacks

_Table = tuple[str, list[str], list[tuple[Any, ...]]]
_kept: dict[str, tuple[Summary, list[_Table]]] = {}


def put_catalogue() -> Summary:
    """The catalogue, as `load_catalogue` leaves an empty one. Within a transaction that is rolled back."""
    return _put("catalogue", load_catalogue)


def put_catalogue_and_stacks() -> Summary:
    """Both, as loading one after the other leaves them. What the stacks' load said is returned."""
    return _put("catalogue and stacks", _load_both)


def put_stacks() -> Summary:
    """The stacks alone."""
    return _put("stacks", load_stacks)


def _load_both() -> Summary:
    load_catalogue()
    return load_stacks()


def _put(name: str, load: Callable[[], Summary]) -> Summary:
    if name not in _kept:
        before = {table: _rows(table)[2] for table in _tables()}
        summary = load()
        written = [_rows(table) for table in _tables()]
        _kept[name] = summary, [(table, columns, rows) for table, columns, rows in written if rows != before[table]]
    else:
        for table, columns, rows in _kept[name][1]:
            _fill(table, columns, rows)
    return _kept[name][0]


def _tables() -> list[str]:
    return [name for name in connection.introspection.table_names() if name.startswith(("catalog_", "stacks_"))]


def _rows(table: str) -> _Table:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM "{table}"')
        return table, [column[0] for column in cursor.description], cursor.fetchall()


def _fill(table: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    names = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.execute(f'DELETE FROM "{table}"')
        cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)
