"""`/admin/activity/`: who did what, from every record of it, for those who may read the audit log."""

from datetime import date

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.records.audit.activity import ActivityQuery, activities, activity_kinds
from stackviz.web.http.address import text_parameter, whole_number

PER_PAGE = 100
LAST_PAGE = 10  # each record reads all pages before; older activities are found by their day


@require_safe
def activity(request: HttpRequest) -> HttpResponse:
    """Filter by person, kind and day. The number of queries does not depend on what is stored."""
    if not request.user.has_perm("audit.view_auditentry"):
        raise PermissionDenied
    person, kind, day = (text_parameter(request, name) for name in ("person", "kind", "day"))
    account = User.objects.filter(username=person).first() if person else None
    page = min(max(whole_number(text_parameter(request, "page"), max_digits=3) or 1, 1), LAST_PAGE)
    problem, rows = "", []
    try:
        query = ActivityQuery(account.pk if account else None, kind, date.fromisoformat(day) if day else None)
    except ValueError:
        problem = _("Enter a date, such as 2026-10-02.")
    else:
        if person and account is None:
            problem = _("There is no account of this name.")
        else:
            rows = activities(query, (page - 1) * PER_PAGE, page * PER_PAGE + 1)
    names = User.objects.in_bulk({row.by for row in rows if row.by is not None})
    context = {
        **admin.site.each_context(request),
        "title": _("Who did what"),
        "rows": [(row, names.get(row.by) if row.by is not None else None) for row in rows[:PER_PAGE]],
        "problem": problem,
        "kinds": activity_kinds(),
        "asked": {"person": person, "kind": kind, "day": day},
        "newer": page - 1,
        "older": page + 1 if len(rows) > PER_PAGE and page < LAST_PAGE else None,
    }
    return render(request, "accounts/activity.html", context, status=422 if problem else 200)
