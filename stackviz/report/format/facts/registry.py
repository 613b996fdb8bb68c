"""The registry of facts: every name a report may state, found in the modules of this package.

Three mappings of one shape: FACTS about a machine, CARD_FACTS about one card, CONDITIONS around one result. A name
that is missing here is kept and listed as not understood; a known name with a value of the wrong type is refused.
To add one: docs/recipes/fact.md.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from stackviz.base.discovery import modules_of
from stackviz.report.format import facts as package
from stackviz.report.format.facts.asking import Questions
from stackviz.report.format.facts.conditions import READINGS
from stackviz.report.format.facts.fact import Fact, FactType
from stackviz.report.format.facts.nvml import NvmlCard
from stackviz.report.format.facts.table import AnyFactTable, CardFactTable, FactTable, Question

__all__ = [
    "CARD_ABSENT_NAMES", "CARD_FACTS", "CONDITIONS", "FACTS", "card_questions", "command_to_read", "questions_of",
    "reading_questions",
]  # fmt: skip

_Table = TypeVar("_Table", bound=AnyFactTable[Any])


def _tables(attribute: str, kind: type[_Table]) -> list[_Table]:
    """The tables that modules of this package name so, in their order."""
    values = [getattr(module, attribute, None) for module in modules_of(package)]
    return sorted((table for table in values if isinstance(table, kind)), key=lambda table: table.order)


def _by_name(facts: Iterable[Fact]) -> Mapping[str, Fact]:
    return MappingProxyType({fact.name: fact for fact in facts})


_FACT_TABLES = _tables("FACTS", FactTable)
_CARD_TABLES = _tables("CARD_FACTS", CardFactTable)
FACTS = _by_name(fact for table in _FACT_TABLES for fact in table)
CARD_FACTS = _by_name(fact for table in _CARD_TABLES for fact in table)
CONDITIONS = _by_name(fact for table in _tables("CONDITIONS", FactTable) for fact in table)

CARD_ABSENT_NAMES = _by_name(
    [
        *CARD_FACTS.values(),
        *READINGS,
        Fact(name="memory_bytes", kind=FactType.INTEGER, unit="B", meaning="memory of the card", least=1),
        Fact(name="uuid_hash", kind=FactType.TEXT, unit="", meaning="hash of the card's UUID"),
    ]
)
"""What a card may lack: its facts, the readings that conditions would hold, and fields of its own."""


def questions_of(probe: str) -> Questions:
    """All that this probe asks of a machine, in the order of the declarations."""
    questions = Questions()
    for table in _FACT_TABLES:
        for asking_probe, name, question in table.questions:
            if asking_probe == probe:
                questions.about(name)(question)
    return questions


def card_questions() -> dict[str, Question[NvmlCard]]:
    """Name -> question, of every fact of a card that NVML is asked for."""
    return {name: question for table in _CARD_TABLES for _probe, name, question in table.questions}


def reading_questions() -> dict[str, Question[NvmlCard]]:
    """Return name -> question for every reading that NVML is asked for during a measurement."""
    return {name: question for _probe, name, question in READINGS.questions}


def command_to_read(name: str) -> str:
    """What a person types to learn this fact of a machine or a card; "" where no single command prints it."""
    fact = FACTS.get(name) or CARD_FACTS.get(name)
    return fact.command if fact else ""
