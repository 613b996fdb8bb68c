"""The admin, each of whose changes is one transaction with its entry in the audit log."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase

from stackviz.audit.record import record

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class AuditedAdminSite(AdminSite):
    def admin_view(self, view: View, cacheable: bool = False) -> View:  # noqa: FBT001, FBT002 (Django's)
        return super().admin_view(_recorded(view), cacheable)


def _recorded(view: View) -> View:
    """The view; what it was sent is recorded where it leads on, which it does after a change and not after an error."""

    @wraps(view)
    def recorded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:  # noqa: ANN401
        if request.method != "POST":
            return view(request, *arguments, **named)
        with transaction.atomic():
            answer: HttpResponseBase = view(request, *arguments, **named)
            if 300 <= answer.status_code < 400:
                record("admin.posted", request.path, **_details(request))
        return answer

    return cast("View", recorded)


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
