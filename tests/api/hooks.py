"""What the catalogue decides and no document can: vendors and architectures there are, moments that are past.

schemathesis imports this in a process of its own, without Django.
"""

from datetime import UTC, datetime
from typing import Any

import schemathesis
from schemathesis import GenerationMode

KNOWN = {"vendor": ["nvidia", "amd", "apple"], "architecture": ["Hopper", "Ampere", "Blackwell"]}
PAST = "2026-01-01T00:00:00Z"
DUMP = "PyTorch version: 2.8.0+cu128\nCUDA used to build PyTorch: 12.8\nOS: Ubuntu 22.04.5 LTS (x86_64)\n"


@schemathesis.hook
def map_case(_context: Any, case: schemathesis.Case) -> schemathesis.Case:
    """A case that the document allows, with values that exist; one that it forbids stays as it is."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return case
    if case.media_type == "text/plain" and isinstance(case.body, str):
        case.body = DUMP + case.body
    if isinstance(case.query, dict):
        query = {name: KNOWN[name][: len(value)] if name in KNOWN else value for name, value in case.query.items()}
        if str(query.get("at", "")) > datetime.now(UTC).isoformat():
            query["at"] = PAST
        if "condition" in query:
            query["condition"] = str(query["condition"]).partition(";")[0]  # a pattern cannot say: each key once
        case.query = query
    return case
