"""The wire format as a JSON Schema (draft 2020-12), derived from the annotations the parser reads.

What a schema cannot say is said in docs/wire-format.md: a name is not among facts and absent at once, indices of
cards differ, `results[].card` names one of them, keys are not repeated, times exist, unknown fields hold no more than
`LIMITS.unknown_values` values together.
"""

from typing import Any

from stackviz.report.format.report import FORMAT, REPORT

__all__ = ["json_schema"]


def json_schema() -> dict[str, Any]:
    """Unknown fields are allowed everywhere, as the parser keeps them."""
    report = REPORT.schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "accelweb report",
        "description": "What one machine said at one time. SI units; unknown is absent with a reason, never 0.",
        **report,
        "properties": {"format": {"const": FORMAT, "type": "integer"}, **report["properties"]},
        "required": ["format", *report["required"]],
    }
