"""What an importer is: it finds its tool's dumps in a text, and reads one of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stackviz.report.importers.reading import Reading

__all__ = ["Importer", "Span"]


class Span(NamedTuple):
    """Where one dump lies in a text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One tool's output in one layout. The registry finds every Importer that a module of this package names.

    `find` is given the whole tidied text and answers quickly where dumps of this kind lie, in order, none overlapping
    another; where the end cannot be told it goes up to the end of the text. `read` is given one such piece. Neither
    ever raises, whatever the text.

    `tool` is what a reader calls it: the command that prints it. `tells` is for the table of docs/diagnose.md.
    `marks`: a text in which a dump of this kind lies has one of them, within a line; without any of them `find` is not
    asked. Digits in them do not count. (): it is asked for each text.

    `command` is a regular expression for how a line begins that only runs the tool: such a line is no unread text.
    `answers`: commands that advice asks for, word for word, whose question the output answers, besides `tool`.

    `trust`: where two dumps state the same fact, the higher counts. From 70 on the tool asked the system itself, more
    if it prints for programs; from 40 on it asked other tools; below 40 it mentions the system in passing; 0 was typed
    by hand. `is_typed`: its words are another's than the tools', so that it is no evidence of another machine; its
    cards count where no tool lists any of their vendor. `lists_all_cards`: False where it lists only the cards
    that it was told to use. `yields`: what other tools printed is blank to it, because its lines stand in
    their dumps too.
    """

    kind: str
    tool: str
    tells: str
    trust: int
    find: Callable[[str], Iterable[Span]]
    read: Callable[[str], Reading]
    marks: tuple[str, ...] = ()
    command: str = ""
    answers: tuple[str, ...] = ()
    is_typed: bool = False
    lists_all_cards: bool = True
    yields: bool = False
