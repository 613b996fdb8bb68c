"""Readings as JSON, between the process of a probe and the agent."""

from collections.abc import Mapping
from typing import Any

from stackviz.report.format import FACTS, Absent, Card, Software
from stackviz.report.format.objects import object_of
from stackviz.report.format.write import absent_document, object_document
from stackviz.report.importers.reading import FactSheet, Reading

__all__ = ["document_of", "reading_of"]


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
