"""The admin, each of whose changes is one transaction with its entry in the audit log."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponseBase

from stackviz.records.audit.record import record

_WRITES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class AuditedAdminSite(AdminSite):
    def admin_view(self, view: View, cacheable: bool = False) -> View:  # noqa: FBT001, FBT002 (Django's)
        return super().admin_view(_recorded(view), cacheable)


def _recorded(view: View) -> View:
    """The view; what it was sent is recorded where it wrote something, and not where it refused."""

    @wraps(view)
    def recorded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:  # noqa: ANN401
        if request.method != "POST":
            return view(request, *arguments, **named)
        writes = _Writes()
        with transaction.atomic():
            with connection.execute_wrapper(writes):
                answer = view(request, *arguments, **named)
            if writes.seen:
                record("admin.posted", request.path, **_details(request))
        return answer

    return cast("View", recorded)


class _Writes:
    """Notices whether anything but a session was written."""

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: ANN401, FBT001 (Django's)
        if _WRITES.match(sql) and Session._meta.db_table not in sql[:60]:  # noqa: SLF001 (Django's documented API)
            self.seen = True
        return execute(sql, params, many, context)


def _details(request: HttpRequest) -> dict[str, Any]:
    """Of an action its name and the rows it was for; a hundred at most, and how many there were."""
    chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
    if "action" not in request.POST:
        return {}
    return {
        "action": request.POST["action"][:100],
        "rows": [key[:40] for key in chosen[:100]],
        "count": len(chosen),
        "all": request.POST.get("select_across") == "1",
    }
