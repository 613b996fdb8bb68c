"""A report's body, packed or plain: undone within bounds, whatever it claims."""

import zlib

from stackviz.wire import LIMITS, ReportError, ReportTooLarge

GZIP = "gzip"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's way to say: expect a gzip header and check sum
_PATH = "body"


def unpack(body: bytes, encoding: str) -> bytes:
    """The JSON bytes of a body kept as sent. Never holds more than LIMITS.body_bytes and a little of it.

    Raises ReportTooLarge; ReportError for what is not one whole gzip member.
    """
    if encoding != GZIP:
        return body
    unpacking = zlib.decompressobj(_GZIP_WINDOW)
    try:
        # One byte more than allowed is asked for, so that a bomb stops here and not when memory ends.
        plain = unpacking.decompress(body, LIMITS.body_bytes + 1)
    except zlib.error:
        raise ReportError(_PATH, "is not gzip, though Content-Encoding says so") from None
    if len(plain) > LIMITS.body_bytes:
        raise ReportTooLarge(_PATH, f"inflates to more than {LIMITS.body_bytes} bytes")
    if not unpacking.eof:
        raise ReportError(_PATH, "is cut off: the gzip stream does not end")
    if unpacking.unused_data:
        raise ReportError(_PATH, f"has {len(unpacking.unused_data)} bytes after the end of the gzip stream")
    return plain
