"""A member of a lab confirms or dismisses a change point of one of its series."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from stackviz.pages.machines.history import may_decide
from stackviz.pages.machines.series import drawn_series, series_page
from stackviz.records.labs.queries import visible_machines
from stackviz.records.series.history import decide_change
from stackviz.records.series.models import Series


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, lab: str, slug: str, series_id: int) -> HttpResponse:
    """Back to the series. Public readers may look, not decide; what cannot be decided is explained on the page.

    A GET comes from whoever had to log in before deciding, or changed the language of the explanation.
    """
    changes = reverse("machines:series", args=[lab, slug, series_id]) + "#changes"
    if request.method != "POST":
        return redirect(changes)
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    series = get_object_or_404(Series, pk=series_id, machine=machine)
    if not may_decide(request.user, machine):
        raise PermissionDenied
    posted = request.POST
    try:
        report = UUID(posted.get("report", ""))
    except ValueError as error:
        raise Http404 from error
    try:
        decide_change(series, report, posted.get("answer", ""), request.user, posted.get("note", ""))
    except ValidationError as error:
        shown = series_page(machine, series_id, request.user)
        title, body = drawn_series(shown, request, error.messages)
        return render(request, "machines/series.html", {"title": title, "body": body}, status=422)
    return redirect(changes)
