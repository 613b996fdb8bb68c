"""Since and until: which components of a described stack can exist, by release and by architecture.

A limit is a component and a release of it, or an architecture: `pytorch 2.0`, `compute-capability 7.5`,
`metal-family Apple10`; several are separated by commas, and all must hold. Pure: no database.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.boxes import Box, StackColumn, copy_with
from stackviz.draw.diagrams.layers import State

_LIMIT = r"[a-z0-9]+(?:-[a-z0-9]+)* [A-Za-z]*\d{1,9}(?:\.\d{1,9})*"
LIMITS = rf"\A{_LIMIT}(?:, {_LIMIT})*\Z"
_RELEASE = re.compile(r"[A-Za-z]*(\d{1,9}(?:\.\d{1,9})*)")
_IS_BEFORE_RELEASE = re.compile(r"\d(?:a|b|rc|\.?dev)\d|git")

Numbers = tuple[int, ...]
Known = Mapping[str, Sequence[str]]  # component or architecture -> its releases on this machine; "" for unknown


def is_limits(text: str) -> bool:
    """Whether the text is a list of limits."""
    return re.match(LIMITS, text) is not None


@lru_cache(maxsize=256)
def parse_limits(text: str) -> tuple[tuple[str, str], ...]:
    """(component or architecture, release) of each limit. The text must be one that `is_limits`, or empty."""
    pairs = (limit.split(" ") for limit in text.split(", ") if limit)
    return tuple((subject, release) for subject, release in pairs)


def drop_impossible(column: StackColumn, known: Known, reported: Collection[str] = ()) -> StackColumn:
    """The column without the boxes that cannot exist here, nor calls and links to them.

    `reported`: components that were seen and stay. A box whose release or architecture is unknown stays too.
    """
    dropped = [box for box in column.boxes if box.component not in reported and is_impossible(box, known)]
    if not dropped:
        return column
    slugs, names = {box.component for box in dropped}, {box.name for box in dropped}
    boxes = [
        copy_with(box, calls=tuple(name for name in box.calls if name not in names))
        for box in column.boxes
        if box.component not in slugs
    ]
    remaining = {box.role for box in boxes}
    boxes += [_unfilled(box) for box in dropped if box.role not in remaining]
    links = tuple(link for link in column.links if slugs.isdisjoint({link.source_component, link.target_component}))
    return copy_with(column, boxes=tuple(boxes), links=links)


def _unfilled(box: Box) -> Box:
    """The box of the role that this one cannot have here."""
    limits = box.since or box.until
    where = ", ".join(f"{subject.replace('-', ' ')} {release}" for subject, release in parse_limits(limits))
    text = _("%(name)s: from %(limits)s on") if box.since else _("%(name)s: up to %(limits)s")
    summary = text % {"name": box.name, "limits": where}
    return Box(component="", role=box.role, layer=box.layer, name="", state=State.ABSENT, summary=summary)


def is_impossible(box: Box, known: Known) -> bool:
    """Whether a release or the architecture is known, on all cards, and outside the limits of the box."""
    return any(_are_all(known.get(subject, ()), release, -1) for subject, release in parse_limits(box.since)) or any(
        _are_all(known.get(subject, ()), release, 1) for subject, release in parse_limits(box.until)
    )


def _are_all(releases: Sequence[str], limit: str, side: int) -> bool:
    """Whether there are releases, and all are known and before (-1) or after (1) the limit."""
    return bool(releases) and all(compare_releases(release, limit) == side for release in releases)


@lru_cache(maxsize=4096)  # versions are whatever machines report
def compare_releases(release: str, limit: str) -> int:
    """-1: before the limit; 1: after the line it names, so that 2.0.1 is not after 2.0; 0: within it, or unknown.

    A pre-release may have what the next release has: it counts as unknown.
    """
    numbers, wanted = _numbers(release), _numbers(limit)
    if not numbers or _IS_BEFORE_RELEASE.search(release):
        return 0
    line = (*numbers, *[0] * len(wanted))[: len(wanted)]
    return (line > wanted) - (line < wanted)


def _numbers(release: str) -> Numbers:
    match = _RELEASE.match(release.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else ()
