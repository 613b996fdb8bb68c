"""What to call a dumped machine and the tools that told of it, and which of them tell anything at all."""

from collections.abc import Iterable

from stackviz.dumps.machines import DumpedMachine
from stackviz.importers import BY_KIND, Reading
from stackviz.units import format_count

__all__ = ["telling", "title_of", "tool_name", "tool_names"]


def tool_name(kind: str) -> str:
    """The tool that writes dumps of this kind."""
    return BY_KIND[kind].tool if kind in BY_KIND else kind


def tool_names(kinds: Iterable[str]) -> str:
    return ", ".join(map(tool_name, kinds))


def title_of(reading: Reading) -> str:
    """By what computes in it: `8 × NVIDIA H100 80GB HBM3`; "" where nothing tells."""
    names = list(dict.fromkeys(card.reported_name for card in reading.cards if "mig_parent_index" not in card.facts))
    if names:
        label = format_count(names[0], sum(card.reported_name == names[0] for card in reading.cards))
        return f"{label} + {len(names) - 1}" if len(names) > 1 else label
    system = f"{reading.facts.get('os.name', '')} {reading.facts.get('os.version', '')}".strip()
    return str(reading.facts.get("apple.chip") or reading.facts.get("cpu.model") or system)


def telling(machines: Iterable[DumpedMachine]) -> tuple[DumpedMachine, ...]:
    """Those of which something could be read: a torn dump may be known and tell nothing."""
    return tuple(machine for machine in machines if _tells(machine.reading))


def _tells(reading: Reading) -> bool:
    return bool(reading.facts or reading.cards or reading.software or reading.results)
