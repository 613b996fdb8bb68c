"""Equivalent terms across stacks: streams, warps, pinned memory. From data/terms.csv."""

import csv
from dataclasses import dataclass
from functools import lru_cache

from django.urls import reverse
from django.utils.translation import gettext

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.records.stacks.files import DATA, source_lines
from stackviz.records.stacks.models import Counterpart

FILE = "terms.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTerm:
    """A term and its equivalent. `component`: the one it belongs to; `other_term`: "" if there is no equivalent."""

    stack: str
    component: str
    term: str
    other_stack: str
    other_component: str
    other_term: str
    relation: str
    differs: str
    source: SourceLink

    @property
    def url(self) -> str:
        return reverse("stacks:component", args=[self.component]) if self.component else ""

    @property
    def other_url(self) -> str:
        return reverse("stacks:component", args=[self.other_component]) if self.other_component else ""

    @property
    def how_far(self) -> str:
        """The relation in the current language."""
        return str(Counterpart.Relation(self.relation).label) if self.other_term else gettext("none")

    def turned(self) -> "StackTerm":
        """The same pair from the side of the other stack."""
        return StackTerm(
            stack=self.other_stack,
            component=self.other_component,
            term=self.other_term,
            other_stack=self.stack,
            other_component=self.component,
            other_term=self.term,
            relation=self.relation,
            differs=self.differs,
            source=self.source,
        )


@lru_cache(maxsize=1)
def all_terms() -> tuple[StackTerm, ...]:
    """All terms of the file. Raises KeyError for a source that the files do not list."""
    sources = {line["key"]: SourceLink(line["title"], line["url"]) for line in source_lines(DATA)}
    with (DATA / FILE).open(encoding="utf-8", newline="") as file:
        return tuple(
            StackTerm(**{name: text for name, text in line.items() if name != "source"}, source=sources[line["source"]])
            for line in csv.DictReader(file)
        )


def terms_of(component: str) -> list[StackTerm]:
    """The terms of a component with their equivalents on other stacks."""
    terms = [term for term in all_terms() if term.component == component]
    return terms + [term.turned() for term in all_terms() if term.other_component == component]
