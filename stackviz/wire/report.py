"""A report as Python sees it: frozen dataclasses, one per object of the wire format.

`extra` holds the fields this version does not know, as they came: they are kept, written out again and listed in
`Report.unknown_fields`. Mappings are plain dicts for speed; treat them as read-only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from stackviz.wire.unknown import unknown_fields

__all__ = [
    "FORMAT", "PROBE_STATES", "RESULT_STATES", "Absent", "Agent", "Card", "Machine", "ProbeRun", "Report", "Result",
    "Scalar", "Software",
]  # fmt: skip

FORMAT = 1
RESULT_STATES = frozenset({"ok", "failed", "skipped"})
PROBE_STATES = frozenset({"ok", "failed", "timeout", "skipped"})

Scalar = str | int | float | bool
Extra = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Agent:
    """Which program made the report."""

    name: str
    version: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Machine:
    """Which machine: `identity` is a SHA-256 in hex over stable facts; `name` a label someone chose, or None."""

    identity: str
    name: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a fact is missing; `reason` is a key of facts.ABSENT_REASONS."""

    reason: str
    detail: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator of the machine. `memory_bytes` is its own memory; None if unknown or shared with the CPU."""

    index: int
    kind: str
    vendor: str
    reported_name: str
    memory_bytes: int | None = None
    uuid_hash: str | None = None
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    absent: Mapping[str, Absent] = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Software:
    """A component that was found; `version` None means it is there and does not say which."""

    component: str
    version: str | None
    found_by: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark with one set of parameters on one device.

    `samples`: in `unit`, one per repeat, in the order they were taken; at least one if `state` is "ok".
    `card`: index of the card it ran on; None if it ran on the CPU or the card is not known.
    """

    benchmark: str
    version: int
    device: str
    card: int | None
    params: Mapping[str, Scalar]
    state: str
    reason: str | None
    unit: str
    samples: tuple[float, ...]
    started_at: datetime | None
    duration_s: float | None
    conditions: Mapping[str, Scalar]
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """How one probe of the agent went."""

    probe: str
    state: str
    duration_s: float | None = None
    detail: str | None = None
    extra: Extra = field(default_factory=dict)


NOBODY = "0" * 64
"""The identity of no machine, for reports that no machine sent: nothing is stored under it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one machine said at one time. `created_at` is aware UTC."""

    id: UUID
    created_at: datetime
    agent: Agent
    machine: Machine
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    absent: Mapping[str, Absent] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()
    software: tuple[Software, ...] = ()
    results: tuple[Result, ...] = ()
    probes: tuple[ProbeRun, ...] = ()
    extra: Extra = field(default_factory=dict)

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Paths of what this version does not understand: all of it is kept, at most LIMITS.unknown_listed are listed.

        Worked out anew by the code that is running, so that an old report read again may list less.
        """
        return unknown_fields(self)
