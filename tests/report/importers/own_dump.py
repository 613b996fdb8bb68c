"""Invented dumps, at least one of each kind: what real dumps prove where they are, these prove in every clone.

A module of these tests that names a tuple OWN_DUMPS is found; tests/report/dumps takes each of them from text to answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stackviz.base.discovery import modules_of
from stackviz.report.dumps import machines
from stackviz.report.format import Scalar
from stackviz.report.importers import Reading, read_all
from tests.report import importers

FIXTURES = Path(__file__).parents[2] / "fixtures"


@dataclass(frozen=True, kw_only=True)
class OwnDump:
    """A text of one kind; facts that must be read of it, how many cards, rules that must answer, what prints it.

    `commands`: as advice writes them.
    """

    kind: str
    text: str
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    cards: int = 0
    rules: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def own_dumps() -> tuple[OwnDump, ...]:
    return tuple(dump for module in modules_of(importers) for dump in getattr(module, "OWN_DUMPS", ()))


def fixture(name: str) -> str:
    """`folder/file` of tests/fixtures."""
    return (FIXTURES / name).read_text(encoding="utf-8")


def reading_of(text: str) -> Reading:
    """What the one machine of a text reports."""
    (machine,) = machines(read_all(text))
    return machine.reading
