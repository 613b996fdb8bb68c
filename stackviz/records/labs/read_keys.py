"""Who reads: somebody logged in, a program with a key that reads, or anybody."""

from django.http import HttpRequest
from django.utils import timezone

from stackviz.records.labs.key_guesses import counting_guesses
from stackviz.records.labs.keys import authenticate, note_use
from stackviz.records.labs.models import AgentKey
from stackviz.records.labs.queries import LabReader, Visitor
from stackviz.web.rate_limit import RateLimit

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
