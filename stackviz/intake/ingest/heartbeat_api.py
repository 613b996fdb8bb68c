"""`POST /api/v1/heartbeat/`: an agent that stays says that it is there, also when it measures nothing."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema

from stackviz.intake.ingest.api import AgentKeyAuth, Refused, refusing
from stackviz.intake.ingest.key_api import NamedLink
from stackviz.records.labs.heartbeats import BUSY_CHARS, LONGEST_S, SHORTEST_S, note_heartbeat
from stackviz.records.labs.keys import Sender, WrongMachine, check_again, note_use
from stackviz.records.labs.models import Machine
from stackviz.web.rate_limit import RateLimit

router = Router()
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
