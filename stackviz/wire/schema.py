"""The wire format as a JSON Schema (draft 2020-12), made from the same registries the parser reads.

What a schema cannot say is said in docs/wire-format.md: a name is not among facts and absent at once, indices of
cards differ, `results[].card` names one of them, keys are not repeated, times exist, unknown fields hold no more than
`LIMITS.unknown_values` values together.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from stackviz.wire.components import COMPONENTS
from stackviz.wire.facts import ABSENT_REASONS, CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact, FactType
from stackviz.wire.limits import LIMITS
from stackviz.wire.report import FORMAT, PROBE_STATES, RESULT_STATES
from stackviz.wire.values import SHA256_PATTERN, SLUG_PATTERN, TIME_PATTERN, UUID_PATTERN

__all__ = ["json_schema"]

Schema = dict[str, Any]


def json_schema() -> Schema:
    """Unknown fields are allowed everywhere, as the parser keeps them."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "accelweb report",
        "description": "What one machine said at one time. SI units; unknown is absent with a reason, never 0.",
        **_object(
            {
                "format": {"const": FORMAT, "type": "integer"},
                "id": {"type": "string", "format": "uuid", "pattern": _whole(UUID_PATTERN), "description": "made once"},
                "created_at": _time(),
                "agent": _object({"name": _name(), "version": _name()}),
                "machine": _object({"identity": _sha256(), "name": _or_null(_name())}, optional={"name"}),
                "facts": _facts(FACTS, LIMITS.facts),
                "absent": _absent(FACTS),
                "cards": _list(_card(), LIMITS.cards),
                "software": _list(_software(), LIMITS.software),
                "results": _list(_result(), LIMITS.results),
                "probes": _list(_probe(), LIMITS.probes),
            },
            optional={"facts", "absent", "cards", "software", "results", "probes"},
        ),
    }


def _card() -> Schema:
    return _object(
        {
            "index": _integer(0),
            "kind": {**_slug(), "description": "gpu, soc, npu, ..."},
            "vendor": {**_slug(), "description": "nvidia, apple, amd, intel, ..."},
            "reported_name": _name(),
            "memory_bytes": _or_null(_integer(1)),
            "uuid_hash": _or_null(_sha256()),
            "facts": _facts(CARD_FACTS, LIMITS.facts),
            "absent": _absent(CARD_ABSENT_NAMES),
        },
        optional={"memory_bytes", "uuid_hash", "facts", "absent"},
    )


def _software() -> Schema:
    slugs = ", ".join(COMPONENTS)
    return _object(
        {
            "component": {**_slug(), "description": f"understood: {slugs}"},
            "version": _or_null(_name()),
            "found_by": _name(),
        },
        optional={"version"},
    )


def _result() -> Schema:
    sample = {"type": "number", "exclusiveMinimum": 0, "maximum": LIMITS.number_max}
    schema = _object(
        {
            "benchmark": _slug(),
            "version": _integer(1),
            "device": _name(),
            "card": _or_null(_integer(0)),
            "params": _scalars(LIMITS.params),
            "state": {"enum": sorted(RESULT_STATES)},
            "reason": _or_null(_text()),
            "unit": {**_name(), "description": "of the samples: s"},
            "samples": _list(sample, LIMITS.samples),
            "started_at": _or_null(_time()),
            "duration_s": _or_null(_seconds()),
            "conditions": _facts(CONDITIONS, LIMITS.conditions),
        },
        optional={"card", "params", "reason", "samples", "started_at", "duration_s", "conditions"},
    )
    told = {"required": ["samples", "started_at"], "properties": {"samples": {"minItems": 1}, "started_at": _time()}}
    explained = {"required": ["reason"], "properties": {"reason": {"type": "string", "minLength": 1}}}
    return {**schema, "if": {"properties": {"state": {"const": "ok"}}}, "then": told, "else": explained}


def _probe() -> Schema:
    return _object(
        {
            "probe": _name(),
            "state": {"enum": sorted(PROBE_STATES)},
            "duration_s": _or_null(_seconds()),
            "detail": _or_null(_text()),
        },
        optional={"duration_s", "detail"},
    )


def _absent(known: Iterable[str]) -> Schema:
    why = _object(
        {
            "reason": {"enum": sorted(ABSENT_REASONS), "description": "; ".join(_explained(ABSENT_REASONS))},
            "detail": _or_null(_text()),
        },
        optional={"detail"},
    )
    return {**_map(LIMITS.facts, why), "description": f"understood: {', '.join(known)}"}


def _explained(meanings: Mapping[str, str]) -> Iterable[str]:
    return (f"{name}: {meaning}" for name, meaning in meanings.items())


def _facts(table: Mapping[str, Fact], most: int) -> Schema:
    return {**_scalars(most), "properties": {name: _fact(fact) for name, fact in table.items()}}


def _fact(fact: Fact) -> Schema:
    schema: Schema = {"description": f"{fact.meaning} [{fact.unit}]" if fact.unit else fact.meaning}
    match fact.kind:
        case FactType.TEXT:
            return schema | _text()
        case FactType.TRUTH:
            return schema | {"type": "boolean"}
        case FactType.INTEGER:
            bounds = {"minimum": -LIMITS.integer_max, "maximum": LIMITS.integer_max}
            schema |= {"type": "integer", **bounds}
        case FactType.NUMBER:
            schema |= _number()
    return schema | ({} if fact.least is None else {"minimum": fact.least})


def _scalars(most: int) -> Schema:
    return _map(most, {"anyOf": [_text(), {"type": "boolean"}, _number()]})


def _map(most: int, value: Schema) -> Schema:
    names = {"minLength": 1, "maxLength": LIMITS.name_chars}
    return {"type": "object", "maxProperties": most, "propertyNames": names, "additionalProperties": value}


def _object(properties: dict[str, Schema], optional: Iterable[str] = ()) -> Schema:
    required = [name for name in properties if name not in set(optional)]
    return {"type": "object", "properties": properties, "required": required}


def _list(item: Schema, most: int) -> Schema:
    return {"type": "array", "items": item, "maxItems": most}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _name() -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": LIMITS.name_chars}


def _text() -> Schema:
    return {"type": "string", "maxLength": LIMITS.string_chars}


def _slug() -> Schema:
    return {**_name(), "pattern": _whole(SLUG_PATTERN)}


def _sha256() -> Schema:
    return {"type": "string", "pattern": _whole(SHA256_PATTERN)}


def _time() -> Schema:
    pattern = _whole(TIME_PATTERN.replace(r"\d", "[0-9]"))
    return {"type": "string", "format": "date-time", "pattern": pattern}


def _integer(least: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": LIMITS.integer_max}


def _number() -> Schema:
    return {"type": "number", "minimum": -LIMITS.number_max, "maximum": LIMITS.number_max}


def _seconds() -> Schema:
    return {"type": "number", "minimum": 0, "maximum": LIMITS.number_max}


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"
