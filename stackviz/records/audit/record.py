"""Record what is being done, in the transaction that does it."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseBase

from stackviz.records.audit.models import AuditEntry
from stackviz.web.request_ids import current_request_id

_request: ContextVar[HttpRequest | None] = ContextVar("audit_request", default=None)
_SUBJECT_CHARS = 300


class RememberRequest:
    """Middleware. Whoever acts is looked up only when something is recorded."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = _request.set(request)
        try:
            return self.get_response(request)
        finally:
            _request.reset(token)


def record(
    action: str,
    subject: str,
    by: AbstractBaseUser | AnonymousUser | None = None,
    /,
    **details: Any,  # noqa: ANN401 (JSON)
) -> None:
    """Add an entry. `by` None: whoever sent the request that is being answered, if there is one. One query.

    Call it inside the transaction of the change: neither is stored without the other.
    """
    AuditEntry.objects.create(
        by=by.pk if by is not None else _whoever_asks(),
        action=action,
        subject=subject[:_SUBJECT_CHARS],
        details=details,
        request_id=current_request_id()[:64],
    )


def _whoever_asks() -> int | None:
    request = _request.get()
    user = getattr(request, "user", None)
    return user.pk if user is not None else None
