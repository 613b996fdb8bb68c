"""Values read once per request, remembered until its response is sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

Value = TypeVar("Value")

_memo: ContextVar[dict[str, Any] | None] = ContextVar("request_memo", default=None)


class RequestMemo:
    """Middleware that begins an empty memo with each request. Outside of one nothing is remembered unless asked to."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with remembering():
            return self.get_response(request)


@contextmanager
def remembering() -> Iterator[None]:
    """An empty memo for what is done inside; afterwards what was there before."""
    before = _memo.set({})
    try:
        yield
    finally:
        _memo.reset(before)


def remember(key: str, read: Callable[[], Value]) -> Value:
    """What `read` returned when this request first asked for `key`."""
    memo = _memo.get()
    if memo is None:
        return read()
    if key not in memo:
        memo[key] = read()
    value: Value = memo[key]
    return value


def forget(key: str) -> None:
    """Let the next `remember` read again: the value has changed within this request."""
    memo = _memo.get()
    if memo is not None:
        memo.pop(key, None)
