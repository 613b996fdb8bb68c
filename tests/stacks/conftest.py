"""The curated stacks in the test's database: loaded for real once, copied row by row for the tests after that."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from stackviz.catalog.change import Summary
from stackviz.stacks.load import load_stacks

_kept: dict[str, Any] = {}


@pytest.fixture
def stacks(db: None) -> Summary:
    """The curated stacks, loaded. Returns what the load said."""
    if not _kept:
        _kept["summary"] = load_stacks()
        _kept["tables"] = [(table, *_rows(table)) for table in _tables()]
    else:
        for table, columns, rows in _kept["tables"]:
            _fill(table, columns, rows)
    return _kept["summary"]


def _tables() -> list[str]:
    rooms = [*apps.get_app_config("stacks").get_models(), apps.get_model("catalog", "Source")]
    return [model._meta.db_table for model in rooms]


def _rows(table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM "{table}"')
        return [column[0] for column in cursor.description], cursor.fetchall()


def _fill(table: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    names = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)
