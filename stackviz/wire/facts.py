"""The registry of facts, as the report format uses it: what stackviz.facts declares."""

from stackviz.facts import ABSENT_REASONS, CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact, FactType
from stackviz.facts.conditions import MOMENTS

__all__ = ["ABSENT_REASONS", "CARD_ABSENT_NAMES", "CARD_FACTS", "CONDITIONS", "FACTS", "MOMENTS", "Fact", "FactType"]
