"""How often one client may ask: counted for all processes together, in Redis or else in files. No address is kept.

A count that cannot be kept lets everybody through: better a busy site than a closed one.
"""

import ipaddress
import logging
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from stackviz.web.breaker import Breaker

log = logging.getLogger(__name__)
clock: Callable[[], float] = time.time
_breaker = Breaker(rest_s=15)
_KEY_CHARS = 32
_SITE_OF_IPV6 = 64  # bits: a household has all the addresses behind them


class TooMany(Exception):
    """This client has had its share for now."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"too many requests from this address; wait {retry_after_s} s")
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Pace:
    """At most `settings.<limit>` in each window of so many seconds, for each client."""

    name: str
    limit: str
    window_s: int

    def count(self, request: HttpRequest) -> None:
        """Count one request of this client. Raises TooMany."""
        window, passed = divmod(int(clock()), self.window_s)
        if _breaker.is_open:
            return
        try:
            so_far = _counted(self.name, window, client_key(request), self.window_s)
        except (RedisError, OSError) as error:
            _breaker.trip()
            log.warning("requests are not counted for %s s: %s", _breaker.rest_s, error)
            return
        if so_far > getattr(settings, self.limit):
            raise TooMany(self.window_s - passed)


DIAGNOSES = Pace("diagnoses", "DIAGNOSES_PER_MINUTE", 60)
LINKS = Pace("links", "LINKS_PER_HOUR", 3600)


def client_key(request: HttpRequest) -> str:
    """Stands for the client; who reads the counts learns no address."""
    digest = salted_hmac("stackviz.diagnose.pace", client_of(request), algorithm="sha256").hexdigest()
    return str(digest)[:_KEY_CHARS]


def client_of(request: HttpRequest) -> str:
    """The network address that asks, as the outermost of our own PROXIES saw it. An IPv6 one stands for its network."""
    direct = request.META.get("REMOTE_ADDR", "")
    seen = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    told = seen[-settings.PROXIES :][0] if settings.PROXIES and seen else direct
    try:
        address = ipaddress.ip_address(told)
    except ValueError:
        return str(direct)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _SITE_OF_IPV6), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def _counted(name: str, window: int, client: str, window_s: int) -> int:
    """How many there were in this window, this one included."""
    if not settings.REDIS_URL:
        return _counted_in_files(settings.VAR_DIR / "pace" / name, str(window), client)
    counter = f"pace:{name}:{window}:{client}"
    try:
        return cache.incr(counter)
    except ValueError:  # Django's word for: no such counter yet
        # Another process may be first here too: `add` tells, and then there is a counter to increment.
        return 1 if cache.add(counter, 1, timeout=2 * window_s) else cache.incr(counter)


def _counted_in_files(folder: Path, window: str, client: str) -> int:
    """One byte appended for each: the file's length is the count, and appending is never torn between processes."""
    here = folder / window
    if not here.is_dir():
        here.mkdir(parents=True, exist_ok=True)
        for older in folder.iterdir():
            if older.name.isdecimal() and int(older.name) < int(window) - 1:  # the last may still be written to
                shutil.rmtree(older, ignore_errors=True)
    descriptor = os.open(here / client, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b".")
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
