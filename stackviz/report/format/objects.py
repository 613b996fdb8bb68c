"""Objects of the format: read, written and described by the annotations of their dataclasses.

The annotation of a field says all there is to it: its kind, that it may be null (`| None`) and, as plain text, what it
means. A dataclass may state a `RELATION` between its fields. Fields that are not known go to `extra` and come back.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from stackviz.report.format.kinds import Kind, Schema, as_list, as_object, check_count, check_names
from stackviz.report.format.limits import ReportError
from stackviz.report.format.scalars import map_schema

__all__ = ["Container", "Field", "Object", "Relation", "Since", "list_of", "map_of", "object_of"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What holds between fields of one object. `first` are read before the others, in this order; then `check` runs.

    `check` gets what was read so far and raises ReportError; `schema` says the same, as far as JSON Schema can.
    """

    first: tuple[str, ...] = ()
    check: Callable[[Mapping[str, Any]], None] = lambda _values: None
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Since:
    """Marks a field that the format did not have from its beginning: it may be missing, and is not written when empty,
    so that older reports are written as they came.
    """

    version: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object, as its annotation states it."""

    name: str
    kind: Kind
    is_nullable: bool
    description: str
    since: Since | None

    @property
    def is_required(self) -> bool:
        return not self.is_nullable and self.kind.default is None

    def schema(self) -> Schema:
        schema = {**self.kind.schema, **({"description": self.description} if self.description else {})}
        if self.is_nullable:
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "$comment": f"since {self.since.version}"} if self.since else schema


class Object:
    """How objects of one dataclass are read, written and described; see `object_of`."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.fields = tuple(_fields_of(cls))
        self.containers = {field.name: field.kind for field in self.fields if isinstance(field.kind, Container)}
        self.open_fields = [field for field in self.fields if field.kind.known or field.name in self.containers]
        self.relation: Relation = getattr(cls, "RELATION", Relation())
        self._names = frozenset(field.name for field in self.fields)
        steps = {field.name: _step(field) for field in self.fields}
        self._first = [steps.pop(name) for name in self.relation.first]
        self._rest = list(steps.values())

    def read(self, value: object) -> Any:  # noqa: ANN401 (an instance of the class)
        source = as_object(value)
        values: dict[str, Any] = {}
        _read_fields(self._first, source, values)
        self.relation.check(values)
        _read_fields(self._rest, source, values)
        if not self._names.issuperset(source):
            values["extra"] = extra = {name: inner for name, inner in source.items() if name not in self._names}
            check_names(extra)
        return self.cls(**values)

    def write(self, item: Any) -> dict[str, Any]:  # noqa: ANN401
        written: dict[str, Any] = {}
        for field in self.fields:
            value = getattr(item, field.name)
            if field.since and not value and value != 0:
                continue
            written[field.name] = None if value is None else field.kind.write(value)
        return {**written, **item.extra}

    def schema(self) -> Schema:
        """Unknown fields are allowed everywhere, as the parser keeps them."""
        return {
            "type": "object",
            "properties": {field.name: field.schema() for field in self.fields},
            "required": [field.name for field in self.fields if field.is_required],
            **(self.relation.schema or {}),
        }


@cache
def object_of(cls: type) -> Object:
    return Object(cls)


def _fields_of(cls: type) -> Iterator[Field]:
    annotations = get_type_hints(cls, include_extras=True)
    for name in (field.name for field in dataclasses.fields(cls) if field.name != "extra"):
        annotation = annotations[name]
        is_nullable = NoneType in get_args(annotation)
        if is_nullable:
            annotation = next(option for option in get_args(annotation) if option is not NoneType)
        metadata = getattr(annotation, "__metadata__", ())
        kind = next((entry for entry in metadata if isinstance(entry, Kind)), None) or _nested(
            getattr(annotation, "__origin__", annotation)
        )
        description = next((entry for entry in metadata if isinstance(entry, str)), "")
        since = next((entry for entry in metadata if isinstance(entry, Since)), None)
        yield Field(name, kind, is_nullable, description, since)


Step = tuple[str, object, bool, Callable[..., Any], str]
"""Name of a field, its default, whether it may be null, its reader, the sibling its reader gets."""


def _step(field: Field) -> Step:
    default = field.kind.default and field.kind.default()
    return field.name, default, field.is_nullable, field.kind.read, field.kind.sibling


def _read_fields(steps: Iterable[Step], source: Mapping[str, Any], values: dict[str, Any]) -> None:
    """Put what the fields hold into `values`. Raises ReportError with the path of the field, its dot included."""
    for name, default, is_nullable, read, sibling in steps:
        value = source.get(name, default)
        try:
            if sibling:
                values[name] = read(value, values[sibling])
            else:
                values[name] = None if value is None and is_nullable else read(value)
        except ReportError as error:
            problem = error.problem if name in source else "is missing"
            raise ReportError(f".{name}{error.path}", problem) from None


# --- kinds that hold objects ---


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Container(Kind):
    """A kind that holds objects: `items` gives (key, object) of each, `label` its path below the field.

    `group`: the same path for all of them; `levels`: how much deeper than the field's own object they lie.
    """

    object: Object
    items: Callable[[Any], Iterable[tuple[Any, Any]]]
    label: str = ""
    group: str = ""
    levels: int = 2


def _nested(cls: type) -> Container:
    """One object, or None where the field may be null."""
    inner = object_of(cls)
    return Container(
        read=inner.read,
        schema=inner.schema(),
        write=inner.write,
        object=inner,
        items=lambda item: [] if item is None else [("", item)],
        levels=1,
    )


def list_of(cls: type, most: int) -> Container:
    """At most `most` objects."""
    inner = object_of(cls)

    def read(value: object) -> tuple[Any, ...]:
        items = []
        for number, item in enumerate(as_list(value, most)):
            try:
                items.append(inner.read(item))
            except ReportError as error:
                raise ReportError(f"[{number}]{error.path}", error.problem) from None
        return tuple(items)

    return Container(
        read=read,
        schema={"type": "array", "items": inner.schema(), "maxItems": most},
        write=lambda items: [inner.write(item) for item in items],
        default=list,
        object=inner,
        items=enumerate,
        label="[{}]",
    )


def map_of(cls: type, most: int, known: Mapping[str, Any], sibling: str) -> Container:
    """At most `most` objects by name, no name being also in the map that the field `sibling` holds."""
    inner = object_of(cls)

    def read(value: object, others: Mapping[str, Any]) -> dict[str, Any]:
        source = as_object(value)
        check_count(source, most)
        check_names(source)
        both = source.keys() & others.keys()
        if both:
            raise ReportError(f".{min(both)}", f"is among the {sibling} too")
        items = {}
        for name, item in source.items():
            try:
                items[name] = inner.read(item)
            except ReportError as error:
                raise ReportError(f".{name}{error.path}", error.problem) from None
        return items

    return Container(
        read=read,
        schema={**map_schema(most, inner.schema()), "description": f"understood: {', '.join(known)}"},
        write=lambda items: {name: inner.write(item) for name, item in items.items()},
        default=dict,
        sibling=sibling,
        known=known,
        object=inner,
        items=dict.items,
        label=".{}",
        group=".*",
    )
