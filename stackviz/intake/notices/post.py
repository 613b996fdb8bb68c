"""One POST to an address that somebody typed: bounded in time and bytes, never into this site's own network.

No redirect is followed, no proxy of the environment is used.
"""

import http.client
import socket
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from stackviz.base.watchdog import Watchdog
from stackviz.web.http.outside import NotPublic, connect_outside

WITHIN_S = 15  # the whole of one request
SILENCE_S = 8
MOST_BYTES = 64 * 1024  # of the answer, which is read and thrown away
URL_CHARS = 500


class PostFailed(Exception):
    """The other end did not accept it; the text says why, in words of ours. `status`: of its answer, if one came."""

    def __init__(self, problem: str, status: int | None = None) -> None:
        super().__init__(problem)
        self.status = status


class AddressRefused(ValueError):
    """An address that nothing is sent to; the text says why."""


def checked_address(url: str) -> SplitResult:
    """The parts of an address that something may be sent to. Raises AddressRefused. Asks no network."""
    if len(url) > URL_CHARS or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise AddressRefused("no web address")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("no web address") from None
    is_plain = parts.scheme == "http" and settings.WEBHOOKS_TO_LOOPBACK
    if parts.scheme != "https" and not is_plain:
        raise AddressRefused("only https")
    if not parts.hostname or port == 0:
        raise AddressRefused("no web address")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused("no name, password or fragment in the address")
    return parts


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send it -> the status of the answer, 200 to 299. Raises PostFailed."""
    try:
        parts = checked_address(url)
    except AddressRefused as refused:
        raise PostFailed(str(refused)) from None
    with _PublicOnly(WITHIN_S) as watchdog:
        try:
            status = _exchange(parts, body, headers, watchdog)
        except PostFailed:
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise PostFailed(_problem(error, watchdog)) from error
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise PostFailed(f"it answered {status}", status)
    return status


def _exchange(parts: SplitResult, body: bytes, headers: Mapping[str, str], watchdog: Watchdog) -> int:
    host = parts.hostname or ""
    connection: http.client.HTTPConnection  # with a port: it takes the end of an IPv6 address for one
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, parts.port or 443, timeout=SILENCE_S, context=context)
    else:
        connection = http.client.HTTPConnection(host, parts.port or 80, timeout=SILENCE_S)
    connection._create_connection = watchdog.connect  # type: ignore[attr-defined]  # noqa: SLF001 - the only seam
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", target, body, {"Connection": "close", **headers})
        answer = connection.getresponse()
        if len(answer.read(MOST_BYTES + 1)) > MOST_BYTES:
            raise PostFailed(f"an answer of more than {MOST_BYTES // 1024} KiB", answer.status)
        return answer.status
    finally:
        connection.close()


class _PublicOnly(Watchdog):
    def connect(self, *arguments: Any, **named: Any) -> socket.socket:  # noqa: ANN401 - socket.create_connection's own
        return connect_outside(super().connect, *arguments, or_loopback=settings.WEBHOOKS_TO_LOOPBACK, **named)


def _problem(error: Exception, watchdog: Watchdog) -> str:
    """In words of ours: an exception's text may repeat what a server sent."""
    if isinstance(error, NotPublic):
        return "the address is in a private network"
    if watchdog.has_ended_it or isinstance(error, TimeoutError):
        return f"no whole answer within {WITHIN_S} s"
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "the host name is not known"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "the certificate is not valid"
    if isinstance(error, ssl.SSLError):
        return "no TLS connection"
    if isinstance(error, ConnectionRefusedError):
        return "no connection"
    if isinstance(error, OSError) and not isinstance(error, http.client.HTTPException):
        return "the connection was cut off"
    return "an invalid HTTP response"
