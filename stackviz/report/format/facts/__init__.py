"""What a report may state about a machine, and how a machine is asked for it. Standard library only.

A fact is declared once, in the module of its topic: name, type, unit, meaning, and the question that reads it.
"""

from stackviz.report.format.facts.fact import ABSENT_REASONS, LONGEST_TEXT, Fact, FactType, Scalar
from stackviz.report.format.facts.registry import (
    CARD_ABSENT_NAMES,
    CARD_FACTS,
    CONDITIONS,
    FACTS,
    card_questions,
    command_to_read,
    questions_of,
    reading_questions,
)

__all__ = [
    "ABSENT_REASONS", "CARD_ABSENT_NAMES", "CARD_FACTS", "CONDITIONS", "FACTS", "LONGEST_TEXT", "Fact", "FactType",
    "Scalar", "card_questions", "command_to_read", "questions_of", "reading_questions",
]  # fmt: skip
