"""`GET /api/v1/key/`: what a key may do here, asked by an agent before it measures."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Router, Schema

from stackviz.intake.ingest.api import Refused, refusing
from stackviz.records.labs.key_guesses import counting_guesses
from stackviz.records.labs.keys import UNKNOWN, KeyUnknown, authenticate
from stackviz.records.labs.models import AgentKey
from stackviz.report.format import FORMAT
from stackviz.web.rate_limit import RateLimit

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
