"""The query of a comparison's address, read and written. No database.

A subject is named `<accelerator slug>`, `stack:<slug>`, `host:<slug>` or `machine:<lab>/<machine>`. Whatever cannot be
used is left out with a note; nothing raises.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.web.http.address import AddressReader, Note, comparison_query, machine_subject, read_moment, write_moment

FORMATS = ("csv", "json", "md")
DRAWING = "svg"  # of the stacks; FORMATS are files of the spec table
WORDS = "words"  # the stacks in words, which the page fetches when they are opened
BOXES = "boxes"  # the stacks with boxes that explain themselves, opened in place on a page that shows less of them
FIGURES = "plotly"  # of the charts, for plotly.js only, so notes do not offer it
KNOWN = frozenset({"a", "base", "only", "at", "format"})
MOST_SUBJECTS = 6
SUBJECT_MAX_CHARS = 120
_SLUG = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_NAME = re.compile(rf"(?:(?P<kind>stack|host):|(?P<machine>machine:(?P<lab>{_SLUG})/))?(?P<slug>{_SLUG})")


class SubjectKind(StrEnum):
    ACCELERATOR = "accelerator"
    STACK = "stack"
    MACHINE = "machine"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Subject:
    """One named subject; `lab` is empty but for a machine."""

    kind: SubjectKind
    slug: str
    lab: str = ""

    @property
    def name(self) -> str:
        """The name in the address."""
        if self.kind is SubjectKind.MACHINE:
            return machine_subject(self.lab, self.slug)
        return self.slug if self.kind is SubjectKind.ACCELERATOR else f"{self.kind}:{self.slug}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The subjects in order, each once, at most MOST_SUBJECTS; and a note about each `a=` that was left out."""

    subjects: tuple[Subject, ...]
    refused: tuple[Note, ...] = ()

    def of_kind(self, kind: SubjectKind) -> tuple[Subject, ...]:
        return tuple(subject for subject in self.subjects if subject.kind is kind)


def parse_subject(value: str) -> Subject | None:
    """The subject this text names, or None when it is not of a subject's form."""
    if len(value) > SUBJECT_MAX_CHARS or not (match := _NAME.fullmatch(value)):
        return None
    if match["machine"]:
        return Subject(SubjectKind.MACHINE, match["slug"], match["lab"])
    return Subject(SubjectKind(match["kind"] or SubjectKind.ACCELERATOR), match["slug"])


def parse_selection(values: Iterable[str]) -> Selection:
    """Read the `a=` values in order. Never raises: what cannot be used is refused with the reason."""
    chosen: list[Subject] = []
    refused: list[Note] = []
    for value in values:
        subject = parse_subject(value.strip())
        if subject is None:
            refused.append(not_a_subject(value))
        elif subject in chosen:
            refused.append(_repeated(subject))
        elif len(chosen) == MOST_SUBJECTS:
            refused.append(_over_limit_note(subject))
        else:
            chosen.append(subject)
    return Selection(tuple(chosen), tuple(refused))


_SUBJECT_FORM = gettext_lazy("use the slug of an accelerator, stack:<slug>, host:<slug> or machine:<lab>/<machine>")


def not_a_subject(value: str) -> Note:
    problem = _("“%(value)s” does not name a subject") % {"value": value[:SUBJECT_MAX_CHARS]}
    return Note("a", problem, _SUBJECT_FORM)


def unknown_subject(subject: Subject) -> Note:
    """The same note for a private machine as for one that does not exist."""
    return Note("a", _("Unknown subject “%(value)s”") % {"value": subject.name}, _SUBJECT_FORM)


def _repeated(subject: Subject) -> Note:
    return Note("a", _("“%(value)s” is listed twice") % {"value": subject.name}, _("it is shown once"))


def _over_limit_note(subject: Subject) -> Note:
    problem = _("A comparison holds at most %(most)d subjects") % {"most": MOST_SUBJECTS}
    return Note("a", problem, _("“%(value)s” was left out") % {"value": subject.name})


@dataclass(frozen=True, slots=True)
class Address:
    """Everything the address of a comparison says. `base`: what factors are against, None for the first subject."""

    subjects: tuple[Subject, ...]
    base: Subject | None = None
    only_differences: bool = False
    at: datetime | None = None

    def query(self, **changes: Any) -> str:  # noqa: ANN401 - as `replace` takes them
        """The address's query, readable: `?a=h100&a=machine:lab/box&base=machine:lab/box`; `changes`: other fields."""
        address = replace(self, **changes)
        further = {
            "base": address.base.name if address.base in address.subjects[1:] and address.base else "",
            "only": "differences" if address.only_differences else "",
            "at": write_moment(address.at) if address.at else "",
        }
        parts = [comparison_query(subject.name for subject in address.subjects)]
        parts += [f"{name}={quote(value, safe=':/')}" for name, value in further.items() if value]
        return "?" + "&".join(filter(None, parts))

    def without(self, subject: Subject) -> str:
        """The query of this comparison without one of its subjects."""
        return self.query(subjects=tuple(other for other in self.subjects if other != subject))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareQuery:
    """What is compared and how. `base` None: the first; `at` None: as of now; `format` "": as a page."""

    selection: Selection
    base: Subject | None
    only_differences: bool
    at: datetime | None
    format: str
    notes: tuple[Note, ...]


def read_compare_query(query: QueryDict) -> CompareQuery:
    """Read the address."""
    reader = AddressReader(query)
    at = reader.parsed(
        "at",
        read_moment,
        _("“%(value)s” is not a past moment such as 2026-11-20 or 2026-11-20T16:00:00Z"),
        _("the current comparison is shown"),
    )
    selection = parse_selection(query.getlist("a"))
    return CompareQuery(
        selection=selection,
        base=_base(reader, selection),
        only_differences=reader.choice("only", ("differences",), _("choice")) == "differences",
        at=at,
        format=reader.text("format"),
        notes=reader.notes(KNOWN, most=None),  # the page counts those it does not list
    )


def _base(reader: AddressReader, selection: Selection) -> Subject | None:
    """The subject that factors are against, where one of those compared is named."""
    return reader.parsed(
        "base",
        lambda name: next((subject for subject in selection.subjects if subject.name == name), None),
        _("“%(value)s” is not one of the subjects compared"),
        _("factors are relative to the first"),
    )
