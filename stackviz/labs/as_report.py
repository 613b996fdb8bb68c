"""A snapshot as the report it came from: facts, cards and software, without results; and its findings."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from stackviz import wire
from stackviz.labs.models import Card, Snapshot
from stackviz.rules import Finding


def as_report(snapshot: Snapshot, cards: Iterable[Card], at: datetime) -> wire.Report:
    """A report dated `at` (aware), which rules take as the current day."""
    return wire.Report(
        id=uuid4(),
        created_at=at,
        agent=wire.Agent("snapshot", "0"),
        machine=wire.Machine(wire.NOBODY),
        facts=snapshot.facts,
        absent=absences(snapshot.absent),
        cards=tuple(_card(card) for card in cards),
        software=tuple(_software(software) for software in snapshot.software),
    )


def _card(card: Card) -> wire.Card:
    return wire.Card(
        index=card.index,
        kind=card.kind,
        vendor=card.vendor,
        reported_name=card.reported_name,
        memory_bytes=card.memory_bytes,
        facts=card.facts,
        absent=absences(card.absent),
    )


def absences(written: Mapping[str, Any]) -> dict[str, wire.Absent]:
    """Name -> why it is missing, of what a snapshot or a card stores; a reason that is none is an unknown one."""
    return {name: _absent(why if isinstance(why, Mapping) else {}) for name, why in written.items()}


def _absent(why: Mapping[str, Any]) -> wire.Absent:
    return wire.Absent(str(why.get("reason") or ""), str(why.get("detail") or "") or None)


def _software(software: Mapping[str, Any]) -> wire.Software:
    return wire.Software(
        str(software.get("component", "")), software.get("version"), str(software.get("found_by") or "")
    )


def stored_findings(snapshot: Snapshot) -> tuple[Finding, ...]:
    """What the rules said of the report when it was read, in their order."""
    return tuple(
        Finding(
            rule=row.rule,
            severity=row.severity,
            component=row.component,
            title=row.title,
            evidence={str(name): str(value) for name, value in row.evidence.items()},
            explanation=row.explanation,
            advice=row.advice,
            source_title=row.source_title,
            source_url=row.source_url,
        )
        for row in snapshot.findings.all()
    )
