"""Accept a report: store one row as sent, in one transaction, and queue it. `interpret` reads it later."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import slugify

from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.body import canonical_body, content_digest, unpack
from stackviz.intake.ingest.fast_parser import fast_check
from stackviz.records.labs.keys import Sender, WrongMachine, check_with_machine, note_use
from stackviz.records.labs.models import Card, Machine, Report
from stackviz.report.format import Machine as ReportedMachine
from stackviz.report.format import Report as SentReport
from stackviz.report.format import parse_report
from stackviz.web.http.rate_limit import RateLimit
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
    """The machine, or the key, was deleted while its report came in: the next try gets the reason."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A report that is stored. `is_new` False: it was sent before, with the same content."""

    report_id: UUID
    is_new: bool


def accept_report(sender: Sender, body: bytes, encoding: str) -> Accepted:
    """Store a report as sent and have it read. Nothing is written unless all of it is.

    Sending the same report twice is normal (an agent that lost our answer retries) and stores it once. What `sender`
    may do is checked again in the transaction that writes.
    Raises ReportError, KeyUnknown, KeyForbidden, WrongMachine (the key is for another), ReportConflict (id is taken).
    """
    plain = unpack(body, encoding)
    report_id, reported = _check(plain)
    now = timezone.now()
    try:
        with turn_to_write(), transaction.atomic():
            sender, known_id = check_with_machine(sender, reported.identity)
            # Looked for first: PostgreSQL would write the body of a refused INSERT into its log and its tables.
            if stored := _stored(report_id):
                return _accept_again(sender, stored, body, encoding)
            Report.objects.create(
                id=report_id,
                machine_id=_machine_of(sender, reported, known_id, plain),
                key_id=sender.key_id,
                received_at=now,
                # None: the broker is unreachable, so the periodic task queues the report at its next turn.
                queued_at=None if tasks.is_broker_unreachable() else now,
                body=body,
                encoding=encoding,
            )
    except IntegrityError:
        # The primary key lets one of simultaneous senders through: none saw the report of another.
        stored = _stored(report_id)
        if stored is None:
            raise
        return _accept_again(sender, stored, body, encoding)
    transaction.on_commit(partial(tasks.enqueue, str(report_id)))
    note_use(sender.key_id, now)
    return Accepted(report_id, is_new=True)


def _check(body: bytes) -> tuple[UUID, ReportedMachine]:
    """The id and the machine of a valid report. Raises ReportError."""
    valid = fast_check(body)
    if valid is not None:
        return valid
    report = parse_report(body)
    return report.id, report.machine


def _stored(report_id: UUID) -> Report | None:
    """The report of this id with its machine, in one query: somebody may delete it meanwhile."""
    return Report.objects.select_related("machine").filter(pk=report_id).first()


def _accept_again(sender: Sender, stored: Report, body: bytes, encoding: str) -> Accepted:
    """Accept a report that is stored, with the same content and by a sender who may. Raises ReportConflict."""
    if not (sender.speaks_for(stored.machine) and _has_same_content(stored, body, encoding)):
        raise ReportConflict
    return Accepted(stored.pk, is_new=False)


def _has_same_content(stored: Report, body: bytes, encoding: str) -> bool:
    """Whether both hold the same JSON, however compressed, spaced or ordered."""
    if stored.content_digest is not None:
        return stored.content_digest == content_digest(body, encoding)
    if (bytes(stored.body), stored.encoding) == (body, encoding):
        return True
    return canonical_body(bytes(stored.body), stored.encoding) == canonical_body(body, encoding)


# --- the machine ---


def _machine_of(sender: Sender, reported: ReportedMachine, machine_id: int | None, body: bytes) -> int:
    """Key of the machine that the report is from. Raises WrongMachine, MachineDeleted.

    `machine_id`: of the machine that the lab knows under the reported identity. A lab's key creates a machine that is
    new; a machine's own key gives it its identity. A machine that is known under another identity keeps its history:
    the new identity leads there.
    """
    lab_id = sender.lab_id
    if machine_id is None:
        merged_into = known_as(lab_id, parse_report(body))
        if sender.machine_id in (None, merged_into):
            _create_machine(lab_id, reported, merged_into)
            machine_id = _known_machine(lab_id, reported)
    if sender.machine_id not in (None, machine_id):
        _bind_machine(lab_id, sender.machine_id, reported)
        return sender.machine_id
    if machine_id is None:
        raise MachineDeleted
    return machine_id


def _known_machine(lab_id: int, reported: ReportedMachine) -> int | None:
    of_identity = Machine.objects.filter(lab_id=lab_id, identity=reported.identity)
    known = of_identity.values_list("merged_into_id", "pk").first()
    return (known[0] or known[1]) if known else None


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


def _create_machine(lab_id: int, reported: ReportedMachine, merged_into: int | None) -> None:
    name = reported.name or f"machine {reported.identity[:IDENTITY_CHARS]}"
    for slug in _slugs(name, reported.identity):
        try:
            with transaction.atomic():
                Machine.objects.create(
                    lab_id=lab_id, slug=slug, name=name, identity=reported.identity, merged_into_id=merged_into
                )
        except IntegrityError:
            # Either another machine has this slug, or another report of this machine was quicker.
            if _known_machine(lab_id, reported) is None:
                continue
        return


def _slugs(name: str, identity: str) -> Iterator[str]:
    """Slugs to try, the shortest first."""
    start = slugify(name)[:SLUG_CHARS].strip("-_") or "machine"
    yield start
    yield f"{start}-{identity[:IDENTITY_CHARS]}"
    yield f"machine-{identity}"


def known_as(lab_id: int, report: SentReport) -> int | None:
    """Primary key of the lab's machine that a report with a new identity is from, None if none is. Two queries at most.

    An agent in a container may see no more of its machine than cards, and after one is lost no longer the same. It says
    so (`machine.recognised_by`); earlier agents say at least that they are in a container. Such a report is from the
    machine with the identity that the cards alone give, or else from the one that reported more than half of them last.
    """
    by_cards = report.facts.get("machine.identity_by_cards")
    if by_cards:
        known = Machine.objects.filter(lab_id=lab_id, identity=by_cards).values_list("merged_into_id", "pk").first()
        if known:
            return known[0] or known[1]
    source = report.facts.get("machine.recognised_by")
    is_known_by_cards = source == "cards" if source else "machine.container" in report.facts
    return _with_these_cards(lab_id, report) if is_known_by_cards else None


def _with_these_cards(lab_id: int, report: SentReport) -> int | None:
    hashes = {card.uuid_hash for card in report.cards if card.uuid_hash and "mig_parent_index" not in card.facts}
    if not hashes:
        return None
    latest = Machine.objects.filter(lab_id=lab_id, latest_snapshot__isnull=False).values("latest_snapshot_id")
    cards = Card.objects.filter(snapshot__in=latest, uuid_hash__in=hashes).order_by()
    machines = Counter(
        machine_id for machine_id, _ in cards.values_list("snapshot__machine_id", "uuid_hash").distinct()
    )
    machine_id, most = machines.most_common(1)[0] if machines else (None, 0)
    return machine_id if 2 * most > len(hashes) else None
