"""Maps of names to scalars: the facts of a machine and of a card, parameters, conditions."""

from collections.abc import Mapping
from typing import Any

from stackviz.report.format.facts.fact import Fact, FactType, Scalar, noun
from stackviz.report.format.kinds import TEXT, Kind, Schema, as_object, check_count, check_names, number_schema
from stackviz.report.format.limits import LIMITS, ReportError

__all__ = ["map_schema", "scalars"]

Bounds = dict[type, tuple[float, float]]

_BOUNDS: Bounds = {
    str: (0, LIMITS.string_chars),
    bool: (False, True),
    int: (-LIMITS.integer_max, LIMITS.integer_max),
    float: (-LIMITS.number_max, LIMITS.number_max),
}
"""Type -> the smallest and the largest value any scalar may have; of text its length."""


def scalars(most: int, known: Mapping[str, Fact] | None = None) -> Kind:
    """At most `most` scalars; those of names in `known` must have the type and the bound stated there."""
    bounds_of = {name: _bounds(fact) for name, fact in (known or {}).items()}

    def read(value: object) -> dict[str, Scalar]:
        read: dict[str, Scalar] = as_object(value)
        check_count(read, most)
        check_names(read)
        for name, scalar in read.items():
            bounds = bounds_of.get(name, _BOUNDS).get(type(scalar))
            size: Any = len(scalar) if type(scalar) is str else scalar
            if bounds is None or not bounds[0] <= size <= bounds[1]:
                fact = known.get(name) if known else None
                raise ReportError(f".{name}", _size_problem(scalar) or (fact and fact.problem_with(scalar)) or "")
        return read or {}  # never the default, which is shared

    schema = map_schema(most, {"anyOf": [TEXT.schema, {"type": "boolean"}, number_schema()]})
    if known is not None:
        schema["properties"] = {name: _fact_schema(fact) for name, fact in known.items()}
    return Kind(read=read, schema=schema, write=dict, default=dict, known=known)


def _bounds(fact: Fact) -> Bounds:
    return {
        kind: (least if fact.least is None else fact.least, most)
        for kind, (least, most) in _BOUNDS.items()
        if kind in fact.types
    }


def _size_problem(value: object) -> str | None:
    """What is wrong with a scalar whatever its name says."""
    if isinstance(value, str):
        return f"is over {LIMITS.string_chars} characters long" if len(value) > LIMITS.string_chars else None
    if not isinstance(value, bool | int | float):
        return f"is {noun(value)}, not text, a number, true or false"
    least, most = _BOUNDS[type(value)]
    if least <= value <= most:
        return None
    return "is an integer beyond 64 bits" if type(value) is int else "is not a finite number of ordinary size"


def map_schema(most: int, value: Schema) -> Schema:
    names = {"minLength": 1, "maxLength": LIMITS.name_chars}
    return {"type": "object", "maxProperties": most, "propertyNames": names, "additionalProperties": value}


def _fact_schema(fact: Fact) -> Schema:
    value = {
        FactType.TEXT: TEXT.schema,
        FactType.TRUTH: {"type": "boolean"},
        FactType.INTEGER: {"type": "integer", "minimum": -LIMITS.integer_max, "maximum": LIMITS.integer_max},
        FactType.NUMBER: number_schema(),
    }[fact.kind]
    least = {} if fact.least is None else {"minimum": fact.least}
    return {"description": f"{fact.meaning} [{fact.unit}]" if fact.unit else fact.meaning, **value, **least}
