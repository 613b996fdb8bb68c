"""How fast one key may send: UPLOADS_PER_MINUTE, counted in Django's cache. Bad reports count like good ones."""

import logging
import time

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from stackviz.ingest.refusals import TooMany
from stackviz.web.breaker import Breaker

WINDOW_S = 60
# A process draws this share of the limit from the cache at once, so that not every upload has to ask it. With a limit
# of 600 it asks for every sixth; uploads may be refused early by what other processes have drawn and not used.
DRAWN_SHARE = 100

log = logging.getLogger(__name__)
_breaker = Breaker(rest_s=15)
_drawn: dict[int, tuple[int, int]] = {}  # key -> (window, uploads still to spend)


def count_upload(key_id: int) -> None:
    """Count one upload of this key. Raises TooMany. A cache that is away lets everybody through.

    Windows are fixed minutes. With the in-process cache (no REDIS_URL) each web process counts for itself.
    """
    window, passed = divmod(int(time.time()), WINDOW_S)
    drawn_in, left = _drawn.get(key_id, (window, 0))
    if drawn_in != window or not left:
        left = _draw(key_id, window)
    if not left:
        raise TooMany(WINDOW_S - passed)
    _drawn[key_id] = window, left - 1


def _draw(key_id: int, window: int) -> int:
    """Uploads this process may let through before it asks again; 0: the key has had its share of this window."""
    limit: int = settings.UPLOADS_PER_MINUTE
    wanted = max(1, limit // DRAWN_SHARE)
    if _breaker.is_open:
        return wanted
    before = _increment(f"uploads:{key_id}:{window}", wanted) - wanted
    return max(0, min(wanted, limit - before))


def _increment(counter: str, by: int) -> int:
    try:
        try:
            return cache.incr(counter, by)
        except ValueError:  # Django's word for: no such counter yet
            # Another process may be first here too: `add` tells, and then there is a counter to increment.
            return by if cache.add(counter, by, timeout=2 * WINDOW_S) else cache.incr(counter, by)
    except (RedisError, OSError) as error:
        _breaker.trip()
        log.warning("uploads are not counted for %s s, the cache is away: %s", _breaker.rest_s, error)
        return by
