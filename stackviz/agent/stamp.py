"""The time of an attempt to send, put into the bytes of a stored report: the site learns what this clock is off by."""

from datetime import datetime

from stackviz.base.backports import UTC

__all__ = ["stamped"]


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
