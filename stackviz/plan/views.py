"""The page `/plan/`: a stack somebody is only planning. The address is the whole plan."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from stackviz.catalog.models import CatalogueEdition
from stackviz.diagrams.svg import svg_of
from stackviz.plan.asked import Asked, read_asked
from stackviz.plan.page import plan_of
from stackviz.rules import Tables
from stackviz.stacks.models import Edition
from stackviz.stacks.tables import rule_tables
from stackviz.web.download import svg_response
from stackviz.web.fragments import kept
from stackviz.web.htmx import vary_on_htmx, wants_partial

KEPT_S = 3600  # a plan moves with the tables, the catalogue and the day, all of which are in its key


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form; with an accelerator (or "cpu") also the plan, or its drawing as SVG. For htmx both without the page."""
    tables, now = rule_tables(), timezone.now()
    asked = read_asked(request.GET, tables, now)
    if asked.accelerator and request.GET.get("format") == "svg":
        title = f"{asked.title}, torch {asked.wanted.torch}"
        drawing = plan_of(asked, tables, now).drawing
        return svg_response("plan", svg_of(drawing, title, request.build_absolute_uri(asked.address)))
    body = _body(asked, tables, now)
    if wants_partial(request):
        return HttpResponse(body)
    return render(request, "plan/page.html", {"asked": asked, "body": body})


def _body(asked: Asked, tables: Tables, now: datetime) -> SafeString:
    """Kept where it is one of the lists' own choices: what a visitor typed would fill the cache."""
    wanted = asked.wanted
    if not asked.accelerator or asked.notes or asked.driver:
        return _made(asked, tables, now)
    chosen = (asked.accelerator, wanted.system.key, wanted.torch, wanted.macos, wanted.python)
    state = ("plan", CatalogueEdition.current(), Edition.current(), now.date(), *chosen)
    return kept(state, lambda: _made(asked, tables, now), KEPT_S)


def _made(asked: Asked, tables: Tables, now: datetime) -> SafeString:
    plan = plan_of(asked, tables, now) if asked.accelerator else None
    return render_to_string("plan/_plan.html", {"asked": asked, "plan": plan, "svg_url": f"{asked.address}&format=svg"})
