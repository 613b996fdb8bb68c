"""How often one client or key may ask: counted for all processes together, in Redis or in files. No address is kept.

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

from stackviz.web.circuit_breaker import Breaker

log = logging.getLogger(__name__)
clock: Callable[[], float] = time.time
_breaker = Breaker(rest_s=15)
_drawn: dict[tuple[str, str], tuple[int, int]] = {}  # name, who -> window, how many are still to spend
_KEY_CHARS = 32
_PART_CHARS = 64 * 1024
_SITE_OF_IPV6 = 64  # bits: a household has all the addresses behind them


class TooMany(Exception):
    """They had their share for now."""

    def __init__(self, said: str, retry_after_s: int) -> None:
        super().__init__(f"{said}; wait {retry_after_s} s")
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Pace:
    """At most `settings.<limit>` in each window of so many seconds, for each client or whoever else is counted.

    `lots`: a process draws the limit in so many parts, so that not every request has to ask; some may be refused early
    by what other processes have drawn and not used. 0: one by one.
    """

    name: str
    limit: str
    window_s: int
    said: str = "too many requests from this address"
    lots: int = 0

    def count(self, request: HttpRequest, by: int = 1) -> None:
        """Count a request of this client as so many. Raises TooMany where nothing was left of their share."""
        self.count_for(client_key(request), by)

    def count_for(self, who: str, by: int = 1) -> None:
        """Count one of theirs, bad ones like good ones; `who` names them in a file's name. Raises TooMany."""
        window, passed = divmod(int(clock()), self.window_s)
        drawn_in, left = _drawn.get((self.name, who), (window, 0))
        if drawn_in != window or not left:
            left = self._draw(who, window, by)
        if not left:
            raise TooMany(self.said, self.window_s - passed)
        if self.lots:
            _drawn[self.name, who] = window, left - 1

    def _draw(self, who: str, window: int, by: int) -> int:
        """How many this process may let through before it asks again; 0: they had their share of this window."""
        limit: int = getattr(settings, self.limit)
        wanted = max(1, limit // self.lots) if self.lots else by
        if _breaker.is_open:
            return wanted
        try:
            before = _counted(self.name, window, who, self.window_s, wanted) - wanted
        except (RedisError, OSError) as error:
            _breaker.trip()
            log.warning("%s are not counted for %s s: %s", self.name, _breaker.rest_s, error)
            return wanted
        return max(0, min(wanted, limit - before))


DIAGNOSES = Pace("diagnoses", "DIAGNOSES_PER_MINUTE", 60)  # texts that are read: on the page, by the API, to be added


def parts_of(text: str) -> int:
    """As how many a text counts: reading a long one is more work."""
    return 1 + len(text) // _PART_CHARS


def client_key(request: HttpRequest) -> str:
    """Stands for the client; who reads the counts learns no address."""
    digest = salted_hmac("stackviz.web.rate_limit", client_of(request), algorithm="sha256").hexdigest()
    return str(digest)[:_KEY_CHARS]


def client_of(request: HttpRequest) -> str:
    """The network address that asks, as the outermost of our own PROXIES saw it. An IPv6 one stands for its network."""
    direct = request.META.get("REMOTE_ADDR", "")
    seen = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    told = seen[-settings.PROXIES :][0] if settings.PROXIES and seen else direct
    try:
        address = ipaddress.ip_address(_without_port(told))
    except ValueError:
        return str(direct)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _SITE_OF_IPV6), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def _without_port(told: str) -> str:
    """Some proxies write `203.0.113.9:1234` and `[2001:db8::1]:1234`."""
    if told.startswith("["):
        return told[1:].partition("]")[0]
    return told.partition(":")[0] if told.count(":") == 1 else told


def _counted(name: str, window: int, who: str, window_s: int, by: int) -> int:
    """How many there were in this window, these included."""
    if not settings.REDIS_URL:
        return _counted_in_files(settings.VAR_DIR / "pace" / name, str(window), who, by)
    counter = f"pace:{name}:{window}:{who}"
    try:
        return cache.incr(counter, by)
    except ValueError:  # Django's word for: no such counter yet
        # Another process may be first here too: `add` tells, and then there is a counter to increment.
        return by if cache.add(counter, by, timeout=2 * window_s) else cache.incr(counter, by)


def _counted_in_files(folder: Path, window: str, who: str, by: int) -> int:
    """One byte appended for each: the file's length is the count, and appending is never torn between processes."""
    here = folder / window
    if not here.is_dir():
        here.mkdir(parents=True, exist_ok=True)
        for older in folder.iterdir():
            if older.name.isdecimal() and int(older.name) < int(window) - 1:  # the last may still be written to
                shutil.rmtree(older, ignore_errors=True)
    descriptor = os.open(here / who, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b"." * by)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
