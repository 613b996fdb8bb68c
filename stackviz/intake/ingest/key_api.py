"""What agents need besides sending reports: `GET /api/v1/key/` checks a key, `POST /api/v1/heartbeat/` is a sign of
life.
"""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema

from stackviz.intake.ingest.api import AgentKeyAuth, Refused, refusing
from stackviz.records.labs.heartbeats import BUSY_CHARS, LONGEST_S, SHORTEST_S, note_heartbeat
from stackviz.records.labs.keys import (
    UNKNOWN,
    KeyUnknown,
    Sender,
    WrongMachine,
    authenticate,
    check_again,
    counting_guesses,
    note_use,
)
from stackviz.records.labs.models import AgentKey, Machine
from stackviz.report.format import FORMAT
from stackviz.web.http.rate_limit import RateLimit

router = Router()

# As many as uploads, and for each key like them: wrong keys are counted by address.
KEY_CHECKS = RateLimit("key-checks", "UPLOADS_PER_MINUTE", 60, "too many checks of this key")


class NamedLink(Schema):
    slug: str
    name: str


class KeyDetails(Schema):
    """A key that holds, and what it is for."""

    name: str = Field(description="what the lab calls the key")
    lab: NamedLink
    machine: NamedLink | None = Field(description="null: the key is for every machine of the lab")
    expires_at: datetime | None = Field(description="null: it does not expire")
    report_format: int = Field(description="the version of the report format that this site reads")


@router.get(
    "/key/",
    response={200: KeyDetails, **dict.fromkeys((401, 403, 429, 503), Refused)},
    url_name="key",
    summary="Check a key",
    openapi_extra={"security": [{"AgentKeyAuth": []}]},
)
def key_details(request: HttpRequest, response: HttpResponse) -> dict[str, Any]:
    """Whether the key in `Authorization: Bearer aw_…` may send reports, and of which lab or machine. Nothing is stored.

    401: no key of this site. 403: revoked or expired. 429, 503: again after `Retry-After` seconds.
    """
    with refusing():
        with counting_guesses(request):
            sender = authenticate(request.headers.get("Authorization", ""))
        KEY_CHECKS.count_for(str(sender.key_id))
        key = AgentKey.objects.select_related("lab", "machine").filter(pk=sender.key_id).first()
        if key is None:  # deleted between the two queries
            raise KeyUnknown(UNKNOWN)
    response["Cache-Control"] = "private, no-store"
    return {
        "name": key.name,
        "lab": {"slug": key.lab.slug, "name": key.lab.name},
        "machine": key.machine and {"slug": key.machine.slug, "name": key.machine.name},
        "expires_at": key.expires_at,
        "report_format": FORMAT,
    }


# --- signs of life ---

BEATS = RateLimit("heartbeats", "UPLOADS_PER_MINUTE", 60, "too many heartbeats with this key", batches=100)
_PRINTABLE = r"^[^\x00-\x1f\x7f]*$"


class HeartbeatBody(Schema):
    """A sign of life of one machine."""

    identity: str = Field(pattern=r"^[0-9a-f]{64}$", description="`machine.identity`, as in its reports")
    every_s: int = Field(
        ge=SHORTEST_S, le=LONGEST_S, description="seconds between two reports, as the agent plans them"
    )
    busy: str = Field(
        "", max_length=BUSY_CHARS, pattern=_PRINTABLE, description="why nothing is measured this time; empty if it is"
    )


class Heard(Schema):
    """It was noted."""

    machine: NamedLink | None = Field(description="null: no report of this machine has arrived yet; nothing was noted")
    silent_from: datetime | None = Field(description="when the lab is told that the machine is silent")


@router.post(
    "/heartbeat/",
    auth=AgentKeyAuth(),
    response={200: Heard, **dict.fromkeys((400, 401, 403, 422, 429, 503), Refused)},
    url_name="heartbeat",
    operation_id="stackviz_ingest_heartbeat_api_send_heartbeat",
    summary="Send a sign of life",
)
def send_heartbeat(request: HttpRequest, beat: HeartbeatBody) -> dict[str, Any]:
    """Notes that the agent on a machine is there and how often it reports. Only agents that stay send it.

    400: send JSON. 401, 403: correct the key. 422: correct what `field` names. 429, 503: again after `Retry-After`
    seconds.
    """
    with refusing():
        recognised: Sender = request.auth  # type: ignore[attr-defined]  # set by ninja from AgentKeyAuth
        BEATS.count_for(str(recognised.key_id))
        sender = check_again(recognised)
        machine = _machine_of(sender, beat.identity)
        silent_from = note_heartbeat(machine.pk, sender.key_id, beat.every_s, beat.busy) if machine else None
        note_use(sender.key_id, timezone.now())
    return {
        "machine": machine and {"slug": machine.slug, "name": machine.name},
        "silent_from": silent_from,
    }


def _machine_of(sender: Sender, identity: str) -> Machine | None:
    """The lab's machine with this identity, or the one it was merged into. Raises WrongMachine."""
    known = Machine.objects.filter(lab_id=sender.lab_id, identity=identity).select_related("merged_into").first()
    machine = known and (known.merged_into or known)
    if sender.machine_id is not None and (machine is None or machine.pk != sender.machine_id):
        if machine is None and sender.machine_identity is None:
            return None  # announced, no report yet
        raise WrongMachine("this key belongs to another machine: use this machine's own key, or one of the lab")
    return machine
