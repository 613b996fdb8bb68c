"""The id of the request that is being answered: from the proxy or made here; in every log line, carried to tasks.

`X-Request-ID` is taken over where it is at most 64 letters, digits, dots, dashes and underscores; else a new one is
made. Standard library only: gunicorn.conf.py uses it before Django is set up.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_CARRIED = 5  # ids of requests that one message to a worker names
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_current: ContextVar[str] = ContextVar("request id", default="")


def current_request_id() -> str:
    """Of the request that is being answered or, in a task, of the requests it is for; "" outside of any."""
    return _current.get()


def is_request_id(text: str) -> bool:
    return _VALID.fullmatch(text) is not None


@contextmanager
def request_id_set(text: str) -> Iterator[None]:
    """Inside the block `text` is the current request id. What is no id, or several of them, counts as none."""
    parts = text.split(",")[:MOST_CARRIED]
    token = _current.set(",".join(part for part in parts if is_request_id(part)))
    try:
        yield
    finally:
        _current.reset(token)
