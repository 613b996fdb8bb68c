"""What a log must not hold: the word that opens a private link stands in its address, so logs leave it out.

Imports the standard library only: gunicorn.conf.py uses it too.
"""

import logging
import re

_LINK = re.compile(r"(/diagnose/)[A-Za-z0-9_-]{20,}")


def without_links(text: str) -> str:
    """`GET /diagnose/W2dmNrRVxtcW.../` -> `GET /diagnose/…/`."""
    return _LINK.sub(r"\1…", text)


class WithoutLinks(logging.Filter):
    """Takes the words of private links out of every line, whoever writes it."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        told = without_links(message)
        if told != message:
            record.msg, record.args = told, ()
        return True
