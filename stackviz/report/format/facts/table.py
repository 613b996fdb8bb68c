"""Tables of facts: where they are declared, each with the question that reads it from a machine."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.format.facts.fact import Fact, FactType, Scalar
from stackviz.report.format.facts.nvml import NvmlCard

__all__ = ["AnyFactTable", "CardFactTable", "FactTable"]

Subject = TypeVar("Subject")
Question = Callable[[Subject], Scalar | None]
Decorator = Callable[[Question[Subject]], Question[Subject]]


class AnyFactTable(Generic[Subject]):
    """The facts of one topic, in the order in which pages list them; the registry finds the tables by their names.

    A declaration is a plain call, where importers or a probe state the fact by themselves, or decorates its question:

    >>> FACTS = FactTable(order=10, probe="system")
    >>> @FACTS.text("os.kernel", "kernel name and release: Linux 6.8.0-45-generic")
    ... def os_kernel(around: Surroundings) -> str: ...

    `order`: tables with a lower one are listed first; a table without one comes last. `probe`: which probe of the agent
    asks the questions, unless a declaration names another.
    """

    def __init__(self, order: int = 1000, probe: str = "") -> None:
        self.order = order
        self.questions: list[tuple[str, str, Question[Subject]]] = []
        """(probe, name of the fact, question), in the order of the declarations."""
        self._probe = probe
        self._facts: list[Fact] = []

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def extend(self, facts: Iterable[Fact]) -> None:
        self._facts.extend(facts)

    def text(self, name: str, meaning: str, *, probe: str = "", command: str = "") -> Decorator[Subject]:
        return self._declare(Fact(name=name, kind=FactType.TEXT, unit="", meaning=meaning, command=command), probe)

    def truth(self, name: str, meaning: str, *, probe: str = "", command: str = "") -> Decorator[Subject]:
        return self._declare(Fact(name=name, kind=FactType.TRUTH, unit="", meaning=meaning, command=command), probe)

    def count(
        self, name: str, meaning: str, *, least: int = 1, probe: str = "", command: str = ""
    ) -> Decorator[Subject]:
        """So many of something."""
        return self.integer(name, meaning, unit="count", least=least, probe=probe, command=command)

    def size(
        self, name: str, meaning: str, *, least: int = 1, probe: str = "", command: str = ""
    ) -> Decorator[Subject]:
        """So many bytes."""
        return self.integer(name, meaning, unit="B", least=least, probe=probe, command=command)

    def integer(
        self, name: str, meaning: str, *, unit: str = "", least: int = 0, probe: str = "", command: str = ""
    ) -> Decorator[Subject]:
        fact = Fact(name=name, kind=FactType.INTEGER, unit=unit, meaning=meaning, least=least, command=command)
        return self._declare(fact, probe)

    def number(
        self, name: str, meaning: str, *, unit: str, least: float | None = 0, probe: str = "", command: str = ""
    ) -> Decorator[Subject]:
        fact = Fact(name=name, kind=FactType.NUMBER, unit=unit, meaning=meaning, least=least, command=command)
        return self._declare(fact, probe)

    def _declare(self, fact: Fact, probe: str) -> Decorator[Subject]:
        self._facts.append(fact)

        def ask_with(question: Question[Subject]) -> Question[Subject]:
            self.questions.append((probe or self._probe, fact.name, question))
            return question

        return ask_with


class FactTable(AnyFactTable[Surroundings]):
    """Facts of a machine: their questions are asked of its surroundings."""


class CardFactTable(AnyFactTable[NvmlCard]):
    """Facts of one card: their questions are asked of NVML."""
