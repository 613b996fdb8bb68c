"""What a form of a visitor without an account carries: the address of what it will store, signed by us.

A form that is sent twice, also at once, stores one thing. Of the address only the digest is stored.
"""

import hashlib
import secrets
from collections.abc import Sequence

from django.core import signing

TOKEN_BYTES = 32
TOKEN_PATTERN = r"[A-Za-z0-9_-]{43}"  # noqa: S105 (what a token looks like)
TICKET_HOLDS_S = 24 * 3600


class TicketRefused(Exception):
    """The form was not made here, or too long ago."""


def new_token() -> str:
    """The unguessable part of a new address."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def sign_ticket(parts: Sequence[str], purpose: str) -> str:
    """What the form carries; `purpose` is the same where it is read."""
    return signing.dumps([*parts], salt=purpose)


def open_ticket(text: str, purpose: str) -> list[str]:
    """The parts. Raises TicketRefused."""
    try:
        return [str(part) for part in signing.loads(text, salt=purpose, max_age=TICKET_HOLDS_S)]
    except (signing.BadSignature, ValueError, TypeError):
        raise TicketRefused from None


def digest_of(token: str) -> str:
    """What is stored of a token: its 256 random bits need no slow hash as passwords do."""
    return hashlib.sha256(token.encode()).hexdigest()
