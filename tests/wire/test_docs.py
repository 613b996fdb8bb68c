"""The tables of docs/wire-format.md are made from the registries; this test holds them equal.

To write them anew after a change of the registries: UPDATE_DOCS=1 python -m pytest tests/wire/test_docs.py
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from stackviz.wire import ABSENT_REASONS, CARD_FACTS, COMPONENTS, CONDITIONS, FACTS, LIMITS, Fact

PAGE = Path(__file__).parents[2] / "docs" / "wire-format.md"
BEGIN = "<!-- made from stackviz/wire by tests/wire/test_docs.py: begin -->\n"
END = "<!-- end -->\n"


def test_the_tables_in_the_prose_are_those_of_the_code():
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page = before + BEGIN + "\n".join(tables()) + "\n" + END + after
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def tables() -> Iterable[str]:
    yield "\n## Limits\n"
    yield from rows("limit", "most", ((f"`{name}`", f"{most:,}") for name, most in asdict(LIMITS).items()))
    yield "\n## Why a fact is absent\n"
    yield from rows("reason", "meaning", ((f"`{name}`", meaning) for name, meaning in ABSENT_REASONS.items()))
    yield "\n## Facts about a machine\n"
    yield from facts(FACTS)
    yield "\n## Facts about a card\n"
    yield from facts(CARD_FACTS)
    yield "\n## Conditions of a result\n"
    yield from facts(CONDITIONS)
    yield "\n## Components\n"
    yield from rows("component", "what it is", ((f"`{slug}`", meaning) for slug, meaning in COMPONENTS.items()))


def facts(table: Mapping[str, Fact]) -> Iterable[str]:
    yield "| name | type | unit | meaning |\n|---|---|---|---|"
    for fact in table.values():
        yield f"| `{fact.name}` | {fact.kind} | {fact.unit} | {fact.meaning} |"


def rows(left: str, right: str, pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    yield f"| {left} | {right} |\n|---|---|"
    for one, other in pairs:
        yield f"| {one} | {other} |"
