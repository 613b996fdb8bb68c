"""Run one probe in its process: read its name, run it, write its reading as JSON."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from stackviz.agent.children import answer_in_file
from stackviz.report.format import FACTS, Absent, Card, Software
from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.format.objects import object_of
from stackviz.report.format.write import absent_document, object_document
from stackviz.report.importers.reading import FactSheet, Reading

__all__ = ["PROBES", "document_of", "main", "reading_of"]


def document_of(reading: Reading) -> dict[str, object]:
    """A reading as JSON, in the words of the wire format."""
    return {
        "facts": dict(reading.facts),
        "absent": absent_document(reading.absent),
        "cards": [object_document(card) for card in reading.cards],
        "software": [object_document(software) for software in reading.software],
        "problems": reading.problems,
    }


def reading_of(document: Mapping[str, Any], kind: str) -> Reading:
    """What `document_of` was given."""
    absent = {name: object_of(Absent).read(why) for name, why in document["absent"].items()}
    return Reading(
        kind=kind,
        sheet=FactSheet(FACTS, dict(document["facts"]), absent),
        cards=[object_of(Card).read(card) for card in document["cards"]],
        software=[object_of(Software).read(software) for software in document["software"]],
        problems=list(document["problems"]),
    )


PROBES = {
    "system": ("stackviz.agent.probing.system", "probe_system"),
    "python": ("stackviz.agent.probing.system", "probe_python"),
    "nvidia": ("stackviz.agent.probing.nvidia", "probe_nvidia"),
    "tools": ("stackviz.agent.probing.vendor_tools", "probe_vendor_tools"),
    "apple": ("stackviz.agent.probing.apple", "probe_apple"),
    "torch": ("stackviz.agent.probing.torch", "probe_torch"),
    "packages": ("stackviz.agent.probing.system", "probe_packages"),
}
"""Probe -> where it is. Where two state the same fact, the earlier one counts."""

_HAND_BACK_PARTS = frozenset({"nvidia", "tools", "torch"})
"""Probes that hand back what they have before they ask what may hang or crash: the last part counts."""


def main() -> None:
    with answer_in_file() as (given, hand_back):
        module, function = PROBES[given["probe"]]
        probe = getattr(import_module(module), function)
        parts = [lambda reading: hand_back(document_of(reading) | {"is_part": True})]
        around = Surroundings(within_s=given["within_s"])
        hand_back(document_of(probe(around, *parts[: given["probe"] in _HAND_BACK_PARTS])))


if __name__ == "__main__":
    main()
