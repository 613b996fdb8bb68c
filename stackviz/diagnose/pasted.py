"""Pasted text -> the machines it tells of, or why none, in words for whoever pasted it. No database, no request."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.dumps import DumpedMachine, machines
from stackviz.importers import IMPORTERS, read_all
from stackviz.web.pasted import Refused

TOOLS = {importer.kind: importer.tool for importer in IMPORTERS}


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
        raise Refused(_("No tool that is known here wrote this. Paste all that one of the tools printed."))
    telling = tuple(machine for machine in found if _tells_something(machine))
    if not telling and may_be_hollow:
        return Pasted(found, paste.not_understood)
    if not telling:
        problem = _("This looks like %(tool)s, and nothing in it could be read.") % {"tool": tool_names(found[0].kinds)}
        raise Refused(" ".join([problem, *(f"{said}." for said in found[0].reading.problems)]))
    return Pasted(telling, paste.not_understood)


def tool_names(kinds: tuple[str, ...]) -> str:
    return ", ".join(TOOLS.get(kind, kind) for kind in kinds)


def _tells_something(machine: DumpedMachine) -> bool:
    reading = machine.reading
    return bool(reading.facts or reading.cards or reading.software or reading.results)
