"""All that a lab has here, as one zip that is made while it is sent: never more than a few rows are in memory.

Raw reports are in it as they were sent; of keys there is what the lab sees, not their digests.
"""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet
from django.utils import timezone

from stackviz.intake.notices.models import EventMail, LabEvent, Webhook, WebhookDelivery
from stackviz.records.labs.models import (
    AgentHeartbeat,
    AgentKey,
    Card,
    Finding,
    Invitation,
    Lab,
    Machine,
    MachineMove,
    Membership,
    Report,
    ReportWithdrawal,
    Snapshot,
)
from stackviz.records.series.models import ChangeDecision, Result, ResultDecision, Series
from stackviz.web.http.download import safe_cell

ROWS_TOGETHER = 500
BODIES_TOGETHER = 8  # each of 4 MiB at most
NOT_EXPORTED = frozenset({"body", "digest", "content_digest", "nonce"})
README = """All that {name} has on this site, written {at}.

A CSV file for each table; its first line names the columns. A cell that a spreadsheet could take for a formula begins
with an apostrophe, which is not part of the value. Columns with lists and objects hold JSON. Times are UTC.

reports/    the reports as they were sent, where they are still stored: ID.json, or ID.json.gz
counts.json the number of rows of each file, written last: without it the archive is incomplete
"""


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """One table, and the path of filters from its rows to their lab."""

    name: str
    model: type[Model]
    path: str

    def rows(self, lab: Lab) -> QuerySet[Any]:
        return self.model._base_manager.filter(**{self.path: lab.pk})  # noqa: SLF001 (Django's documented API)

    @property
    def columns(self) -> dict[str, str]:
        """Attribute -> its column in the table and in the file."""
        fields = self.model._meta.concrete_fields  # noqa: SLF001 (the same)
        return {field.attname: str(field.column) for field in fields if field.attname not in NOT_EXPORTED}


TABLES = (
    ExportedTable("labs", Lab, "pk"),
    ExportedTable("members", Membership, "lab"),
    ExportedTable("invitations", Invitation, "lab"),
    ExportedTable("machines", Machine, "lab"),
    ExportedTable("heartbeats", AgentHeartbeat, "machine__lab"),
    ExportedTable("keys", AgentKey, "lab"),
    ExportedTable("reports", Report, "machine__lab"),
    ExportedTable("snapshots", Snapshot, "machine__lab"),
    ExportedTable("cards", Card, "snapshot__machine__lab"),
    ExportedTable("findings", Finding, "snapshot__machine__lab"),
    ExportedTable("series", Series, "machine__lab"),
    ExportedTable("results", Result, "series__machine__lab"),
    ExportedTable("decisions", ResultDecision, "report__machine__lab"),
    ExportedTable("change-decisions", ChangeDecision, "series__machine__lab"),
    ExportedTable("withdrawals", ReportWithdrawal, "report__machine__lab"),
    ExportedTable("moves", MachineMove, "source__lab"),
    ExportedTable("events", LabEvent, "lab"),
    ExportedTable("webhooks", Webhook, "lab"),
    ExportedTable("event-mails", EventMail, "membership__lab"),
    ExportedTable("webhook-deliveries", WebhookDelivery, "webhook__lab"),
)


class _Pipe(io.RawIOBase):
    """A stream that a zip is written to, emptied piece by piece. It cannot seek."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 (any buffer)
        self.waiting.append(bytes(data))
        return len(data)

    def emptied(self) -> bytes:
        data, self.waiting = b"".join(self.waiting), []
        return data


def export_lab(lab: Lab) -> Iterator[bytes]:
    """Yield the archive in pieces. What comes in meanwhile may be in it or not."""
    pipe = _Pipe()
    counts: dict[str, int] = {}
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README.format(name=lab.name, at=f"{timezone.now():%Y-%m-%d %H:%M} UTC"))
        for table in TABLES:
            counts[table.name] = 0
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as member:
                for number, text in _csv_pieces(table, lab):
                    counts[table.name] += number
                    member.write(text.encode())
                    yield pipe.emptied()
        counts["reports as sent"] = 0
        for name, body in _bodies(lab):
            archive.writestr(name, body, zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED)
            counts["reports as sent"] += 1
            yield pipe.emptied()
        archive.writestr("counts.json", json.dumps(counts, indent=1))
    yield pipe.emptied()


def _csv_pieces(table: ExportedTable, lab: Lab) -> Iterator[tuple[int, str]]:
    """Yield the number of rows and their lines; first the header."""
    yield 0, _csv_lines([[*table.columns.values()]])
    for rows in _row_batches(table.rows(lab).values_list("pk", *table.columns), ROWS_TOGETHER, lambda row: row[0]):
        yield len(rows), _csv_lines([[_csv_cell(value) for value in row[1:]] for row in rows])


def _csv_lines(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def _csv_cell(value: object) -> object:
    """Return lists and objects as JSON, times in ISO, and nothing that a spreadsheet computes."""
    if isinstance(value, list | dict | tuple):
        value = json.dumps(value, ensure_ascii=False, cls=DjangoJSONEncoder)
    isoformat: Callable[[], str] | None = getattr(value, "isoformat", None)
    return safe_cell(isoformat() if isoformat else value)


def _bodies(lab: Lab) -> Iterator[tuple[str, bytes]]:
    stored = Report.objects.filter(machine__lab=lab, content_digest__isnull=True).values_list("pk", "encoding", "body")
    for rows in _row_batches(stored, BODIES_TOGETHER, lambda row: row[0]):
        for pk, encoding, body in rows:
            yield f"reports/{pk}.json{'.gz' if encoding else ''}", bytes(body)


def _row_batches(rows: QuerySet[Any, Any], size: int, key: Callable[[Any], Any]) -> Iterator[list[Any]]:
    """Yield the rows in the order of their keys; each part is a query that begins after the last one."""
    part = list(rows.order_by("pk")[:size])
    while part:
        yield part
        part = list(rows.filter(pk__gt=key(part[-1])).order_by("pk")[:size]) if len(part) == size else []
