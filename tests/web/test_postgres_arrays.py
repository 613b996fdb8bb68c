"""The text of an array is what PostgreSQL reads as the list it was made of."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection

from stackviz.web.postgres_arrays import array_text

LISTS = {
    "bigint[]": [0, -1, 2**63 - 1, None],
    "float8[]": [0.1, -5e-324, 1.7976931348623157e308, 1 / 3, None],
    "text[]": ["", "NULL", "a,b", "{}", '"', "\\", '\\"', " blank ", "line\nline", "昇腾", None],
    "timestamptz[]": [
        datetime(2026, 11, 23, 1, 2, 3, 456789, UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, timezone(timedelta(hours=-3, minutes=-30))),
        None,
    ],
}


@pytest.mark.parametrize("kind", LISTS)
def test_an_array_arrives_as_it_was(kind, on_postgres):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT %s::{kind}, %s::{kind}", [array_text(LISTS[kind]), array_text([])])
        assert cursor.fetchone() == (LISTS[kind], [])
