"""Maps of names to scalars: the facts of a machine and of a card, parameters, conditions."""

from collections.abc import Mapping
from typing import Any

from stackviz.facts import Fact, FactType, Scalar
from stackviz.wire.errors import ReportError
from stackviz.wire.kinds import TEXT, Kind, Schema, as_object, check_count, check_names, noun, number_schema
from stackviz.wire.limits import LIMITS

__all__ = ["Scalar", "Scalars", "map_schema"]

Bounds = dict[type, tuple[float, float]]

_BOUNDS: Bounds = {
    str: (0, LIMITS.string_chars),
    bool: (False, True),
    int: (-LIMITS.integer_max, LIMITS.integer_max),
    float: (-LIMITS.number_max, LIMITS.number_max),
}
"""Type -> the smallest and the largest value any scalar may have; of text its length."""
_OUT_OF_BOUNDS = {
    str: f"is over {LIMITS.string_chars} characters long",
    int: "is an integer beyond 64 bits",
    float: "is not a finite number of ordinary size",
}


class Scalars(Kind[Mapping[str, Scalar]]):
    """At most `most` scalars; those of names in `known` must have the type and the bound stated there."""

    default = dict

    known: Mapping[str, Fact] | None

    def __init__(self, most: int, known: Mapping[str, Fact] | None = None) -> None:
        self.most, self.known = most, known
        self._bounds = {name: _bounds_of(fact) for name, fact in (known or {}).items()}

    def read(self, value: object) -> dict[str, Scalar]:
        scalars: dict[str, Scalar] = as_object(value)
        check_count(scalars, self.most)
        check_names(scalars)
        for name, scalar in scalars.items():
            bounds = self._bounds.get(name, _BOUNDS).get(type(scalar))
            size: Any = len(scalar) if type(scalar) is str else scalar
            if bounds is None or not bounds[0] <= size <= bounds[1]:
                raise ReportError(f".{name}", self._problem_with(name, scalar))
        return scalars or {}  # never the default, which is shared

    def _problem_with(self, name: str, value: object) -> str:
        if type(value) not in _BOUNDS:
            return f"is {noun(value)}, not text, a number, true or false"
        fact = (self.known or {}).get(name)
        least, most = _BOUNDS[type(value)]
        size: Any = len(value) if isinstance(value, str) else value
        if fact is None or not least <= size <= most:
            return _OUT_OF_BOUNDS[type(value)]
        return fact.problem_with(value) or ""

    def write(self, value: Mapping[str, Scalar]) -> dict[str, Scalar]:
        return dict(value)

    def schema(self) -> Schema:
        schema = map_schema(self.most, {"anyOf": [TEXT.schema(), {"type": "boolean"}, number_schema()]})
        if self.known is None:
            return schema
        return {**schema, "properties": {name: _fact_schema(fact) for name, fact in self.known.items()}}


def map_schema(most: int, value: Schema) -> Schema:
    names = {"minLength": 1, "maxLength": LIMITS.name_chars}
    return {"type": "object", "maxProperties": most, "propertyNames": names, "additionalProperties": value}


def _bounds_of(fact: Fact) -> Bounds:
    bounds = {kind: _BOUNDS[kind] for kind in fact.types}
    return bounds if fact.least is None else {kind: (fact.least, most) for kind, (_least, most) in bounds.items()}


def _fact_schema(fact: Fact) -> Schema:
    schema: Schema = {"description": f"{fact.meaning} [{fact.unit}]" if fact.unit else fact.meaning}
    match fact.kind:
        case FactType.TEXT:
            return schema | TEXT.schema()
        case FactType.TRUTH:
            return schema | {"type": "boolean"}
        case FactType.INTEGER:
            schema |= {"type": "integer", "minimum": -LIMITS.integer_max, "maximum": LIMITS.integer_max}
        case FactType.NUMBER:
            schema |= number_schema()
    return schema if fact.least is None else schema | {"minimum": fact.least}
