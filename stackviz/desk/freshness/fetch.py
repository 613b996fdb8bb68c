"""One request to somebody else's server: bounded in time, size and redirects, and never into this site's own network.

Why urllib with a watchdog: a limit for the whole request, not for each silence (`agent/watchdog.py`).
"""

import hashlib
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from django.conf import settings
from django.core.cache import cache

from stackviz.base.watchdog import Watchdog, watched_handlers
from stackviz.web.http.outside import NotPublic, connect_outside

ROBOT = "accelweb-watch"  # as robots.txt may call it
WITHIN_S = 20  # the whole of one address, redirects included
SILENCE_S = 8
MOST_BYTES = 16 * 1024 * 1024
MOST_REDIRECTS = 5
REDIRECTS = frozenset(map(int, (301, 302, 303, 307, 308)))
LASTING = frozenset(map(int, (301, 308)))  # redirects that say the address has changed for good
_SCHEMES = ("http", "https")


class FetchError(Exception):
    """No answer that can be read; the text says why. `is_offline`: no connection was made, to that host at least."""

    def __init__(self, problem: str, *, is_offline: bool = False) -> None:
        super().__init__(problem)
        self.is_offline = is_offline


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered. `url`: where the redirects ended. `headers` in lower case; `body` is empty for HEAD.

    `moved_to`: where it is now for good, as all redirects say; "" otherwise.
    """

    status: int
    url: str
    moved_to: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_ok(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def fetch(url: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
    """The answer of `url` after at most MOST_REDIRECTS redirects. Raises FetchError."""
    if not _is_web_address(url):  # urllib also opens files, and FTP without looking where it leads
        raise FetchError("no web address")
    moved_to, is_lasting, headers = "", True, dict(headers or {})
    with _OutsideOnly(WITHIN_S) as watchdog:
        for _hop in range(MOST_REDIRECTS + 1):
            answer = _request(url, method, headers, watchdog)
            if answer.status not in REDIRECTS:
                return Answer(
                    status=answer.status, url=url, moved_to=moved_to, headers=answer.headers, body=answer.body
                )
            is_lasting = is_lasting and answer.status in LASTING
            origin, url = _origin(url), _next_address(url, answer)
            if _origin(url) != origin:
                headers.pop("Authorization", None)  # a token is for the server it was sent to
            moved_to = url if is_lasting else ""
    raise FetchError(f"more than {MOST_REDIRECTS} redirects")


def user_agent() -> str:
    """Who asks: a server's owner can read what this is, and forbid it by name in robots.txt."""
    contact = f" (+{settings.WATCH_CONTACT})" if settings.WATCH_CONTACT else ""
    return f"{ROBOT}/1{contact}"


class _OutsideOnly(Watchdog):
    def connect(self, *arguments: Any, **named: Any) -> socket.socket:  # noqa: ANN401 - socket.create_connection's own
        if settings.WATCH_PRIVATE_NETWORK:
            return super().connect(*arguments, **named)
        return connect_outside(super().connect, *arguments, **named)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:  # noqa: ANN401 - urllib's own
        return None


def _request(url: str, method: str, headers: Mapping[str, str], watchdog: Watchdog) -> Answer:
    opener = urllib.request.build_opener(*watched_handlers(watchdog), _NoRedirect())
    request = urllib.request.Request(url, method=method, headers={"User-Agent": user_agent(), **headers})  # noqa: S310 - http alone, see fetch
    try:
        with opener.open(request, timeout=SILENCE_S) as response:
            return Answer(status=response.status, url=url, headers=_lower(response.headers), body=_body(response))
    except urllib.error.HTTPError as error:  # 304, 404, 500, and redirects, which are not followed here
        with error:
            return Answer(status=error.code, url=url, headers=_lower(error.headers))
    except FetchError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        raise _explain(error, watchdog) from error


def _body(response: Any) -> bytes:  # noqa: ANN401 - whatever urllib opened
    """The whole body. urllib hands out what has come when a connection ends too early, without a word."""
    body: bytes = response.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise FetchError(f"more than {MOST_BYTES // 2**20} MiB")
    if response.length:  # bytes that were announced and did not come
        raise ConnectionResetError
    return body


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _next_address(url: str, answer: Answer) -> str:
    location = answer.headers.get("location", "")
    try:
        target = urljoin(url, location)
    except ValueError:
        target = ""
    if not location or not _is_web_address(target):
        raise FetchError(f"a redirect ({answer.status}) that leads to no web address")
    return target


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and parts.username is None
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _explain(error: Exception, watchdog: Watchdog) -> FetchError:
    """The problem in words of ours: an exception's text may repeat what a server sent."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, NotPublic):
        return FetchError("the address is in a private network")
    if watchdog.has_ended_it or isinstance(reason, TimeoutError):
        return FetchError(f"no whole answer within {WITHIN_S} s")
    if isinstance(reason, socket.gaierror):
        return FetchError("the host name is not known", is_offline=True)
    if isinstance(reason, ConnectionResetError):
        return FetchError("the connection was cut off")
    if isinstance(reason, OSError) and "CERTIFICATE_VERIFY_FAILED" in str(reason):
        return FetchError("the certificate is not valid")
    if isinstance(reason, OSError) and not isinstance(reason, HTTPException):
        return FetchError("no connection", is_offline=True)
    return FetchError("an invalid HTTP response")


_CACHE_S = 86_400
_MOST_CHARS = 200_000
_NOBODY = "User-agent: *\nDisallow: /"


def is_allowed(url: str) -> bool:
    """Whether a robot of our name may read this address; without a robots.txt everything may be read.

    A server whose rules cannot be had (5xx) or not be read is left alone; of the first RFC 9309 says so. Raises
    FetchError without an answer.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    key = f"robots-{hashlib.blake2b(origin.encode(), digest_size=16).hexdigest()}"
    rules = cache.get(key)
    if rules is None:
        rules = _read_rules(origin)
        cache.set(key, rules, _CACHE_S)
    parser = RobotFileParser()
    try:
        parser.parse(rules.splitlines())
        return parser.can_fetch(ROBOT, url)
    except ValueError:  # the parser reads numbers and addresses that are none
        return False


def _read_rules(origin: str) -> str:
    answer = fetch(f"{origin}/robots.txt")
    if answer.is_ok:
        return answer.body[:_MOST_CHARS].decode("utf-8", errors="replace")
    return _NOBODY if answer.status >= 500 else ""
