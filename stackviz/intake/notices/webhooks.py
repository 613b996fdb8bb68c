"""Webhooks of labs: set, signed, sent in order, tried again, and disabled when nobody listens.

An event is sent until the other end has accepted it once. While one fails those after it wait: a receiver that is down
is asked with growing pauses, and not once for each event.
"""

import hashlib
import hmac
import json
import logging
import secrets
import time
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import override

from stackviz.intake.notices.models import LabEvent, Webhook, WebhookDelivery
from stackviz.intake.notices.post import AddressRefused, PostFailed, checked_address, post
from stackviz.intake.notices.queries import STANDING, event_address, event_id, event_machine, event_title, lab_events
from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab

DISABLED_AFTER = 10  # failures in a row, the last about eight hours after the first
FIRST_PAUSE = timedelta(minutes=1)  # doubled with each failure
LONGEST_PAUSE = timedelta(hours=6)
EVENTS_A_RUN = 20
SENT_FOR_S = 60
BUSY_FOR = timedelta(minutes=3)  # longer than the limit of the task
_NONCE_BYTES = 32

log = logging.getLogger(__name__)


def webhook_secret(webhook: Webhook) -> str:
    """What the receiver checks signatures with. Derived: nothing in the database, a backup or an archive reveals it."""
    salt = "stackviz.notices.webhooks"
    return f"whs_{salted_hmac(salt, f'{webhook.pk} {webhook.nonce}', algorithm='sha256').hexdigest()}"


def set_webhook(lab: Lab, url: str, site: str) -> tuple[Webhook, str]:
    """Send the lab's events to this address from now on -> (row, secret to show once). Raises ValidationError.

    A new address has a new secret, as has the same address set again.
    """
    url = url.strip()
    try:
        checked_address(url)
    except AddressRefused:
        raise ValidationError(
            _("Write an address that begins with https://, without name and password, of at most 500 characters.")
        ) from None
    afresh = {
        "url": url,
        "nonce": secrets.token_urlsafe(_NONCE_BYTES),
        "site": site.rstrip("/"),
        "since": timezone.now(),
        **_WORKING,
    }
    try:
        with transaction.atomic():
            webhook, _is_new = Webhook.objects.update_or_create(lab=lab, defaults=afresh)
    except IntegrityError:  # another owner at the same moment
        raise ValidationError(_("Somebody else changed this at the same moment. Reload the page.")) from None
    return webhook, webhook_secret(webhook)


_WORKING: dict[str, Any] = {"failures": 0, "problem": "", "retry_at": None, "disabled_at": None}


def enable_webhook(webhook: Webhook) -> None:
    """Begin again after it was disabled, with what happens from now on."""
    webhook.since = timezone.now()
    for name, value in _WORKING.items():
        setattr(webhook, name, value)
    webhook.save(update_fields=["since", *_WORKING])


def pending_events(webhook: Webhook) -> QuerySet[LabEvent]:
    """Events that are still to be sent, the oldest first."""
    accepted = WebhookDelivery.objects.filter(webhook=webhook, event=OuterRef("pk"))
    return lab_events(webhook.lab).filter(~Exists(accepted), noted_at__gte=webhook.since).order_by("pk")


def due_webhooks() -> list[int]:
    """Keys of webhooks with something to send now. One query."""
    accepted = WebhookDelivery.objects.filter(webhook=OuterRef(OuterRef("pk")), event=OuterRef("pk"))
    waiting = LabEvent.objects.filter(
        ~Exists(accepted),
        STANDING,
        lab=OuterRef("lab"),
        noted_at__gte=OuterRef("since"),
    )
    return list(_to_send().filter(Exists(waiting)).order_by("pk").values_list("pk", flat=True))


def _to_send() -> QuerySet[Webhook]:
    now = timezone.now()
    return Webhook.objects.filter(
        Q(retry_at__isnull=True) | Q(retry_at__lte=now),
        Q(busy_until__isnull=True) | Q(busy_until__lte=now),
        disabled_at__isnull=True,
    )


def send_events(webhook_id: int) -> int:
    """Send what waits, a few events at most -> how many were accepted. One worker at a time does this for a webhook."""
    if not _to_send().filter(pk=webhook_id).update(busy_until=timezone.now() + BUSY_FOR):
        return 0
    webhook = Webhook.objects.select_related("lab").get(pk=webhook_id)
    deadline = time.monotonic() + SENT_FOR_S
    sent = 0
    try:
        for event in pending_events(webhook)[:EVENTS_A_RUN]:
            if time.monotonic() > deadline:
                break
            try:
                send_event(webhook, event_body(webhook, event), event.kind, event_id(event))
            except PostFailed as failed:
                _note_failure(webhook, failed)
                break
            WebhookDelivery.objects.get_or_create(webhook=webhook, event=event)
            same = Webhook.objects.filter(pk=webhook.pk, nonce=webhook.nonce)
            same.update(**_WORKING, delivered_at=timezone.now())
            webhook.failures = 0
            sent += 1
    finally:
        Webhook.objects.filter(pk=webhook_id).update(busy_until=None)
    return sent


def send_event(webhook: Webhook, body: bytes, kind: str, delivery: str) -> int:
    """One signed POST -> the status of the answer. Raises PostFailed."""
    stamp = int(timezone.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "accelweb-webhook/1",
        "X-Accelweb-Event": kind,
        "X-Accelweb-Delivery": delivery,
        "X-Accelweb-Signature": f"t={stamp},v1={signature(webhook_secret(webhook), stamp, body)}",
    }
    return post(webhook.url, body, headers)


def signature(secret: str, stamp: int, body: bytes) -> str:
    """HMAC-SHA256 of `<stamp>.<body>`, in hex."""
    return hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()


def event_body(webhook: Webhook, event: LabEvent) -> bytes:
    """The event as JSON, with texts in English and whole addresses."""
    machine = event_machine(event)
    with override("en"):
        content = {
            "id": event_id(event),
            "kind": event.kind,
            "lab": {"slug": webhook.lab.slug, "name": webhook.lab.name},
            "machine": {"slug": machine.slug, "name": machine.name},
            "title": event_title(event),
            "url": webhook.site + event_address(event),
            "report": str(event.report_id) if event.report_id else None,
            "happened_at": event.happened_at.isoformat(),
            "noted_at": event.noted_at.isoformat(),
            "details": {name: value for name, value in event.details.items() if name != "wording"},
        }
    return json.dumps(content, ensure_ascii=False).encode()


def send_test(webhook: Webhook) -> int:
    """Send an event of kind `test` now -> the status of the answer. Raises PostFailed; changes nothing."""
    content = {"id": f"test {secrets.token_hex(8)}", "kind": "test", "lab": {"slug": webhook.lab.slug}}
    return send_event(webhook, json.dumps(content).encode(), "test", content["id"])  # type: ignore[arg-type]


def _note_failure(webhook: Webhook, failed: PostFailed) -> None:
    """Wait longer before each next attempt; disable it when there were too many, or the other end is gone for good."""
    failures = webhook.failures + 1
    pause = min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE)
    is_over = failures >= DISABLED_AFTER or failed.status == HTTPStatus.GONE
    now = timezone.now()
    log.warning("webhook of lab %s failed (%s); attempt %s, next in %s", webhook.lab_id, failed, failures, pause)
    with transaction.atomic():
        same = Webhook.objects.filter(pk=webhook.pk, nonce=webhook.nonce)  # or it was set anew meanwhile
        is_noted = same.update(
            failures=failures,
            problem=str(failed)[:200],
            retry_at=None if is_over else now + pause,
            disabled_at=now if is_over else None,
        )
        if is_noted and is_over:
            record("webhook.disabled", webhook_subject(webhook), failures=failures, problem=str(failed)[:200])


def webhook_subject(webhook: Webhook) -> str:
    """How the audit log names a webhook."""
    return f"webhook of lab {webhook.lab_id}"
