"""A reader reports a mistake: what is stored of it, and what became of it."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from stackviz.desk.curation.models import ReaderCorrection
from stackviz.records.audit.record import record
from stackviz.records.catalog.models import Accelerator
from stackviz.web.rate_limit import RateLimit
from stackviz.web.tickets import digest_of, new_token

CORRECTIONS = RateLimit("corrections", "CORRECTIONS_PER_HOUR", 3600)
PURPOSE = "stackviz.curation.reader_corrections"
COMPARED = ("field", "condition", "wrong", "right", "source_url", "name")  # of a form that is sent again


class TooManyWaiting(Exception):
    """CORRECTIONS_WAITING readers' corrections wait for an answer already."""


def save_correction(token: str, accelerator: Accelerator, words: dict[str, str]) -> str:
    """Store what a reader said, once for a token -> the token of its address. Raises TooManyWaiting.

    A form that is sent again with other words is another correction, under a token of its own.
    """
    digest = digest_of(token)
    waiting = ReaderCorrection.objects.filter(state=ReaderCorrection.State.WAITING)
    if not waiting.filter(token_digest=digest).exists() and waiting.count() >= settings.CORRECTIONS_WAITING:
        raise TooManyWaiting
    stored, _is_new = ReaderCorrection.objects.get_or_create(
        token_digest=digest, defaults={"accelerator": accelerator, **words}
    )
    is_same = stored.accelerator_id == accelerator.pk and all(getattr(stored, name) == words[name] for name in COMPARED)
    return token if is_same else save_correction(new_token(), accelerator, words)


def correction_of(token: str) -> ReaderCorrection | None:
    """What stands under this address; None where nothing does. One query."""
    under_it = ReaderCorrection.objects.filter(token_digest=digest_of(token), accelerator__is_public=True)
    return under_it.select_related("accelerator").first()


@transaction.atomic
def decide_correction(correction: ReaderCorrection, by: User) -> None:
    """Store the answer with who gave it and when; whom to ask is forgotten with it."""
    is_open = correction.state == ReaderCorrection.State.WAITING
    correction.decided_by, correction.decided_at = (None, None) if is_open else (by, timezone.now())
    if not is_open:
        correction.contact = ""
    correction.save()
    record("correction.answered", f"correction {correction.pk}", by, state=correction.state)
