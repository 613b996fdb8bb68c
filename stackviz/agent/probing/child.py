"""The process one probe runs in: reads its name, runs it, writes the result."""

from collections.abc import Callable
from importlib import import_module

from stackviz.agent.children import answer_in_file
from stackviz.facts.asking import Surroundings
from stackviz.importers.reading import Reading
from stackviz.wire.write import absent_document, object_document

__all__ = ["PROBES", "main"]

PROBES = {
    "system": ("stackviz.agent.probing.system", "probe_system"),
    "python": ("stackviz.agent.probing.python", "probe_python"),
    "nvidia": ("stackviz.agent.probing.nvidia", "probe_nvidia"),
    "apple": ("stackviz.agent.probing.apple", "probe_apple"),
    "torch": ("stackviz.agent.probing.torch", "probe_torch"),
    "packages": ("stackviz.agent.probing.packages", "probe_packages"),
}
"""Probe -> where it is. Where two state the same fact, the earlier one counts."""


def main() -> None:
    with answer_in_file() as (given, hand_back):
        module, function = PROBES[given["probe"]]
        probe: Callable[[Surroundings], Reading] = getattr(import_module(module), function)
        hand_back(document_of(probe(Surroundings())))


def document_of(reading: Reading) -> dict[str, object]:
    """A reading as JSON, in the words of the wire format."""
    return {
        "facts": dict(reading.facts),
        "absent": absent_document(reading.absent),
        "cards": [object_document(card) for card in reading.cards],
        "software": [object_document(software) for software in reading.software],
        "problems": reading.problems,
    }


if __name__ == "__main__":
    main()
