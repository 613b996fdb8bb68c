"""How often a password may be tried, and a mail asked for: per client, and per account from all clients together.

Every attempt counts, so that guesses sent at once are counted before the first is answered.
"""

import unicodedata

from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from stackviz.web.rate_limit import RateLimit, RateLimited

__all__ = ["count_login", "count_reset", "too_many_attempts"]

LOGIN_WINDOW_S = 15 * 60
RESET_WINDOW_S = 60 * 60
LOGINS_OF_CLIENT = RateLimit("logins-of-client", "LOGINS_PER_CLIENT", LOGIN_WINDOW_S)
LOGINS_OF_ACCOUNT = RateLimit("logins-of-account", "LOGINS_PER_ACCOUNT", LOGIN_WINDOW_S)
RESETS_OF_CLIENT = RateLimit("resets-of-client", "LOGINS_PER_CLIENT", RESET_WINDOW_S)
RESETS_OF_ADDRESS = RateLimit("resets-of-address", "RESET_MAILS_PER_HOUR", RESET_WINDOW_S)


def count_login(request: HttpRequest, name: str) -> None:
    """Count an attempt to log in as `name`, whether there is such an account or not. Raises RateLimited."""
    LOGINS_OF_CLIENT.count(request)
    LOGINS_OF_ACCOUNT.count_for(_key(name))


def count_reset(request: HttpRequest, address: str) -> None:
    """Count a request for a mail to `address`. Raises RateLimited."""
    RESETS_OF_CLIENT.count(request)
    RESETS_OF_ADDRESS.count_for(_key(address))


def too_many_attempts(limited: RateLimited) -> str:
    """What a form says instead of looking at the password."""
    text = _("Too many attempts. Wait %(minutes)d minutes, then try again.")
    return text % {"minutes": limited.retry_after_s // 60 + 1}


def _key(name: str) -> str:
    """32 hex digits that stand for the name, however it is spelled."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return str(salted_hmac("stackviz.accounts.attempts", folded, algorithm="sha256").hexdigest())[:32]
