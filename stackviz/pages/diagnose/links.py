"""Private links: a masked text saved, read by anyone with the link, deleted with its deletion code, or by time.

The form that saves carries a ticket, signed by us, with the link and the code in it: sending the form twice, also at
once, saves one text.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from stackviz.pages.diagnose.models import PrivateLink
from stackviz.web.http.rate_limit import RateLimit
from stackviz.web.http.tickets import TicketRefused, digest_of, new_token, open_ticket, sign_ticket

LINKS = RateLimit("links", "LINKS_PER_HOUR", 3600)


CODE_BYTES = 16
MOST_STORED_KB = 256  # of one text: twice the longest of the dumps collected from issues
_PURPOSE = "stackviz.diagnose.links"


class NoRoom(Exception):
    """LINKS_KEPT texts are already stored."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A link to be saved: its token and its deletion code."""

    token: str
    code: str

    def signed(self) -> str:
        return sign_ticket((self.token, self.code), _PURPOSE)


def new_ticket() -> Ticket:
    return Ticket(new_token(), secrets.token_urlsafe(CODE_BYTES))


def read_ticket(text: str) -> Ticket:
    """Raises TicketRefused."""
    try:
        token, code = open_ticket(text, _PURPOSE)
    except ValueError:
        raise TicketRefused from None
    return Ticket(token, code)


def save_link(ticket: Ticket, text: str, kinds: str) -> Ticket:
    """Keep a text that is masked already -> what opens it. A ticket that was used for another text gets a new one.

    Raises NoRoom.
    """
    now, digest = timezone.now(), digest_of(ticket.token)
    if not PrivateLink.objects.filter(token_digest=digest).exists():
        _check_room()
    link, _is_new = PrivateLink.objects.get_or_create(
        token_digest=digest,
        defaults={
            "delete_digest": digest_of(ticket.code),
            "text": text,
            "kinds": kinds[:600],
            "created_at": now,
            "expires_at": now + timedelta(days=settings.LINK_DAYS),
        },
    )
    return ticket if link.text == text else save_link(new_ticket(), text, kinds)


def _check_room() -> None:
    """Delete expired texts first. Concurrent requests can exceed the limit by their number."""
    if PrivateLink.objects.count() >= settings.LINKS_KEPT and not delete_expired():
        raise NoRoom


def is_too_long(text: str) -> bool:
    return len(text.encode()) > MOST_STORED_KB * 1024


def find_link(token: str) -> PrivateLink | None:
    """The saved text, None when there is none or its day has come. One query."""
    return PrivateLink.objects.filter(token_digest=digest_of(token), expires_at__gt=timezone.now()).first()


def may_delete(link: PrivateLink, code: str) -> bool:
    return secrets.compare_digest(link.delete_digest, digest_of(code))


def delete_link(token: str, code: str) -> bool:
    """Whether the code was right; the text is deleted then, also if a concurrent request deleted it."""
    link = find_link(token)
    if link is None:
        return True
    if not may_delete(link, code):
        return False
    PrivateLink.objects.filter(pk=link.pk).delete()
    return True


def delete_expired() -> int:
    """How many texts were deleted because their day has come."""
    deleted, _by_model = PrivateLink.objects.filter(expires_at__lte=timezone.now()).delete()
    return deleted
