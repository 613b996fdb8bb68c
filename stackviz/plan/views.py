"""The page `/plan/`: a stack somebody is only planning. The address is the whole plan."""

from dataclasses import replace
from datetime import datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.catalog.models import CatalogueEdition
from stackviz.diagrams.svg import svg_of
from stackviz.plan.page import Plan, plan_of
from stackviz.plan.query import Asked, read_asked
from stackviz.rules import Tables
from stackviz.stacks.models import Edition
from stackviz.stacks.rule_tables import rule_tables
from stackviz.web.download import svg_response
from stackviz.web.fragments import kept
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.rate_limit import RateLimit, RateLimited

KEPT_S = 3600  # a plan moves with the tables, the catalogue and the day, all of which are in its key
PLANS = RateLimit("plans", "PLANS_PER_MINUTE", 60)  # those that are made; one that is kept costs nothing


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form; with an accelerator (or "cpu") also the plan, or its drawing as SVG. For htmx both without the page."""
    tables, now = rule_tables(), timezone.now()
    asked = read_asked(request.GET, tables, now)
    try:
        if asked.accelerator and request.GET.get("format") == "svg":
            return _as_svg(request, asked, _planned(request, asked, tables, now))
        return _shown(request, asked, _body(request, asked, tables, now))
    except RateLimited as limited:
        return _too_many(request, asked, limited)


def _as_svg(request: HttpRequest, asked: Asked, plan: Plan) -> HttpResponse:
    asked = plan.asked
    title = f"{asked.title}, torch {asked.wanted.torch}"
    return svg_response("plan", svg_of(plan.drawing, title, request.build_absolute_uri(asked.address)))


def _shown(request: HttpRequest, asked: Asked, body: SafeString) -> HttpResponse:
    if wants_partial(request):
        return HttpResponse(body)
    return render(request, "plan/page.html", {"asked": asked, "body": body})


def _too_many(request: HttpRequest, asked: Asked, limited: RateLimited) -> HttpResponse:
    """The form as it was filled in, with nothing planned."""
    problem = _("Too many plans were asked for from this address. Try again in %(seconds)s seconds.")
    asked = replace(asked, notes=(problem % {"seconds": limited.retry_after_s},))
    answer = _shown(request, asked, _rendered(asked, None))
    answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
    answer.headers["Retry-After"] = str(limited.retry_after_s)
    return answer


def _body(request: HttpRequest, asked: Asked, tables: Tables, now: datetime) -> SafeString:
    """Kept where it is one of the lists' own choices: what a visitor typed would fill the cache."""
    wanted = asked.wanted
    if not asked.accelerator:
        return _rendered(asked, None)
    if asked.notes or asked.driver:
        return _rendered(asked, _planned(request, asked, tables, now))
    torch = "" if asked.torch_is_open else wanted.torch
    python = "" if asked.python_is_open else wanted.python
    chosen = (asked.accelerator, wanted.system.key, torch, wanted.macos, python)
    state = ("plan", CatalogueEdition.current(), Edition.current(), now.date(), *chosen)
    return kept(state, lambda: _rendered(asked, _planned(request, asked, tables, now)), KEPT_S)


def _planned(request: HttpRequest, asked: Asked, tables: Tables, now: datetime) -> Plan:
    """A plan that is made for this request, which is work. Raises RateLimited."""
    PLANS.count(request)
    return plan_of(asked, tables, now)


def _rendered(asked: Asked, plan: Plan | None) -> SafeString:
    asked = plan.asked if plan else asked
    return render_to_string("plan/_plan.html", {"asked": asked, "plan": plan, "svg_url": f"{asked.address}&format=svg"})
