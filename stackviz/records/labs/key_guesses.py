"""Wrong keys are counted per client. Right ones are not, so that nobody who has one waits for a neighbour's guesses."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest

from stackviz.records.labs.keys import KeyUnknown
from stackviz.web.rate_limit import RateLimit

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
