"""The page `/plan/`: a stack somebody is only planning. The address is the whole plan."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stackviz.plan.asked import read_asked
from stackviz.plan.page import plan_of
from stackviz.stacks.tables import rule_tables
from stackviz.web.htmx import vary_on_htmx, wants_partial


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form; with an accelerator (or "cpu") also the plan. For htmx the plan with its form alone."""
    tables, now = rule_tables(), timezone.now()
    asked = read_asked(request.GET, tables, now)
    context = {"asked": asked, "plan": plan_of(asked, tables, now) if asked.accelerator else None}
    return render(request, "plan/_plan.html" if wants_partial(request) else "plan/page.html", context)
