"""A snapshot as the report it came from, for the rules: facts, cards and software, without results."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from stackviz import wire
from stackviz.labs.models import Card, Snapshot


def as_report(snapshot: Snapshot, cards: Iterable[Card], at: datetime) -> wire.Report:
    """As if it had been made at `at` (aware): rules that look at the day look at that one."""
    return wire.Report(
        id=uuid4(),
        created_at=at,
        agent=wire.Agent("snapshot", "0"),
        machine=wire.Machine(wire.NOBODY),
        facts=snapshot.facts,
        absent=_absent(snapshot.absent),
        cards=tuple(_card(card) for card in cards),
        software=tuple(_software(found) for found in snapshot.software),
    )


def _card(card: Card) -> wire.Card:
    return wire.Card(
        card.index, card.kind, card.vendor, card.reported_name, card.memory_bytes,
        facts=card.facts, absent=_absent(card.absent),
    )  # fmt: skip


def _absent(written: Mapping[str, Any]) -> dict[str, wire.Absent]:
    return {name: wire.Absent(str(why.get("reason", "")), why.get("detail")) for name, why in written.items()}


def _software(found: Mapping[str, Any]) -> wire.Software:
    return wire.Software(str(found.get("component", "")), found.get("version"), str(found.get("found_by") or ""))
