"""Pasted text -> the machines it tells of, or why none, in words for whoever pasted it. No database, no request."""

from dataclasses import dataclass

from stackviz.dumps import DumpedMachine, machines
from stackviz.dumps.machines import telling, tool_names
from stackviz.importers import read_all
from stackviz.web.pasted import no_dump, unreadable_output


@dataclass(frozen=True, slots=True)
class Pasted:
    """At least one machine, and the lines that belong to none."""

    machines: tuple[DumpedMachine, ...]
    not_understood: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of dumps, each once, in the order of the text."""
        return tuple(dict.fromkeys(kind for machine in self.machines for kind in machine.kinds))


def read_pasted(text: str, *, may_be_hollow: bool = False) -> Pasted:
    """What the text tells. Raises Refused where no known tool wrote any of it, or nothing in it could be read.

    `may_be_hollow`: that a dump tells nothing is an answer too; its problems say why.
    """
    paste = read_all(text)
    found = machines(paste)
    if not found:
        raise no_dump(text)
    told = telling(found)
    if not told and not may_be_hollow:
        raise unreadable_output(tool_names(found[0].kinds), found[0].reading.problems)
    return Pasted(told or found, paste.not_understood)
