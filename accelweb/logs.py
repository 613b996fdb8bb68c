"""How log lines look: a line of text or of JSON, each with the id of its request, and without secrets.

gunicorn.conf.py uses it too, before Django is set up.
"""

import json
import logging
import re
from datetime import UTC, datetime

from stackviz.web.http.request_ids import current_request_id

TEXT_FORMAT = "{asctime} {levelname} {name}: {message}"
_LINK = re.compile(  # `%2F`: in the address that a login leads back to
    r"((?:/|%2F)(?:diagnos(?:e|is)|corrections|labs(?:/|%2F)mails|password(?:/|%2F)[A-Za-z0-9_-]{1,40})(?:/|%2F))"
    r"[A-Za-z0-9_:-]{20,}",
    re.IGNORECASE,
)
_SECRETS = (
    (re.compile(r"(aw_[a-z0-9]{8}_)[A-Za-z0-9_-]{8,}"), r"\1…"),  # an agent key; its prefix says which
    (re.compile(r"([?&]t=)[A-Za-z0-9_:-]{16,}"), r"\1…"),  # the signature of a receipt
    (re.compile(r"(\bBearer\s+)(?!aw_)[^\s'\",]{8,}", re.IGNORECASE), r"\1…"),
    (re.compile(r"(://[^\s/@:]{0,100}:)[^\s/@]{1,200}@"), r"\1…@"),  # the password of a database or a broker
)


def without_links(text: str) -> str:
    """`GET /diagnose/W2dmNrRVxtcW.../` -> `GET /diagnose/…/`."""
    return _LINK.sub(r"\1…", text)


def clean_line(text: str) -> str:
    """The text without words of private links, keys, signatures, tokens and passwords in addresses."""
    text = without_links(text)
    for secret, stand_in in _SECRETS:
        text = secret.sub(stand_in, text)
    return text


def request_id_of(record: logging.LogRecord) -> str:
    """Of the request the line is about; "" if there is none."""
    return current_request_id() or str(getattr(getattr(record, "request", None), "request_id", ""))


class TextLogLines(logging.Formatter):
    """`2026-11-27 16:04:01,123 WARNING django.request: Not Found: /x/ request=5f0c...`"""

    def __init__(self) -> None:
        super().__init__(TEXT_FORMAT, style="{")

    def format(self, record: logging.LogRecord) -> str:
        request_id = request_id_of(record)
        return clean_line(super().format(record)) + (f" request={request_id}" if request_id else "")


class JsonLogLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, message; request and exception where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": clean_line(record.getMessage()),
        }
        if request_id := request_id_of(record):
            line["request"] = request_id
        if record.exc_info:
            line["exception"] = clean_line(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


FORMATTERS = {"text": TextLogLines, "json": JsonLogLines}
