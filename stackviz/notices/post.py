"""One POST to an address that somebody typed: bounded in time and bytes, never into this site's own network.

The name is resolved once, every address it leads to must be public, and the connection goes to one of these: a name
that answers otherwise a moment later leads nowhere. No redirect is followed, no proxy of the environment is used.
"""

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from stackviz.agent.watchdog import Watchdog

WITHIN_S = 15  # the whole of one request
SILENCE_S = 8
MOST_BYTES = 64 * 1024  # of the answer, which is read and thrown away
TRIED = 3  # addresses of a name
URL_CHARS = 500
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last four bytes are an IPv4 address

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


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


def is_public(address: IPAddress) -> bool:
    """Whether a packet to it leaves for the internet, also through what carries IPv4 inside IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.teredo is not None:
            return False
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and address in _TRANSLATED:
            carried = ipaddress.IPv4Address(address.packed[-4:])
        if carried is not None:
            return is_public(carried)
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    )


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
    """Resolves a name itself, and connects to the addresses that were looked at."""

    def connect(self, address: tuple[str, int], *arguments: Any, **named: Any) -> socket.socket:  # noqa: ANN401
        host, port = address
        problem: OSError = socket.gaierror()
        for public in list(_addresses(host, port))[:TRIED]:
            if self.has_ended_it:
                raise TimeoutError
            try:
                return super().connect((public, port), *arguments, **named)
            except OSError as error:
                problem = error
        raise problem


def _addresses(host: str, port: int) -> Iterator[str]:
    """Those of a name. Raises _NotPublic if one of them is not public: then none is trusted."""
    for _family, _type, _proto, _name, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(where[0]).partition("%")[0])
        if not is_public(address) and not (settings.WEBHOOKS_TO_LOOPBACK and address.is_loopback):
            raise _NotPublic
        yield str(address)


class _NotPublic(OSError):
    pass


def _problem(error: Exception, watchdog: Watchdog) -> str:
    """In words of ours: an exception's text may repeat what a server sent."""
    if isinstance(error, _NotPublic):
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
