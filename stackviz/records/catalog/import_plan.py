"""What an uploaded table would change: every row new, changed, the same, or refused with column and reason. Pure."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NEW, CHANGED, SAME, REFUSED = "new", "changed", "same", "refused"
KINDS = (NEW, CHANGED, SAME, REFUSED)


@dataclass(frozen=True, slots=True)
class Difference:
    """One attribute that changes; an empty `old` was not there before."""

    name: str
    label: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """One row of the table and what becomes of it. `field`: what of the accelerator it is about.

    `problems`: (column, why), for a refused row.
    """

    number: int
    kind: str
    device: str
    field: str
    action: str = ""
    figure: str = ""
    differences: tuple[Difference, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What a table would change. `fingerprint` changes with any part of it."""

    rows: tuple[PlannedRow, ...]
    fingerprint: str

    def of(self, kind: str) -> tuple[PlannedRow, ...]:
        return tuple(row for row in self.rows if row.kind == kind)

    @property
    def counts(self) -> dict[str, int]:
        return {kind: len(self.of(kind)) for kind in KINDS}

    @property
    def change_count(self) -> int:
        return len(self.of(NEW)) + len(self.of(CHANGED))


def plan_of(rows: Sequence[PlannedRow]) -> ImportPlan:
    text = json.dumps([_print(row) for row in rows], ensure_ascii=False)
    return ImportPlan(tuple(rows), hashlib.blake2b(text.encode(), digest_size=16).hexdigest())


def _print(row: PlannedRow) -> list[Any]:
    changed = [(item.name, item.old, item.new) for item in row.differences]
    return [row.number, row.kind, row.device, row.field, row.action, row.figure, changed, row.problems]
