"""What the address of a comparison asks for, read and written. No database.

A subject is named `<accelerator slug>`, `stack:<slug>` or `machine:<lab>/<machine>`. Whatever cannot be used is left
out and named; nothing raises.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from django.http import QueryDict

from stackviz.catalog.past import read_moment, write_moment
from stackviz.web.subjects import comparison_query

FORMATS = ("csv", "json", "md")
DRAWING = "svg"  # of the stacks; the others are files of the spec table
KNOWN = frozenset({"a", "base", "only", "at", "format"})
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
    """One `a=` value that was left out. `why`: "not a subject", "repeated", "one too many", "unknown" or "not kept"."""

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


@dataclass(frozen=True, slots=True)
class Address:
    """Everything the address of a comparison says. `base`: what factors are against, None for the first subject."""

    subjects: tuple[Subject, ...]
    base: Subject | None = None
    only_differences: bool = False
    at: datetime | None = None

    def query(self, **changes: Any) -> str:  # noqa: ANN401 - as `replace` takes them
        """The address's query, readable: `?a=h100&a=machine:lab/box&base=machine:lab/box`; `changes`: other fields."""
        asked = replace(self, **changes)
        further = {
            "base": asked.base.name if asked.base in asked.subjects[1:] and asked.base else "",
            "only": "differences" if asked.only_differences else "",
            "at": write_moment(asked.at) if asked.at else "",
        }
        parts = [comparison_query(subject.name for subject in asked.subjects)]
        parts += [f"{name}={quote(value, safe=':/')}" for name, value in further.items() if value]
        return "?" + "&".join(filter(None, parts))

    def without(self, subject: Subject) -> str:
        """The query of this comparison without one of its subjects."""
        return self.query(subjects=tuple(other for other in self.subjects if other != subject))


@dataclass(frozen=True, slots=True)
class Ignored:
    """A parameter that was left out. `why`: "unknown", "no choice" (`choices` are), "no moment" or "not compared"."""

    parameter: str
    value: str
    why: str
    choices: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared and how. `base` None: the first; `at` None: as it stands now; `format` "": as a page."""

    selection: Selection
    base: Subject | None
    only_differences: bool
    at: datetime | None
    format: str
    ignored: tuple[Ignored, ...]


def read_asked(query: QueryDict) -> Asked:
    """Everything the address asks for. A comparison of the past keeps its spec sheets only: nothing else is kept."""
    at = read_moment(query.get("at", ""))
    selection = parse_selection(query.getlist("a"))
    selection = _of_the_past(selection) if at else selection
    base = next((subject for subject in selection.subjects if subject.name == query.get("base")), None)
    return Asked(
        selection=selection,
        base=base,
        only_differences=query.get("only") == "differences",
        at=at,
        format=query.get("format", "") if query.get("format") in (*FORMATS, DRAWING) else "",
        ignored=tuple(_ignored(query, base, at)),
    )


def _of_the_past(selection: Selection) -> Selection:
    kept = selection.of_kind(Kind.ACCELERATOR)
    others = tuple(Refusal(subject.name, "not kept") for subject in selection.subjects if subject not in kept)
    return Selection(kept, (*selection.refused, *others))


def _ignored(query: QueryDict, base: Subject | None, at: datetime | None) -> list[Ignored]:
    def said(name: str) -> str:
        return query.get(name, "")[:SUBJECT_MAX_CHARS]

    found = [Ignored(name[:SUBJECT_MAX_CHARS], "", "unknown") for name in query if name not in KNOWN]
    if said("base") and base is None:
        found.append(Ignored("base", said("base"), "not compared"))
    if said("only") not in ("", "differences"):
        found.append(Ignored("only", said("only"), "no choice", "differences"))
    if said("at") and at is None:
        found.append(Ignored("at", said("at"), "no moment"))
    if said("format") not in ("", *FORMATS, DRAWING):
        found.append(Ignored("format", said("format"), "no choice", ", ".join((*FORMATS, DRAWING))))
    return found
