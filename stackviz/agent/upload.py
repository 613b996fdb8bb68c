"""Sending reports: retry what may pass until a deadline, never what cannot, and never the key to a stranger.

The contract: 2xx stored; 401 and 403 fix the key; 409, 413, 422 never; 429 and 5xx come back later (docs/ingest.md).
Only a JSON object is an answer of the site: a proxy on the way refuses with HTML: neither the key nor final.
Redirects are not followed: a POST that is redirected loses its body or takes its key to another host. A site's answer
is untrusted: our key and all control characters are removed before it is shown or stored.
"""

import gzip
import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from stackviz.agent import AGENT_NAME, __version__
from stackviz.base.backports import UTC
from stackviz.base.watchdog import Watchdog, watched_handlers
from stackviz.report.format import Report

__all__ = [
    "Clock",
    "Delivery",
    "Server",
    "ServerAnswer",
    "ServerError",
    "UploadOutcome",
    "answer_text",
    "deliver",
    "stamped",
]

REPORTS_PATH = "/api/v1/reports/"
KEY_PATH = "/api/v1/key/"
HEARTBEAT_PATH = "/api/v1/heartbeat/"
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_MOST_ANSWER_BYTES = 64 * 1024
_GZIP_FROM_BYTES = 1024
_NEVER = frozenset({400, 409, 413, 415, 422})
_LATER = frozenset({408, 425, 429})

_ANY_WAY_OUT = "it is no accelweb site, or a proxy does not let the report through"
_WAYS_OUT = {
    407: "the proxy wants a login; put it into HTTPS_PROXY (http://name:password@host:port)",
    413: "it does not let a report of this size through; ask whoever runs the site's web server for 4 MiB",
}


class ServerError(ValueError):
    """--server or --key cannot be used; the text says why."""


class UploadOutcome(Enum):
    DELIVERED = "delivered"
    REJECTED = "rejected"  # the site will never take this one
    KEY_REFUSED = "key refused"
    WRONG_SERVER = "wrong server"
    NOT_IN_TIME = "not in time"


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How sending one report ended. `was_new` is False if the site had it already."""

    outcome: UploadOutcome
    status: int | None = None
    text: str = ""
    status_url: str | None = None
    receipt_url: str | None = None
    was_new: bool = False
    attempts: int = 0


@dataclass(frozen=True)
class ServerAnswer:
    """One HTTP answer, or none: then `status` is None and `text` says what happened instead."""

    status: int | None
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_final: bool = False  # no answer, and asking again cannot help
    is_cut_off: bool = False  # a site that dies while it answers

    @property
    def stopped_halfway(self) -> bool:
        """An acceptance that broke off: its outcome is unknown. For a refusal the status is enough."""
        return self.is_cut_off and self.status is not None and 200 <= self.status < 300


_NOT_IN_TIME = ServerAnswer(None, "the site did not answer in time")


@dataclass(frozen=True)
class Clock:
    """The clock for retries; tests pass in another one."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


class Server:
    """An accelweb site and the key for it. The key is in no repr, text or error of this class."""

    def __init__(self, url: str, key: str, timeout_s: float = 30.0) -> None:
        parts = _parts(url)
        if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ServerError("--server must be an address like https://accelweb.example.org")
        if not url.isascii():
            raise ServerError("--server must be written in ASCII: a name in other letters as xn--..., a path as %..")
        if parts.username or parts.password:
            raise ServerError("--server must not contain a user name or password")
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ServerError("the key is empty or contains characters that keys do not have")
        self.url = urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self.is_plain = parts.scheme == "http" and not _is_this_machine(parts.hostname)
        self._key = key
        self._timeout_s = timeout_s
        self._host = parts.hostname

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def absolute(self, path: object) -> str | None:
        """An address the site answered with, whole; None if it is not one of this site's."""
        if not isinstance(path, str) or not path or self.clean(path) != path:
            return None
        try:
            whole = urllib.parse.urljoin(f"{self.url}/", path)
        except ValueError:
            return None
        parts = _parts(whole)
        is_here = parts is not None and parts.scheme in {"http", "https"} and parts.hostname == self._host
        return whole if is_here else None

    def post(self, body: bytes, within_s: float = 0.0) -> ServerAnswer:
        """Send one body once. `timeout_s` bounds each silence of the site; the whole takes no longer than `within_s`,
        or `timeout_s` where that is more."""
        headers = {**self._headers(), "Content-Type": "application/json"}
        if len(body) >= _GZIP_FROM_BYTES:
            body = gzip.compress(body, compresslevel=6, mtime=0)
            headers["Content-Encoding"] = "gzip"
        request = urllib.request.Request(self.url + REPORTS_PATH, body, headers, method="POST")  # noqa: S310 - checked
        with Watchdog(max(within_s, self._timeout_s)) as watchdog:
            return self._ask(request, watchdog)

    def get_key(self) -> ServerAnswer:
        """What the site says of our key, asked once."""
        request = urllib.request.Request(self.url + KEY_PATH, headers=self._headers(), method="GET")  # noqa: S310 - checked
        with Watchdog(self._timeout_s) as watchdog:
            return self._ask(request, watchdog)

    def post_heartbeat(self, body: bytes) -> ServerAnswer:
        """Send a sign of life, once: the next one comes soon enough."""
        headers = {**self._headers(), "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + HEARTBEAT_PATH, body, headers, method="POST")  # noqa: S310 - checked
        with Watchdog(self._timeout_s) as watchdog:
            return self._ask(request, watchdog)

    def _headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._key}",
            "Accept": "application/json",
            "User-Agent": f"{AGENT_NAME}/{__version__}",
        }

    def _ask(self, request: urllib.request.Request, watchdog: Watchdog) -> ServerAnswer:
        try:
            with _opener(self._host, watchdog).open(request, timeout=self._timeout_s) as answered:
                return self._answer(answered, watchdog)
        except urllib.error.HTTPError as error:
            with error:
                return self._answer(error, watchdog)
        except (OSError, http.client.HTTPException) as error:
            if watchdog.has_ended_it:
                return _NOT_IN_TIME
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            is_final = isinstance(reason, ssl.SSLCertVerificationError) or _speaks_http(reason)
            return ServerAnswer(None, self.clean(_network_problem(reason)), is_final=is_final)

    def _answer(self, answered: Any, watchdog: Watchdog) -> ServerAnswer:  # noqa: ANN401 - an answer or an HTTPError
        if watchdog.has_ended_it:  # then the headers are cut off, and look whole
            return _NOT_IN_TIME
        headers = {name.lower(): self.clean(value) for name, value in answered.headers.items()}
        body, is_broken = _read(answered, self._timeout_s)
        return ServerAnswer(
            int(answered.status),
            self.clean(body.decode("utf-8", "replace")),
            headers,
            is_cut_off=is_broken or _is_cut_off(body, headers.get("content-length", "")),
        )

    def clean(self, text: str) -> str:
        """A site's text without our key and without terminal control characters."""
        shown = "".join(character if character.isprintable() else " " for character in text)
        return shown.replace(self._key, "<key>")


def deliver(
    server: Server,
    report: Report,
    body: bytes,
    deadline: float,
    clock: Clock | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Delivery:
    """Send one report, again and again until `deadline` (of clock.monotonic) if need be; at least once."""
    clock = clock or Clock()
    attempts = 0
    while True:
        answer = server.post(stamped(body, clock.now()), deadline - clock.monotonic())
        attempts += 1
        delivery = _judge(server, report, answer, attempts)
        if delivery.outcome is not UploadOutcome.NOT_IN_TIME:
            return delivery
        wait_s = _wait_s(answer, attempts, clock)
        if clock.monotonic() + wait_s >= deadline:
            return delivery
        say(f"{answer_text(server, answer)}; trying again in {wait_s:.0f} s")
        clock.sleep(wait_s)


def _judge(server: Server, report: Report, answer: ServerAnswer, attempts: int) -> Delivery:
    status = answer.status
    described = answer_text(server, answer)
    if answer.is_final:
        return Delivery(outcome=UploadOutcome.WRONG_SERVER, status=None, text=answer.text, attempts=attempts)
    if status is None or status in _LATER or status >= 500 or answer.stopped_halfway:
        return Delivery(outcome=UploadOutcome.NOT_IN_TIME, status=status, text=described, attempts=attempts)
    if status >= 400 and not _is_json_object(answer.text):
        way_out = _WAYS_OUT.get(status, _ANY_WAY_OUT)
        between = f"something between this machine and the site answered {status}: {way_out}"
        return Delivery(outcome=UploadOutcome.WRONG_SERVER, status=status, text=between, attempts=attempts)
    if status in {401, 403}:
        return Delivery(outcome=UploadOutcome.KEY_REFUSED, status=status, text=described, attempts=attempts)
    if status in _NEVER:
        return Delivery(outcome=UploadOutcome.REJECTED, status=status, text=answer.text, attempts=attempts)
    document = _json_object(answer.text)
    if 200 <= status < 300 and str(document.get("id", "")).lower() == str(report.id):
        return Delivery(
            outcome=UploadOutcome.DELIVERED,
            status=status,
            status_url=server.absolute(document.get("status_url")),
            receipt_url=server.absolute(document.get("receipt_url")),
            was_new=status != 200,
            attempts=attempts,
        )
    if 300 <= status < 400:
        described = f"it redirects to {answer.headers.get('location', 'nowhere')}: pass the right address as --server"
    elif 200 <= status < 300:  # a login page of a hotel network answers 200 to anything
        described = f"it answered {status}, but not like an accelweb site"
    return Delivery(outcome=UploadOutcome.WRONG_SERVER, status=status, text=described, attempts=attempts)


def answer_text(server: Server, answer: ServerAnswer) -> str:
    """An answer in a sentence, without our key."""
    if answer.status is None:
        return answer.text
    if answer.stopped_halfway:
        return f"the site answered {answer.status}, but the answer broke off"
    document = _json_object(answer.text)
    problem = ": ".join(str(document[name]) for name in ("field", "error", "detail") if document.get(name))
    problem = server.clean(problem)[:500]  # again: JSON can hide anything behind \u escapes
    return f"the site answered {answer.status}" + (f" ({problem})" if problem else "")


def _is_json_object(text: str) -> bool:
    return bool(_json_object(text)) or text.strip() == "{}"


def _json_object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _wait_s(answer: ServerAnswer, attempts: int, clock: Clock) -> float:
    """Seconds to the next attempt: as long as the site requests, otherwise doubling, with jitter."""
    doubling = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(attempts - 1, 16))
    jittered: float = doubling * (0.5 + clock.jitter() / 2)
    retry_after = _retry_after_s(answer.headers.get("retry-after", ""), clock.now())
    return jittered if retry_after is None else retry_after + jittered / 4


def _retry_after_s(header: str, now: float) -> float | None:
    """Retry-After is a number of seconds or a date (RFC 9110, 10.2.3)."""
    header = header.strip()
    if header.isascii() and header.isdigit() and len(header) < 10:
        return float(header)
    try:
        return max(0.0, float(parsedate_to_datetime(header).timestamp()) - now) if header else None
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:  # noqa: ANN401 - urllib's own
        return None


def _parts(url: str) -> urllib.parse.SplitResult | None:
    """The parts of an address, None if it is invalid: the library raises at once for some, on access for others."""
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:
        return None
    return parts


def _opener(host: str, watchdog: Watchdog) -> urllib.request.OpenerDirector:
    """Proxies as the environment says, but none for this very machine."""
    proxies: dict[str, str] | None = {} if _is_this_machine(host) else None
    handlers: list[urllib.request.BaseHandler] = [
        _NoRedirect(),
        urllib.request.ProxyHandler(proxies),
        *watched_handlers(watchdog),
    ]
    return urllib.request.build_opener(*handlers)


def _is_this_machine(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")


def _is_cut_off(body: bytes, announced: str) -> bool:
    """Fewer bytes than announced, or none at all: a header block that ends too early looks whole to http.client."""
    is_number = announced.isascii() and announced.isdigit() and len(announced) < 10
    return not body or (is_number and len(body) < min(int(announced), _MOST_ANSWER_BYTES))


def _read(answered: Any, timeout_s: float) -> tuple[bytes, bool]:  # noqa: ANN401
    """The body's beginning, and whether the connection broke. A site that drips bytes for ever is left at the time
    limit with what came."""
    until = time.monotonic() + timeout_s
    body = b""
    try:
        while len(body) < _MOST_ANSWER_BYTES and time.monotonic() < until:
            piece = answered.read1(8192) if hasattr(answered, "read1") else answered.read(8192)
            if not piece:
                break
            body += piece
    except (OSError, http.client.HTTPException):
        return body, True
    return body, False


def _speaks_http(reason: BaseException | str) -> bool:
    """What OpenSSL says when an HTTP server answers its greeting with text; the second word since OpenSSL 3.2."""
    words = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"}
    return isinstance(reason, ssl.SSLError) and reason.reason in words


def _network_problem(reason: BaseException | str) -> str:
    if isinstance(reason, TimeoutError):
        return _NOT_IN_TIME.text
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"the site's certificate is not accepted: {reason.verify_message}"
    if _speaks_http(reason):
        return "this port speaks http, not https: pass --server http://..., or the port that has https"
    if isinstance(reason, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    return f"the site cannot be reached: {reason or type(reason).__name__}"


def stamped(body: bytes, now: float) -> bytes:
    """The same report with `sent_at`. `body`: as the spool wrote it, a JSON object; one that has the field, or that is
    none, is left as it is. `now`: of time.time().
    """
    if b'"sent_at"' in body or not (body.startswith(b'{"') and body.endswith(b"}")):
        return body
    try:
        time = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):  # a clock beyond the calendar
        return body
    return body[:-1] + b',"sent_at":"' + time.encode() + b'"}'
