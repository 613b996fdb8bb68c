"""The query of a comparison's address, read. Whatever cannot be used is left out and named; nothing raises."""

from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from stackviz.catalog.past import read_moment
from stackviz.compare.selection import SUBJECT_MAX_CHARS, Kind, Refusal, Selection, Subject, parse_selection

FORMATS = ("csv", "json", "md")
DRAWING = "svg"  # of the stacks; the others are files of the spec table
KNOWN = frozenset({"a", "base", "only", "at", "format"})


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
