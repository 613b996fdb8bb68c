"""The body of an upload, read and unpacked within limits: headers and size are looked at before anything is read."""

import hashlib
import json
import zlib
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, UnreadablePostError
from django.utils import timezone

from stackviz.records.labs.models import Report
from stackviz.report.format import LIMITS, ReportError, ReportTooLarge
from stackviz.web.http.errors import Refusal
from stackviz.web.http.forms import refuse_charset

_ENCODINGS = {
    "": Report.Encoding.PLAIN,
    "identity": Report.Encoding.PLAIN,
    "gzip": Report.Encoding.GZIP,
    "x-gzip": Report.Encoding.GZIP,
}
_PATH = "body"


def read_body(request: HttpRequest) -> tuple[bytes, str]:
    """(the bytes as sent, how they are packed). Raises Refusal, ReportTooLarge, ReportError."""
    _check_type(request)
    encoding = _encoding(request)
    announced = _announced_bytes(request)
    if announced > LIMITS.body_bytes:
        raise ReportTooLarge(_PATH, f"is {announced} bytes, over {LIMITS.body_bytes}")
    try:
        body = request.read(LIMITS.body_bytes + 1)
    except UnreadablePostError:
        raise ReportError(_PATH, "was not received completely") from None
    if len(body) > LIMITS.body_bytes:
        raise ReportTooLarge(_PATH, f"is over {LIMITS.body_bytes} bytes")
    if len(body) < announced:
        raise ReportError(_PATH, f"ended after {len(body)} of {announced} bytes")
    return body, encoding


def _check_type(request: HttpRequest) -> None:
    # No type at all is let through: the body is read as JSON and nothing else, so a guess can do no harm.
    if request.content_type not in ("", "application/json"):
        raise Refusal(415, f"{request.content_type!r} is not supported: send application/json", "Content-Type")
    refuse_charset(request, "JSON is UTF-8")


def _encoding(request: HttpRequest) -> str:
    stated = request.headers.get("Content-Encoding", "").strip().lower()
    try:
        return _ENCODINGS[stated].value
    except KeyError:
        raise Refusal(415, f"{stated!r} is not supported: send gzip, or plain JSON", "Content-Encoding") from None


def _announced_bytes(request: HttpRequest) -> int:
    stated = request.headers.get("Content-Length") or ""
    if not (stated.isascii() and stated.isdecimal()):
        # Django's WSGI reads nothing then, chunked bodies included: better said than taken for an empty report.
        raise ReportError(_PATH, "is missing or has no length: send it with Content-Length, not chunked")
    return int(stated)


_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's flag for a gzip header and checksum


def unpack(body: bytes, encoding: str) -> bytes:
    """The JSON bytes of a stored body. Never allocates much more than LIMITS.body_bytes.

    Raises ReportTooLarge, and ReportError for anything but one complete gzip member.
    """
    if encoding != Report.Encoding.GZIP.value:
        return body
    unpacking = zlib.decompressobj(_GZIP_WINDOW)
    try:
        # One byte more than allowed detects a decompression bomb before memory runs out.
        plain = unpacking.decompress(body, LIMITS.body_bytes + 1)
    except zlib.error:
        raise ReportError(_PATH, "is not gzip, though Content-Encoding says so") from None
    if len(plain) > LIMITS.body_bytes:
        raise ReportTooLarge(_PATH, f"inflates to more than {LIMITS.body_bytes} bytes")
    if not unpacking.eof:
        raise ReportError(_PATH, "is truncated: the gzip stream does not end")
    if unpacking.unused_data:
        raise ReportError(_PATH, f"has {len(unpacking.unused_data)} bytes after the end of the gzip stream")
    return plain


def canonical_body(body: bytes, encoding: str) -> str:
    """The JSON of a stored body, however it was spaced, ordered and compressed. 1, 1.0 and true are three things.

    Without `sent_at`: an agent that sends a report again states when it does, and it is the same report.
    """
    document = json.loads(unpack(body, encoding))
    document.pop("sent_at", None)
    return json.dumps(document, sort_keys=True)


def content_digest(body: bytes, encoding: str) -> str:
    """SHA-256 of the canonical JSON: what is left of a body that is no longer stored, to recognise it by."""
    return hashlib.sha256(canonical_body(body, encoding).encode()).hexdigest()


# --- bodies that are old ---

BODIES_TOGETHER = 50  # held in memory at once, each of 4 MiB at most, and dropped in one transaction


def drop_old_bodies() -> int:
    """Drop the bodies of reports that arrived over RAW_REPORT_DAYS ago -> how many. Safe to run at any time."""
    if not settings.RAW_REPORT_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.RAW_REPORT_DAYS)
    dropped = 0
    since: tuple[datetime, UUID] | None = None
    while old := _old_reports(since, before):
        dropped += _drop(old)
        since = old[-1].received_at, old[-1].pk
    return dropped


def old_bodies(before: datetime) -> QuerySet[Report]:
    """The reports that arrived before this moment and whose bodies may go."""
    return Report.objects.filter(status=Report.Status.READ, content_digest__isnull=True, received_at__lt=before)


def _old_reports(since: tuple[datetime, UUID] | None, before: datetime) -> list[Report]:
    """The next reports with a body, in the order of their arrival: one pass over the index for a whole run."""
    due = old_bodies(before)
    if since is not None:
        due = due.filter(received_at__gte=since[0]).exclude(received_at=since[0], pk__lte=since[1])
    return list(due.only("body", "encoding", "received_at").order_by("received_at", "pk")[:BODIES_TOGETHER])


@transaction.atomic
def _drop(reports: list[Report]) -> int:
    """A report that is to be read again since we looked keeps its body."""
    return sum(
        Report.objects.filter(pk=report.pk, status=Report.Status.READ, content_digest__isnull=True).update(
            body=b"", content_digest=content_digest(bytes(report.body), report.encoding)
        )
        for report in sorted(reports, key=lambda report: report.pk)
    )
