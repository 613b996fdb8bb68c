"""Which subjects a comparison is about: the `a=` parameters of its address, read and written. No database.

A subject is named `<accelerator slug>`, `stack:<slug>` or `machine:<lab>/<machine>`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stackviz.web.subjects import comparison_query

MOST_SUBJECTS = 6
SUBJECT_MAX_CHARS = 120
_SLUG = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_NAME = re.compile(rf"(?:(?P<stack>stack:)|(?P<machine>machine:(?P<lab>{_SLUG})/))?(?P<slug>{_SLUG})")


class Kind(StrEnum):
    ACCELERATOR = "accelerator"
    STACK = "stack"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Subject:
    """One named subject; `lab` is empty but for a machine."""

    kind: Kind
    slug: str
    lab: str = ""

    @property
    def name(self) -> str:
        """As it stands in the address."""
        if self.kind is Kind.MACHINE:
            return f"machine:{self.lab}/{self.slug}"
        return f"stack:{self.slug}" if self.kind is Kind.STACK else self.slug


@dataclass(frozen=True, slots=True)
class Refusal:
    """One `a=` value that was left out. `why` is one of "not a subject", "repeated", "one too many"."""

    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked: the subjects in order, each once, at most MOST_SUBJECTS; and what was left out."""

    subjects: tuple[Subject, ...]
    refused: tuple[Refusal, ...] = ()

    def of_kind(self, kind: Kind) -> tuple[Subject, ...]:
        return tuple(subject for subject in self.subjects if subject.kind is kind)


def parse_subject(value: str) -> Subject | None:
    """The subject this text names, or None when it is not of a subject's form."""
    if len(value) > SUBJECT_MAX_CHARS or not (match := _NAME.fullmatch(value)):
        return None
    if match["machine"]:
        return Subject(Kind.MACHINE, match["slug"], match["lab"])
    return Subject(Kind.STACK if match["stack"] else Kind.ACCELERATOR, match["slug"])


def parse_selection(values: Iterable[str]) -> Selection:
    """Read the `a=` values in order. Never raises: what cannot be used is refused with the reason."""
    chosen: list[Subject] = []
    refused: list[Refusal] = []
    for value in values:
        subject = parse_subject(value.strip())
        if subject is None:
            refused.append(Refusal(value[:SUBJECT_MAX_CHARS], "not a subject"))
        elif subject in chosen:
            refused.append(Refusal(subject.name, "repeated"))
        elif len(chosen) == MOST_SUBJECTS:
            refused.append(Refusal(subject.name, "one too many"))
        else:
            chosen.append(subject)
    return Selection(tuple(chosen), tuple(refused))


def query_string(subjects: Sequence[Subject], *, only_differences: bool = False) -> str:
    """The address's query of this comparison, readable: `?a=h100&a=machine:lab/box`."""
    query = comparison_query(subject.name for subject in subjects)
    return f"?{query}&only=differences" if only_differences else f"?{query}"
