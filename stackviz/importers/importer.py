"""What an importer is: it finds its tool's dumps in a text, and reads one of them.

May import: importers.reading and the standard library.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stackviz.importers.reading import Reading

__all__ = ["Importer", "Span"]


class Span(NamedTuple):
    """Where one dump lies in a text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Importer:
    """One tool's output in one layout.

    `find` is given the whole tidied text and answers quickly where dumps of this kind lie, in order, none overlapping
    another; where the end cannot be told it goes up to the end of the text. `read` is given one such piece. Neither
    ever raises, whatever the text. `tool` is what a reader calls it: the command that prints it.
    """

    kind: str
    tool: str
    find: Callable[[str], Iterable[Span]]
    read: Callable[[str], Reading]
