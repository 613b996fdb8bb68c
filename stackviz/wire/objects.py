"""Objects of the format: read, written and described by the annotations of their dataclasses.

The annotation of a field says all there is to it: its kind, that it may be null (`| None`) and, as plain text, what it
means. A dataclass may state a `RELATION` between its fields. Fields that are not known go to `extra` and come back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_type_hints

from stackviz.wire.errors import ReportError
from stackviz.wire.kinds import Kind, Schema, Value, as_list, as_object, check_count, check_names
from stackviz.wire.scalars import map_schema

__all__ = ["Field", "Holder", "ListOf", "MapOf", "Object", "Relation", "object_of"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What holds between fields of one object. `first` are read before the others, in this order; then `check` runs.

    `check` gets what was read so far and raises ReportError; `schema` says the same, as far as JSON Schema can.
    """

    first: tuple[str, ...]
    check: Callable[[Mapping[str, Any]], None] = lambda _values: None
    schema: Callable[[], Schema] = dict


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object, as its annotation states it."""

    name: str
    kind: Kind[Any]
    is_nullable: bool
    description: str

    @property
    def is_required(self) -> bool:
        return not self.is_nullable and self.kind.default is None

    def schema(self) -> Schema:
        schema = self.kind.schema()
        if self.description:
            schema["description"] = self.description
        return {"anyOf": [schema, {"type": "null"}]} if self.is_nullable else schema


class Holder(Kind[Value]):
    """A kind that holds objects: one, a list or a map of them.

    `label`: where one of them is, below the field; `group`: the same for all of them; `levels`: how much deeper it is.
    """

    object: "Object"
    label = ""
    group = ""
    levels = 2

    def items(self, value: Value) -> Iterable[tuple[Any, Any]]:
        """(key for `label`, object) of each."""
        raise NotImplementedError


class Object(Holder[Any]):
    """An object that becomes a dataclass; one for each class, see `object_of`."""

    levels = 1

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.object = self
        self.fields = tuple(_fields_of(cls))
        self.relation: Relation = getattr(cls, "RELATION", Relation(()))
        self.holders = {field.name: field.kind for field in self.fields if isinstance(field.kind, Holder)}
        self.open_fields = [field for field in self.fields if field.name in self.holders or field.kind.known]
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

    def write(self, value: Any) -> dict[str, Any]:  # noqa: ANN401
        written: dict[str, Any] = {}
        for field in self.fields:
            inner = getattr(value, field.name)
            written[field.name] = None if inner is None else field.kind.write(inner)
        return {**written, **value.extra}

    def items(self, value: Any) -> Iterable[tuple[Any, Any]]:  # noqa: ANN401
        return (("", value),)

    def schema(self) -> Schema:
        """Unknown fields are allowed everywhere, as the parser keeps them."""
        return {
            "type": "object",
            "properties": {field.name: field.schema() for field in self.fields},
            "required": [field.name for field in self.fields if field.is_required],
            **self.relation.schema(),
        }


@cache
def object_of(cls: type) -> Object:
    return Object(cls)


def _fields_of(cls: type) -> Iterator[Field]:
    annotations = get_type_hints(cls, include_extras=True)
    for name in (field.name for field in fields(cls) if field.name != "extra"):
        annotation = annotations[name]
        is_nullable = NoneType in get_args(annotation)
        if is_nullable:
            annotation = next(option for option in get_args(annotation) if option is not NoneType)
        metadata = getattr(annotation, "__metadata__", ())
        kind = next((entry for entry in metadata if isinstance(entry, Kind)), None) or object_of(annotation)
        description = next((entry for entry in metadata if isinstance(entry, str)), "")
        yield Field(name, kind, is_nullable, description)


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


class ListOf(Holder[Sequence[Any]]):
    """At most `most` objects of one class."""

    default = list
    label = "[{}]"

    def __init__(self, cls: type, most: int) -> None:
        self.object, self.most = object_of(cls), most

    def read(self, value: object) -> Sequence[Any]:
        items = []
        for number, item in enumerate(as_list(value, self.most)):
            try:
                items.append(self.object.read(item))
            except ReportError as error:
                raise ReportError(f"[{number}]{error.path}", error.problem) from None
        return tuple(items)

    def items(self, value: Sequence[Any]) -> Iterable[tuple[int, Any]]:
        return enumerate(value)

    def write(self, value: Sequence[Any]) -> list[dict[str, Any]]:
        return [self.object.write(item) for item in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.object.schema(), "maxItems": self.most}


class MapOf(Holder[Mapping[str, Any]]):
    """At most `most` objects of one class by name, no name being also in the map that the field `sibling` holds."""

    default = dict
    label = ".{}"
    group = ".*"
    known: Mapping[str, Any]

    def __init__(self, cls: type, most: int, known: Mapping[str, Any], sibling: str) -> None:
        self.object, self.most, self.known, self.sibling = object_of(cls), most, known, sibling

    def read(self, value: object, others: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        source = as_object(value)
        check_count(source, self.most)
        check_names(source)
        both = source.keys() & others.keys()
        if both:
            raise ReportError(f".{min(both)}", f"is among the {self.sibling} too")
        items = {}
        for name, item in source.items():
            try:
                items[name] = self.object.read(item)
            except ReportError as error:
                raise ReportError(f".{name}{error.path}", error.problem) from None
        return items

    def items(self, value: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        return value.items()

    def write(self, value: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        return {name: self.object.write(item) for name, item in value.items()}

    def schema(self) -> Schema:
        schema = map_schema(self.most, self.object.schema())
        return {**schema, "description": f"understood: {', '.join(self.known)}"}
