"""Imports of tables: what a file would change, and applying it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.records.catalog.models import TableImport
from stackviz.web.table_file import Table

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


UNCONFIRMED_FOR = timedelta(days=1)  # a table that nobody confirmed
Upload = TypeVar("Upload", bound=TableImport)


class Unconfirmed(ValueError):
    """The table was not imported; the text says why, and nothing was written."""


def store_import(kind: type[Upload], table: Table, *, file_name: str, reason: str, by: User, **about: Any) -> Upload:  # noqa: ANN401
    """Store the table for the preview, with what else its model has. Expired tables are deleted."""
    imports = kind._default_manager  # noqa: SLF001 - `objects` of an abstract class has no type
    imports.filter(confirmed_at=None, uploaded_at__lt=timezone.now() - UNCONFIRMED_FOR).delete()
    rows = [[row.number, list(row.cells)] for row in table.rows]
    return imports.create(file_name=file_name[:200], reason=reason, table=rows, uploaded_by=by, **about)


def locked_import(kind: type[Upload], upload_id: int) -> Upload:
    """The upload, locked until commit. Raises Unconfirmed when it was imported already."""
    upload = kind._default_manager.select_for_update(of=("self",)).get(pk=upload_id)  # noqa: SLF001
    if upload.confirmed_at:
        raise Unconfirmed(_("This table has already been imported."))
    return upload


def check_plan(plan: ImportPlan, seen: str, *, is_leaving_out: bool) -> None:
    """`seen`: fingerprint of the plan the person looked at. Raises Unconfirmed when this one is not to be imported."""
    if plan.fingerprint != seen:
        raise Unconfirmed(_("The catalogue has changed since this preview. Review the updated changes."))
    if plan.of(REFUSED) and not is_leaving_out:
        raise Unconfirmed(_("Some rows have errors. Correct the file, or choose to skip these rows."))
    if not plan.change_count:
        raise Unconfirmed(_("This table contains no new or changed values."))


def mark_confirmed(upload: TableImport, plan: ImportPlan, **about: Any) -> None:  # noqa: ANN401 - columns of its model
    """Remember what was left out, forget the table."""
    upload.left_out = [[row.number, column, why] for row in plan.of(REFUSED) for column, why in row.problems]
    upload.table, upload.confirmed_at = [], timezone.now()
    for name, value in about.items():
        setattr(upload, name, value)
    upload.save(update_fields=["left_out", "table", "confirmed_at", *about])
