"""Rate limits per client or key, counted across all processes in Redis or in files. No address is stored.

When the counts cannot be stored every request passes: better a busy site than a closed one. Why this is not a library:
docs/decisions/0007.
"""

import ipaddress
import logging
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from stackviz.web.http.circuit_breaker import Breaker
from stackviz.web.metrics import count_rate_limited

log = logging.getLogger(__name__)
clock: Callable[[], float] = time.time
_breaker = Breaker(rest_s=15)
_batches: dict[tuple[str, str], tuple[int, int]] = {}  # name, key -> window, requests left of this process's batch
_CHARS_A_REQUEST = 64 * 1024


class RateLimited(Exception):
    """The client has used up its requests of this window; `retry_after_s` is when the next one begins."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(f"{message}; wait {retry_after_s} s")
        self.retry_after_s = retry_after_s


Answer = TypeVar("Answer", bound=HttpResponse)


def ask_to_wait(answer: Answer, limited: RateLimited) -> Answer:
    """The answer as one that refuses for now: 429, and when to ask again."""
    answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
    answer.headers["Retry-After"] = str(limited.retry_after_s)
    return answer


def too_many(limited: RateLimited) -> HttpResponse:
    """The same for what is no page: a line of text."""
    return ask_to_wait(HttpResponse(f"{limited}\n", content_type="text/plain; charset=utf-8"), limited)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `settings.<limit>` requests in each window of `window_s` seconds, for each client or other key.

    `batches`: a process reserves the limit in so many batches, so that not every request needs a round trip; a request
    may be refused early because other processes have reserved and not used theirs. 0: each request is counted alone.
    """

    name: str
    limit: str
    window_s: int
    message: str = "too many requests from this address"
    batches: int = 0

    def count(self, request: HttpRequest, by: int = 1) -> None:
        """Count a request of this client as `by` requests. Raises RateLimited."""
        self.count_for(client_key(request), by)

    def count_for(self, key: str, by: int = 1) -> None:
        """Count a request, refused later or not; `key` becomes the name of a file. Raises RateLimited."""
        window, elapsed_s = divmod(int(clock()), self.window_s)
        batch_window, left = _batches.get((self.name, key), (window, 0))
        if batch_window != window or not left:
            left = self._reserve(key, window, by)
        if not left:
            count_rate_limited(self.name)
            raise RateLimited(self.message, self.window_s - elapsed_s)
        if self.batches:
            _batches[self.name, key] = window, left - 1

    def add(self, request: HttpRequest, by: int) -> None:
        """Count `by` more requests for one that was let through: refused are only those that come after it."""
        try:
            self.count(request, by)
        except RateLimited as limited:
            log.info("a client has used up %s with one request: %s", self.name, limited)

    def _reserve(self, key: str, window: int, by: int) -> int:
        """How many requests this process may let through before it asks again; 0 when the limit is reached."""
        limit: int = getattr(settings, self.limit)
        batch_size = max(1, limit // self.batches) if self.batches else by
        if _breaker.is_open:
            return batch_size
        try:
            before = _increment(self.name, window, key, self.window_s, batch_size) - batch_size
        except (RedisError, OSError) as error:
            _breaker.trip()
            log.warning("rate limit for %s disabled for %s s: %s", self.name, _breaker.rest_s, error)
            return batch_size
        return max(0, min(batch_size, limit - before))


DIAGNOSES = RateLimit(
    "diagnoses", "DIAGNOSES_PER_MINUTE", 60
)  # texts that are read: on the page, by the API, to be added


def text_cost(text: str) -> int:
    """As how many requests a text counts: reading a long one is more work."""
    return 1 + len(text) // _CHARS_A_REQUEST


def _increment(name: str, window: int, key: str, window_s: int, by: int) -> int:
    """The count of this window after adding `by`."""
    if not settings.REDIS_URL:
        return _increment_file(settings.VAR_DIR / "pace" / name, str(window), key, by)
    counter = f"pace:{name}:{window}:{key}"
    try:
        return cache.incr(counter, by)
    except ValueError:  # Django raises it when there is no such counter yet
        # Another process may be first here too: then `add` is False, and there is a counter to increment.
        return by if cache.add(counter, by, timeout=2 * window_s) else cache.incr(counter, by)


def _increment_file(folder: Path, window: str, key: str, by: int) -> int:
    """One byte appended for each: the file's length is the count, and appending is never torn between processes."""
    window_folder = folder / window
    if not window_folder.is_dir():
        window_folder.mkdir(parents=True, exist_ok=True)
        for older in folder.iterdir():
            if older.name.isdecimal() and int(older.name) < int(window) - 1:  # the last may still be written to
                shutil.rmtree(older, ignore_errors=True)
    descriptor = os.open(window_folder / key, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b"." * by)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


_KEY_CHARS = 32
_IPV6_NETWORK_BITS = 64  # a household has all the addresses behind them


def client_key(request: HttpRequest) -> str:
    """Return 32 hex digits for the client's address, from which the address cannot be read."""
    digest = salted_hmac("stackviz.web.rate_limit", client_address(request), algorithm="sha256").hexdigest()
    return str(digest)[:_KEY_CHARS]


def client_address(request: HttpRequest) -> str:
    """The address the outermost of our own PROXIES saw; of an IPv6 address its /64 network."""
    direct = request.META.get("REMOTE_ADDR", "")
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    reported = forwarded[-settings.PROXIES :][0] if settings.PROXIES and forwarded else direct
    try:
        address = ipaddress.ip_address(_without_port(reported))
    except ValueError:
        return str(direct)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _IPV6_NETWORK_BITS), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def _without_port(text: str) -> str:
    """Some proxies write `203.0.113.9:1234` and `[2001:db8::1]:1234`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
