"""Accept a report: store one row as sent, in one transaction, and queue it. `interpret` reads it later.

The usual path is one statement, which also checks that the key still holds and finds the machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import JSONField, Q
from django.utils import timezone
from django.utils.text import slugify

from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.body import canonical_body, content_digest, unpack
from stackviz.intake.ingest.gate import parse_if_trivially_valid
from stackviz.intake.ingest.recognise import known_as
from stackviz.records.labs.keys import Sender, WrongMachine, check_again, note_use
from stackviz.records.labs.models import Machine, Report
from stackviz.report.format import Machine as ReportedMachine
from stackviz.report.format import parse_report
from stackviz.web.bulk_insert import execute, json_text
from stackviz.web.rate_limit import RateLimit
from stackviz.web.turns import turn_to_write

# With a limit of 600 a process asks for every sixth upload.
UPLOADS = RateLimit("uploads", "UPLOADS_PER_MINUTE", 60, "too many uploads with this key", batches=100)


def count_upload(key_id: int) -> None:
    """Count one upload of this key, bad ones like good ones. Raises RateLimited."""
    UPLOADS.count_for(str(key_id))


SLUG_CHARS = 60
IDENTITY_CHARS = 8  # of the identity, in the slug of an unnamed machine: enough to distinguish a lab's machines


class ReportConflict(Exception):
    """A report with this id is here already, with other content or from another machine."""


class MachineDeleted(Exception):
    """The machine, or the key, was deleted while its report came in: the next try will be told so."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A report that is stored. `is_new` False: it was sent before, with the same content."""

    report_id: UUID
    is_new: bool


def accept_report(sender: Sender, body: bytes, encoding: str) -> Accepted:
    """Store a report as sent and have it read. Nothing is written unless all of it is.

    Sending the same report twice is normal (an agent that lost our answer retries) and stores it once. What `sender`
    may do is decided again by the statement that writes.
    Raises ReportError, KeyUnknown, KeyForbidden, WrongMachine (the key is for another), ReportConflict (id is taken).
    """
    report_id, machine = _check(unpack(body, encoding))
    upload = _Upload(
        id=report_id,
        machine=machine,
        key_id=sender.key_id,
        received_at=timezone.now(),
        body=body,
        encoding=encoding,
    )
    with turn_to_write():
        is_stored = _insert(upload)
    if not is_stored and not _insert_with_machine(sender, upload):
        return Accepted(report_id, is_new=False)
    transaction.on_commit(partial(tasks.enqueue, str(report_id)))
    note_use(sender.key_id, upload.received_at)
    return Accepted(report_id, is_new=True)


def _check(body: bytes) -> tuple[UUID, ReportedMachine]:
    """The id and the machine of a valid report. Raises ReportError."""
    valid = parse_if_trivially_valid(body)
    if valid is not None:
        return valid
    report = parse_report(body)
    return report.id, report.machine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upload:
    """A report on its way into the table."""

    id: UUID
    machine: ReportedMachine
    key_id: int
    received_at: datetime
    body: bytes
    encoding: str


# One statement: the key holds, the machine is known, the id is free -> one row; else none, and the reason is looked up.
# Of simultaneous senders the primary key lets one through, on any database.
_INSERT = """
    INSERT INTO labs_report ({columns})
    SELECT {values}
    FROM labs_agentkey agent_key JOIN labs_machine machine ON machine.lab_id = agent_key.lab_id
    WHERE agent_key.id = %(key_id)s AND agent_key.revoked_at IS NULL
      AND (agent_key.expires_at IS NULL OR agent_key.expires_at > %(received_at)s)
      AND (agent_key.machine_id IS NULL OR agent_key.machine_id = COALESCE(machine.merged_into_id, machine.id))
      AND machine.identity = %(identity)s
    ON CONFLICT (id) DO NOTHING"""
_JOINED = {"machine_id": "COALESCE(machine.merged_into_id, machine.id)"}  # see `labs.Machine.merged_into`
_BOUND = ("id", "key_id", "received_at", "rung_at", "body", "encoding")


@cache
def _insert_statement() -> str:
    """The statement, which sets every field of a report: those of _BOUND to values, the others to their defaults."""
    fields = {field.attname: field for field in Report._meta.concrete_fields}  # noqa: SLF001 (Django's documented _meta API)
    values = _JOINED | {name: f"%({name})s" for name in _BOUND}
    for name, field in fields.items():
        if name not in values:  # written out: binding seven constants takes a thirtieth of an upload
            default = field.get_default()
            values[name] = _literal(json_text(default) if isinstance(field, JSONField) else default)
    columns = ", ".join(str(field.column) for field in fields.values())
    return _INSERT.format(columns=columns, values=", ".join(values[name] for name in fields))


def _literal(default: object) -> str:
    """A default of our own models in SQL. Raises TypeError for what is no text, number or None."""
    if default is None:
        return "NULL"
    if type(default) is int:
        return str(default)
    if isinstance(default, str):
        return "'" + str(default).replace("'", "''").replace("%", "%%") + "'"
    raise TypeError(f"no literal for {default!r}")


def _insert(upload: _Upload) -> bool:
    """Store the row if nothing forbids it -> whether it is stored now."""
    values = {
        "id": upload.id,
        "key_id": upload.key_id,
        "received_at": upload.received_at,
        # NULL: no worker was asked, the periodic task queues the report at its next turn.
        "rung_at": None if tasks.is_broker_unreachable() else upload.received_at,
        "body": upload.body,
        "encoding": upload.encoding,
        "identity": upload.machine.identity,
    }
    return execute(_insert_statement(), values) == 1


def _insert_with_machine(sender: Sender, upload: _Upload) -> bool:
    """Handle what the one statement did not store: a new machine, a report sent again, a key that no longer holds.

    -> whether it is stored now; False: it was stored before, with this content. Raises what `accept_report` does.
    """
    sender = check_again(sender)
    with turn_to_write(), transaction.atomic():
        _ensure_machine(sender, upload)
        if _insert(upload):
            return True
        stored = Report.objects.select_related("machine").filter(pk=upload.id).first()
        if stored is None:
            raise MachineDeleted
        if not (sender.speaks_for(stored.machine) and _has_same_content(stored, upload.body, upload.encoding)):
            raise ReportConflict
        return False


def _has_same_content(stored: Report, body: bytes, encoding: str) -> bool:
    """Whether both hold the same JSON, however compressed, spaced or ordered."""
    if stored.content_digest is not None:
        return stored.content_digest == content_digest(body, encoding)
    if (bytes(stored.body), stored.encoding) == (body, encoding):
        return True
    return canonical_body(bytes(stored.body), stored.encoding) == canonical_body(body, encoding)


# --- the machine ---


def _ensure_machine(sender: Sender, upload: "_Upload") -> None:
    """Give the machine a row: a lab's key creates it, a machine's key binds its own. Raises WrongMachine.

    A machine that is known under another identity keeps its history: the new identity leads there.
    """
    reported = upload.machine
    if _is_known(sender.lab_id, reported):
        merged_into = None
    else:
        merged_into = known_as(sender.lab_id, parse_report(unpack(upload.body, upload.encoding)))
    if merged_into is not None and sender.machine_id in (None, merged_into):
        _create_machine(sender.lab_id, reported, merged_into)
    elif sender.machine_id is not None:
        _bind_machine(sender.lab_id, sender.machine_id, reported)
    elif not _is_known(sender.lab_id, reported):
        _create_machine(sender.lab_id, reported)


def _is_known(lab_id: int, reported: ReportedMachine) -> bool:
    return Machine.objects.filter(lab_id=lab_id, identity=reported.identity).exists()


def _bind_machine(lab_id: int, machine_id: int, reported: ReportedMachine) -> None:
    """Give the machine that an admin announced the identity of its first report."""
    announced = Machine.objects.filter(pk=machine_id, lab_id=lab_id, identity__isnull=True)
    try:
        with transaction.atomic():
            if announced.update(identity=reported.identity):
                return
    except IntegrityError:
        raise WrongMachine(
            "the lab has this machine under another name: use a key of that machine, or one of the lab"
        ) from None
    # Of two first reports at once the other may have been quicker, and from the same machine.
    its_own = Machine.objects.filter(Q(pk=machine_id) | Q(merged_into=machine_id))
    if not its_own.filter(lab_id=lab_id, identity=reported.identity).exists():
        raise WrongMachine("this key belongs to another machine: use this machine's own key, or one of the lab")


def _create_machine(lab_id: int, reported: ReportedMachine, merged_into: int | None = None) -> None:
    name = reported.name or f"machine {reported.identity[:IDENTITY_CHARS]}"
    for slug in _slugs(name, reported.identity):
        try:
            with transaction.atomic():
                Machine.objects.create(
                    lab_id=lab_id, slug=slug, name=name, identity=reported.identity, merged_into_id=merged_into
                )
        except IntegrityError:
            # Either another machine has this slug, or another report of this machine was quicker.
            if not _is_known(lab_id, reported):
                continue
        return


def _slugs(name: str, identity: str) -> Iterator[str]:
    """Slugs to try, the shortest first."""
    start = slugify(name)[:SLUG_CHARS].strip("-_") or "machine"
    yield start
    yield f"{start}-{identity[:IDENTITY_CHARS]}"
    yield f"machine-{identity}"
