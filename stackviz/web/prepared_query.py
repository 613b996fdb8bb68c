"""Queries that are written once and sent with other keys each time: Django takes longer to write SQL than a database to
answer it."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import JSONField, QuerySet

__all__ = ["PreparedQuery"]

Key = int | str | UUID


class PreparedQuery:
    """`PreparedQuery(lambda keys: Card.objects.filter(snapshot__in=keys))`: what it returns for keys, as a list.

    `build` is called with stand-ins of the keys, once for each connection and power of two up to which the keys fill up
    (the last one is repeated, which an `IN` ignores). It must use the keys only as values of lookups. All keys of a
    query are primary keys, or all are texts, or all are UUIDs.
    """

    def __init__(self, build: Callable[[Sequence[Any]], QuerySet[Any, Any]]) -> None:
        self._build = build

    def __call__(self, keys: Sequence[Key]) -> list[Any]:
        """The rows for these keys; no query for no keys."""
        if not keys:
            return []
        size = 1 << (len(keys) - 1).bit_length()
        prepared = vars(connections[DEFAULT_DB_ALIAS]).setdefault("_prepared_queries", {})  # a thread's own
        if (self, size) not in prepared:
            prepared[self, size] = _Written(self._build, _stand_ins(size, type(keys[0])))
        written: _Written = prepared[self, size]
        return written.rows([*keys, *[keys[-1]] * (size - len(keys))])


def _stand_ins(size: int, kind: type[Key]) -> list[Key]:
    """What no row has and no query asks for: negative keys, texts with NUL, UUIDs of no version."""
    if kind is UUID:
        return [UUID(int=number) for number in range(size)]
    return [f"\0{number}" if kind is str else number - size for number in range(size)]


class _Written:
    """The query for so many keys, as one connection understands it."""

    def __init__(self, build: Callable[[Sequence[Any]], QuerySet[Any, Any]], stand_ins: list[Key]) -> None:
        self._places: dict[Any, int] = {stand_in: index for index, stand_in in enumerate(stand_ins)}
        for index, stand_in in enumerate(stand_ins):
            if isinstance(stand_in, UUID):  # where the database has no such type
                self._places[stand_in.hex] = index
        self._queryset = build(stand_ins)
        self._compiler = self._queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self._sql, self._params = self._compiler.as_sql()
        converters = _converters(self._compiler)
        self._compiler.get_converters = lambda _expressions: converters
        self._queryset.query.get_compiler = lambda *_arguments, **_options: self._compiler  # type: ignore[method-assign]

    def rows(self, keys: Sequence[Key]) -> list[Any]:
        params = tuple(
            _like(value, keys[self._places[value]]) if isinstance(value, Key) and value in self._places else value
            for value in self._params
        )
        self._compiler.as_sql = lambda *_arguments, **_options: (self._sql, params)
        iterate: Any = self._queryset._iterable_class  # noqa: SLF001 - what a query set does when it is iterated
        return [*iterate(self._queryset)]


def _converters(compiler: Any) -> dict[int, tuple[list[Any], Any]]:  # noqa: ANN401 - what is of no public type
    """How the columns of a query are read: looked up once, and JSON by orjson, which takes a fifth of the time."""
    selected = [expression for expression, *_ in compiler.select[: compiler.col_count]]
    return {
        index: ([_read_json if _reads_json(convert) else convert for convert in converters], expression)
        for index, (converters, expression) in compiler.get_converters(selected).items()
    }


def _reads_json(convert: Any) -> bool:  # noqa: ANN401 - a function or a method
    """Whether it is what a plain JSONField does with a text."""
    field = getattr(convert, "__self__", None)
    return isinstance(field, JSONField) and convert == field.from_db_value and field.decoder is None


def _read_json(value: Any, _expression: object, _connection: object) -> Any:  # noqa: ANN401 - as Django calls it
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:  # Python's own module reads more than JSON, and SQLite stores it
        return json.loads(value)


def _like(stand_in: Key, key: Any) -> Any:  # noqa: ANN401 - whatever the driver takes
    """The key in the form in which its stand-in went into the query."""
    if isinstance(key, UUID):
        return key.hex if isinstance(stand_in, str) else key
    return type(stand_in)(key)
