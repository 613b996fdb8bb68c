"""The reports of a machine in a table: when each was made, on what stack, and what changed against the one before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from stackviz.pages.machines.history import differences_text
from stackviz.records.labs.models import Card, Machine, Report
from stackviz.records.series.history import WATCHED_CARD_FACTS, WATCHED_FACTS, stack_differences, stated_facts
from stackviz.web.http.addresses import address_by_id
from stackviz.web.paging import Cut, Page, key_page

REPORTS_PER_PAGE = 20
FIRST_REPORTS = Cut()
_COLUMNS = ("pk", "received_at", "status", "warnings", "error", "withdrawal", "snapshot__taken_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One upload. `taken_at`: None until it was read; `changes`: against the report below it, "" for nothing.

    `is_compared`: whether the report before it is known here.
    """

    id: UUID
    url: str
    received_at: datetime
    taken_at: datetime | None
    status: str
    status_label: str
    withdrawal_label: str
    warnings: int
    error: str
    stack: Mapping[str, str]
    changes: str = ""
    is_compared: bool = False

    @property
    def short_id(self) -> str:
        return f"{str(self.id)[:8]}…"

    @property
    def torch(self) -> str:
        return self.stack.get("torch.version", "")

    @property
    def driver(self) -> str:
        return self.stack.get("nvidia.driver_version", "")


def report_rows(machine: Machine, cut: Cut = FIRST_REPORTS) -> Page[ReportRow]:
    """The machine's uploads, newest first. One query; what was sent stays in the database.

    The power limit is that of the first card.
    """
    page = key_page(_reports_of(machine.pk), "received_at", cut, REPORTS_PER_PAGE, _key)
    beyond = [] if page.following is None else [_row(page.following)]
    rows = _compared([*map(_row, page.items), *beyond])
    return Page(items=rows[: len(page.items)], before=page.before, after=page.after)


def _reports_of(machine: int) -> QuerySet[Report, Any]:
    facts: dict[str, Any] = {
        f"fact_{at}": KeyTextTransform(name, "snapshot__facts") for at, name in enumerate(WATCHED_FACTS)
    }
    card = Card.objects.filter(snapshot=OuterRef("snapshot__pk")).order_by("index")
    for at, name in enumerate(WATCHED_CARD_FACTS):
        facts[f"card_fact_{at}"] = Subquery(card.values(_value=KeyTextTransform(name, "facts"))[:1])
    return Report.objects.filter(machine=machine).annotate(**facts).values_list(*_COLUMNS, *facts)


def _key(row: Sequence[Any]) -> tuple[datetime, UUID]:
    return row[1], row[0]


def _row(row: Sequence[Any]) -> ReportRow:
    report_id, received_at, status, warnings, error, withdrawal, taken_at, *facts = row
    return ReportRow(
        id=report_id,
        url=address_by_id("ingest:receipt", report_id),
        received_at=received_at,
        taken_at=taken_at,
        status=status,
        status_label=str(Report.Status(status).label),
        withdrawal_label=str(Report.Withdrawal(withdrawal).label) if withdrawal else "",
        warnings=len(warnings),
        error=error,
        stack=stated_facts((*WATCHED_FACTS, *WATCHED_CARD_FACTS), facts),
    )


def _compared(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Each row with what its stack states differently from the next one that was read."""
    compared: list[ReportRow] = []
    older: ReportRow | None = None
    for row in reversed(rows):
        if older is not None and row.taken_at is not None:
            changes = differences_text(stack_differences(older.stack, row.stack))
            compared.append(replace(row, changes=changes, is_compared=True))
        else:
            compared.append(row)
        older = row if row.taken_at is not None else older
    return compared[::-1]
