"""Log filter that removes the secrets of private links, and of links to a new password: they are part of addresses.

Imports the standard library only: gunicorn.conf.py uses it too.
"""

import logging
import re

_LINK = re.compile(r"(/diagnos(?:e|is)/|/password/[A-Za-z0-9_-]{1,40}/)[A-Za-z0-9_-]{20,}")


def without_links(text: str) -> str:
    """`GET /diagnose/W2dmNrRVxtcW.../` -> `GET /diagnose/…/`."""
    return _LINK.sub(r"\1…", text)


class WithoutLinks(logging.Filter):
    """Removes the secrets of private links from every log line."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        cleaned = without_links(message)
        if cleaned != message:
            record.msg, record.args = cleaned, ()
        return True
