"""Takes a report in: one row as sent, in one transaction, then queued. What it says is read later (`interpret`).

The usual path is one statement, which also asks whether the key still holds and which machine it is.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from stackviz.ingest import task_queue
from stackviz.ingest.bulk_insert import execute
from stackviz.ingest.gate import parse_if_trivially_valid
from stackviz.ingest.refusals import MachineWentAway, ReportConflict
from stackviz.labs.compression import unpack
from stackviz.labs.keys import Sender, WrongMachine, check_again, note_use
from stackviz.labs.models import Machine, Report
from stackviz.wire import Machine as ReportedMachine
from stackviz.wire import parse_report

SLUG_CHARS = 60
IDENTITY_CHARS = 8  # of the identity, in the address of a machine nobody named: enough to tell a lab's machines apart


@dataclass(frozen=True, slots=True)
class Accepted:
    """A report that is safely ours. `is_new` False: it was sent before, with the same content."""

    report_id: UUID
    is_new: bool


def accept_report(sender: Sender, body: bytes, encoding: str) -> Accepted:
    """Keep a report as sent and have it read. Nothing is written unless all of it is.

    Sending the same report twice is normal (an agent that lost our answer retries) and stores it once. What `sender`
    may do is decided again by the statement that writes.
    Raises ReportError, KeyUnknown, KeyForbidden, WrongMachine (the key is for another), ReportConflict (id is taken).
    """
    report_id, machine = _checked(unpack(body, encoding))
    arrived = _Arrived(
        id=report_id, machine=machine, key_id=sender.key_id, at=timezone.now(), body=body, encoding=encoding
    )
    if not _insert(arrived) and not _insert_slowly(sender, arrived):
        return Accepted(report_id, is_new=False)
    transaction.on_commit(partial(task_queue.enqueue, str(report_id)))
    note_use(sender.key_id, arrived.at)
    return Accepted(report_id, is_new=True)


def _checked(body: bytes) -> tuple[UUID, ReportedMachine]:
    """The id and the machine of a report that keeps the format. Raises ReportError."""
    known = parse_if_trivially_valid(body)
    if known is not None:
        return known
    report = parse_report(body)
    return report.id, report.machine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrived:
    """A report on its way into the table."""

    id: UUID
    machine: ReportedMachine
    key_id: int
    at: datetime
    body: bytes
    encoding: str


# One statement: the key holds, the machine is known, the id is free -> one row; else none, and then we look why.
# Of senders at once the primary key lets one through, on any database.
_INSERT = """
    INSERT INTO labs_report (id, machine_id, key_id, received_at, rung_at, body, encoding,
                             status, tries, error, warnings, unknown_fields)
    SELECT %s, machine.id, agent_key.id, %s, %s, %s, %s, 'received', 0, '', '[]', '[]'
    FROM labs_agentkey agent_key JOIN labs_machine machine ON machine.lab_id = agent_key.lab_id
    WHERE agent_key.id = %s AND agent_key.revoked_at IS NULL
      AND (agent_key.expires_at IS NULL OR agent_key.expires_at > %s)
      AND (agent_key.machine_id IS NULL OR agent_key.machine_id = machine.id)
      AND machine.identity = %s
    ON CONFLICT (id) DO NOTHING"""


def _insert(arrived: _Arrived) -> bool:
    """Store the row if nothing stands against it -> whether it is stored now."""
    # Where nobody can be asked now, the row says so and the periodic task asks at its next turn.
    rung_at = None if task_queue.is_broker_unreachable() else arrived.at
    values = (arrived.id, arrived.at, rung_at, arrived.body, arrived.encoding)
    return execute(_INSERT, *values, arrived.key_id, arrived.at, arrived.machine.identity) == 1


def _insert_slowly(sender: Sender, arrived: _Arrived) -> bool:
    """What the one statement could not do: a machine nobody knows yet, a report sent again, a key that no longer holds.

    -> whether it is stored now; False: it was stored before, with this content. Raises what `accept_report` says.
    """
    check_again(sender)
    with transaction.atomic():
        _know(sender, arrived.machine)
        if _insert(arrived):
            return True
        kept = Report.objects.select_related("machine").filter(pk=arrived.id).first()
        if kept is None:
            raise MachineWentAway
        if not (sender.speaks_for(kept.machine) and _same_content(kept, arrived.body, arrived.encoding)):
            raise ReportConflict
        return False


def _same_content(kept: Report, body: bytes, encoding: str) -> bool:
    """Whether both say the same, however packed, spaced or ordered. 1, 1.0 and true are three things."""
    if (bytes(kept.body), kept.encoding) == (body, encoding):
        return True
    return _canonical(bytes(kept.body), kept.encoding) == _canonical(body, encoding)


def _canonical(body: bytes, encoding: str) -> str:
    return json.dumps(json.loads(unpack(body, encoding)), sort_keys=True)


# --- the machine ---


def _know(sender: Sender, reported: ReportedMachine) -> None:
    """See to it that the machine has a row; a lab's key announces machines by their reports. Raises WrongMachine."""
    if sender.machine_id is not None:
        _introduce(sender.lab_id, sender.machine_id, reported)
    elif _known(sender.lab_id, reported) is None:
        _announce(sender.lab_id, reported)


def _known(lab_id: int, reported: ReportedMachine) -> int | None:
    return Machine.objects.filter(lab_id=lab_id, identity=reported.identity).values_list("pk", flat=True).first()


def _introduce(lab_id: int, machine_id: int, reported: ReportedMachine) -> None:
    """A machine that an admin announced may report for the first time: from then on it is this one."""
    unknown = Machine.objects.filter(pk=machine_id, lab_id=lab_id, identity__isnull=True)
    try:
        with transaction.atomic():
            if unknown.update(identity=reported.identity):
                return
    except IntegrityError:
        raise WrongMachine(
            "this machine is known to the lab under another name: use a key of that, or of the lab"
        ) from None
    # Of two first reports at once the other may have been quicker, and from the same machine.
    if not Machine.objects.filter(pk=machine_id, lab_id=lab_id, identity=reported.identity).exists():
        raise WrongMachine("this key is for another machine: use that machine's own key, or one of the lab")


def _announce(lab_id: int, reported: ReportedMachine) -> None:
    name = reported.name or f"machine {reported.identity[:IDENTITY_CHARS]}"
    for slug in _slugs(name, reported.identity):
        try:
            with transaction.atomic():
                Machine.objects.create(lab_id=lab_id, slug=slug, name=name, identity=reported.identity)
        except IntegrityError:
            # Either another machine has this address, or another report of this machine was quicker.
            if _known(lab_id, reported) is None:
                continue
        return


def _slugs(name: str, identity: str) -> Iterator[str]:
    """Addresses to try, the shortest first."""
    start = slugify(name)[:SLUG_CHARS].strip("-_") or "machine"
    yield start
    yield f"{start}-{identity[:IDENTITY_CHARS]}"
    yield f"machine-{identity}"
