"""Decompression of a report's body within fixed limits."""

import zlib

from stackviz.wire import LIMITS, ReportError, ReportTooLarge

GZIP = "gzip"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's flag for a gzip header and checksum
_PATH = "body"


def unpack(body: bytes, encoding: str) -> bytes:
    """The JSON bytes of a stored body. Never allocates much more than LIMITS.body_bytes.

    Raises ReportTooLarge, and ReportError for anything but one complete gzip member.
    """
    if encoding != GZIP:
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
