"""Long lists as parameters of statements on PostgreSQL."""

from collections.abc import Iterable
from datetime import datetime

Element = float | str | datetime | None


def array_text(values: Iterable[Element]) -> str:
    """The text of an array, to be cast: `%s::float8[]`. psycopg takes three times as long for a list.

    Exact: a number is written with as many digits as it has. Times must be aware.
    """
    return f"{{{','.join([_element(value) for value in values])}}}"


def _element(value: Element) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
