"""Agent keys: create, authenticate, revoke. `aw_<prefix>_<secret>`: the prefix finds the row, the secret proves it."""

import hashlib
import logging
import re
import secrets
import string
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import OperationalError, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from stackviz.records.audit.record import record
from stackviz.records.labs.models import AgentKey, Lab, Machine
from stackviz.records.labs.queries import LabReader, Visitor
from stackviz.web.http.rate_limit import RateLimit

log = logging.getLogger(__name__)

UNKNOWN = "this key is unknown to this site"
PREFIX_ALPHABET = string.ascii_lowercase + string.digits
PREFIX_CHARS = 8
SECRET_BYTES = 32
_KEY_TEXT = re.compile(r"aw_([a-z0-9]{8})_[A-Za-z0-9_-]{32,128}", re.ASCII)
RECOGNISED_FOR_S = 10.0
RECOGNISED_AT_MOST = 10_000
_recognised: dict[str, tuple["Sender", float]] = {}
_noted: dict[int, datetime] = {}

_SENDER_FIELDS = ("pk", "lab_id", "lab__is_public", "machine_id", "machine__identity")
# Compared when no row has the prefix, so that timing is equal; no key has this digest.
_NOBODY: tuple[Any, ...] = (*[None] * len(_SENDER_FIELDS), "0" * 64, None, None, "")

# `last_used_at` is updated at most this often, so that an upload does not write twice each time.
USE_NOTED_EVERY = timedelta(minutes=1)


class KeyRefused(Exception):
    """The key is refused; the message says why, as far as the sender may know."""


class KeyUnknown(KeyRefused):
    """No key was sent, or an unknown one. One message for all cases, so that it reveals nothing."""


class KeyForbidden(KeyRefused):
    """A known key without permission: revoked, expired, or for another purpose."""


class WrongMachine(KeyForbidden):
    """A key of one machine, used for a report of another."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of a key. `machine_id` None: any machine of the lab; `machine_identity` None: not reported yet."""

    key_id: int
    lab_id: int
    lab_is_public: bool
    machine_id: int | None
    machine_identity: str | None

    def speaks_for(self, machine: Machine) -> bool:
        """Whether the key may report for this machine."""
        return self.lab_id == machine.lab_id and self.machine_id in (None, machine.pk, machine.merged_into_id)


def create_key(
    *,
    lab: Lab,
    name: str,
    machine: Machine | None = None,
    scope: str = AgentKey.Scope.SEND,
    expires_at: datetime | None = None,
    created_by: AbstractBaseUser | None = None,
) -> tuple[AgentKey, str]:
    """Create a key. Returns (row, text for the agent); the text is not stored: show it once."""
    if machine is not None and machine.lab_id != lab.pk:
        raise ValueError(f"machine {machine.slug} does not belong to lab {lab.slug}")
    if machine is not None and scope != AgentKey.Scope.SEND:
        raise ValueError("a key that reads is for the whole lab")
    prefix = "".join(secrets.choice(PREFIX_ALPHABET) for _ in range(PREFIX_CHARS))
    text = f"aw_{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"
    key = AgentKey.objects.create(
        lab=lab,
        machine=machine,
        scope=scope,
        name=name,
        prefix=prefix,
        digest=key_digest(text),
        expires_at=expires_at,
        created_by_id=created_by.pk if created_by else None,
    )
    return key, text


def rotate_key(key: AgentKey, ends_in: timedelta, created_by_id: int | None = None) -> tuple[AgentKey, str]:
    """A new key for the same purpose, valid as long as the old one was made for -> (row, text to show once).

    The old one works for `ends_in` more, so that machines can be given the new one meanwhile; never longer than before.
    Raises KeyForbidden if it is revoked or expired by now.
    """
    with transaction.atomic():
        old = AgentKey.objects.select_for_update(of=("self",)).select_related("lab", "machine").get(pk=key.pk)
        _check_valid(old.revoked_at, old.expires_at)
        now = timezone.now()
        lifetime = old.expires_at - old.created_at if old.expires_at else None
        made = create_key(
            lab=old.lab,
            machine=old.machine,
            scope=old.scope,
            name=old.name,
            expires_at=now + lifetime if lifetime else None,
        )
        AgentKey.objects.filter(pk=made[0].pk).update(created_by=created_by_id)
        if ends_in > timedelta(0):
            old.expires_at = min(old.expires_at or now + ends_in, now + ends_in)
            old.save(update_fields=["expires_at"])
        else:
            revoke(old)
    return made


def key_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def authenticate(header: str, *scopes: str) -> Sender:
    """The sender of `Authorization: Bearer <key>`. One query. Raises KeyUnknown, KeyForbidden.

    `scopes`: what the key must be for, one of these; none: sending reports. Only a holder of the secret learns that a
    key was revoked or has expired.
    """
    text = _key_text(header)
    _recognised.pop(key_digest(text), None)
    rows = AgentKey.objects.filter(prefix=text[len("aw_") : len("aw_") + PREFIX_CHARS])
    row = rows.values_list(*_SENDER_FIELDS, "digest", "revoked_at", "expires_at", "scope").first()
    *sender, digest, revoked_at, expires_at, scope = row or _NOBODY
    if not secrets.compare_digest(digest, key_digest(text)):
        raise KeyUnknown(UNKNOWN)
    _check_valid(revoked_at, expires_at)
    if scope not in (scopes or (AgentKey.Scope.SEND,)):
        raise KeyForbidden(_FOR_OTHERS[scope])
    return Sender(*sender)


_FOR_OTHERS = {
    AgentKey.Scope.READ.value: "this key reads and sends no reports; use a key that sends them",
    AgentKey.Scope.SEND.value: "this key sends reports and reads nothing; use a key that reads",
}


def check_again(sender: Sender) -> Sender:
    """The sender of a recognised key as it is now. One query. Raises KeyUnknown, KeyForbidden."""
    row = AgentKey.objects.filter(pk=sender.key_id).values_list(*_SENDER_FIELDS, "revoked_at", "expires_at").first()
    if row is None:
        raise KeyUnknown(UNKNOWN)
    *now, revoked_at, expires_at = row
    _check_valid(revoked_at, expires_at)
    return Sender(*now)


def check_with_machine(sender: Sender, identity: str) -> tuple[Sender, int | None]:
    """As `check_again`, with the machine that its lab knows under this identity -> (sender, id of that machine).

    One query where the machine is known; of a merged machine the id of the one that has its reports.
    """
    keys = AgentKey.objects.filter(pk=sender.key_id, lab__machines__identity=identity)
    columns = ("lab_id", "machine_id", "revoked_at", "expires_at", "lab__machines__merged_into_id", "lab__machines__pk")
    try:
        lab_id, key_machine_id, revoked_at, expires_at, merged_into_id, machine_id = keys.values_list(*columns).get()
    except AgentKey.DoesNotExist:
        return check_again(sender), None
    _check_valid(revoked_at, expires_at)
    return replace(sender, lab_id=lab_id, machine_id=key_machine_id), merged_into_id or machine_id


def _check_valid(revoked_at: datetime | None, expires_at: datetime | None) -> None:
    if revoked_at is not None:
        raise KeyForbidden("this key was revoked; ask your lab for a new one")
    if expires_at is not None and expires_at <= timezone.now():
        raise KeyForbidden(f"this key expired on {expires_at:%Y-%m-%d}; ask your lab for a new one")


def recognise(header: str) -> Sender:
    """As `authenticate`, cached for RECOGNISED_FOR_S; for callers whose write checks the key again.

    Usually no query. The cache holds digests, never secrets.
    """
    digest = key_digest(_key_text(header))
    sender, until = _recognised.get(digest, (None, 0.0))
    if sender is None or until < time.monotonic():
        sender = authenticate(header)
        if len(_recognised) >= RECOGNISED_AT_MOST:
            _recognised.clear()
        _recognised[digest] = sender, time.monotonic() + RECOGNISED_FOR_S
    return sender


def _key_text(header: str) -> str:
    scheme, _, text = header.partition(" ")
    match = _KEY_TEXT.fullmatch(text.strip())
    if scheme.lower() != "bearer" or match is None:
        raise KeyUnknown("send the header: Authorization: Bearer aw_…, with a key of this site")
    return match[0]


def note_use(key_id: int, now: datetime) -> None:
    """Record that the key was used. At most one write per USE_NOTED_EVERY across all processes."""
    due = now - USE_NOTED_EVERY
    if _noted.get(key_id, due) > due:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=due)
    try:
        AgentKey.objects.filter(stale, pk=key_id).update(last_used_at=now)
    except OperationalError as error:  # the report is stored already; do not fail the upload
        log.warning("last use of key %s not recorded: %s", key_id, error)
        return
    _noted[key_id] = now


def audit_subject(key: AgentKey) -> str:
    """How the audit log names a key."""
    return f"key aw_{key.prefix}_…"


def revoke(key: AgentKey) -> None:
    """Revoke the key; a second call keeps the first time."""
    with transaction.atomic():
        if AgentKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
            record("key.revoked", audit_subject(key))
    key.refresh_from_db(fields=["revoked_at"])


# --- wrong keys ---

KEY_GUESSES = RateLimit(
    "key-guesses", "KEY_GUESSES_PER_CLIENT", 15 * 60, "too many wrong keys from this address; a right one is accepted"
)


@contextmanager
def counting_guesses(request: HttpRequest) -> Iterator[None]:
    """Count a key that turns out to be unknown; without any nothing was guessed. Raises RateLimited."""
    try:
        yield
    except KeyUnknown:
        if request.headers.get("Authorization", "").strip():
            KEY_GUESSES.count(request)
        raise


# --- who reads ---

READS = RateLimit("key-reads", "UPLOADS_PER_MINUTE", 60, "too many requests with this key", batches=100)
_BEARER = "bearer "


def reader_of(request: HttpRequest) -> Visitor:
    """The visitor, or whoever the `Authorization: Bearer aw_…` of the request speaks for. One query with a key.

    Raises KeyUnknown, KeyForbidden and RateLimited: a key that is wrong is not passed over in silence.
    """
    header = request.headers.get("Authorization", "")
    if not header.lower().startswith(_BEARER):
        return request.user
    with counting_guesses(request):
        sender = authenticate(header, AgentKey.Scope.READ)
    READS.count_for(str(sender.key_id))
    note_use(sender.key_id, timezone.now())
    return LabReader(sender.lab_id)
