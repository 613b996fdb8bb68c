"""The page `/plan/`: a planned stack. The address contains the whole plan."""

import html
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.svg import svg_of
from stackviz.pages.plan.answer import answer_json, answer_of, cpu_json, introduce_answer, introduce_plan
from stackviz.pages.plan.page import Plan, make_plan
from stackviz.pages.plan.query import CHOICES, PlanQuery, read_plan_query
from stackviz.pages.plan.releases import macos_lines
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.web.http.address import Note
from stackviz.web.http.download import json_response, svg_response
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import refuse_format, serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait
from stackviz.web.parts import cached_parts, render_part
from stackviz.web.preview import Introduction, Preview, make_preview

CACHE_S = 3600  # a plan moves with the tables, the catalogue and the day, all of which are in its key
PLANS = RateLimit("plans", "PLANS_PER_MINUTE", 60)  # those that are made; a cached one costs nothing


@require_safe
@serves_formats("json", "svg")
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form; with an accelerator (or "cpu") also the plan, as JSON, or its drawing as SVG.

    For htmx form and plan without the page.
    """
    tables, now = rule_tables(), timezone.now()
    query = read_plan_query(request.GET, tables, now)
    try:
        if query.format:
            return _as_file(request, query, tables, now)
        return _shown(request, query, _body(request, query, tables, now))
    except RateLimited as limited:
        return _too_many(request, query, limited)


def _as_file(request: HttpRequest, query: PlanQuery, tables: Tables, now: datetime) -> HttpResponse:
    """Refused with the first thing that could not be used: a program must not guess."""
    if query.notes:
        return refuse_notes(query.notes)
    if not query.accelerator:
        return refuse_notes([Note("accelerator", _("Name an accelerator: ?accelerator=SLUG"))])
    if query.format == "json":
        return _as_json(request, query, tables, now)
    if not query.has_plan:  # without a diagram
        return refuse_format(query.format, ["json"])
    return _as_svg(request, query, _planned(request, query, tables, now))


def _as_json(request: HttpRequest, query: PlanQuery, tables: Tables, now: datetime) -> HttpResponse:
    plan = _plan_of(request, query, tables, now)
    query = plan.query if plan else query
    if query.choice:
        return json_response("plan", answer_json(answer_of(query, plan), query.choice, plan))
    return json_response("plan", cpu_json(plan) if plan else {})


def _as_svg(request: HttpRequest, query: PlanQuery, plan: Plan) -> HttpResponse:
    query = plan.query
    title = f"{query.title}, torch {query.machine.torch}"
    return svg_response("plan", svg_of(plan.drawing, title, request.build_absolute_uri(query.address)))


def _shown(request: HttpRequest, query: PlanQuery, body: tuple[SafeString, ...]) -> HttpResponse:
    html_body, *introduction = body
    if wants_partial(request):
        return HttpResponse(html_body)
    preview = _preview(request, query, Introduction(*map(html.unescape, introduction))) if introduction else None
    status = HTTPStatus.UNPROCESSABLE_ENTITY if query.notes else HTTPStatus.OK  # as that of a file
    return render(request, "plan/page.html", {"query": query, "body": html_body, "preview": preview}, status=status)


def _preview(request: HttpRequest, query: PlanQuery, introduction: Introduction) -> Preview:
    """Of the address as it was given: one that leaves the release open stays the newest that works."""
    given = {name: value for name, value in request.GET.items() if value and name in CHOICES and not query.notes}
    path = f"{request.path}?{urlencode(given or {'accelerator': query.accelerator})}"
    return make_preview(request, introduction, path, picture=f"plan.png?{path.partition('?')[2]}")


def _too_many(request: HttpRequest, query: PlanQuery, limited: RateLimited) -> HttpResponse:
    """The form as it was filled in, with nothing planned."""
    retry = _("try again in %(seconds)s seconds") % {"seconds": limited.retry_after_s}
    query = replace(query, notes=(Note("", _("Too many plans were requested from this address"), retry),))
    answer = _shown(request, query, _rendered(replace(query, choice=None), None))
    return ask_to_wait(answer, limited)


def _body(request: HttpRequest, query: PlanQuery, tables: Tables, now: datetime) -> tuple[SafeString, ...]:
    """(page, title, answer) as HTML; cached where it is one of the lists' own choices.

    What a visitor types would fill the cache.
    """
    machine = query.machine
    if not query.accelerator:
        return _rendered(query, None)
    is_update = machine.macos not in {"", *macos_lines(tables, machine.system.wheel)}
    if query.notes or query.driver or is_update:
        return _rendered(query, _plan_of(request, query, tables, now))
    torch = "" if query.torch_is_open else machine.torch
    python = "" if query.python_is_open else machine.python
    way = (query.choice.framework, query.choice.installer) if query.choice else ()
    chosen = (query.accelerator, *way, machine.system.key, torch, machine.macos, python)
    state = ("plan", CatalogueEdition.current(), Edition.current(), now.date(), *chosen)
    return cached_parts(state, lambda: _rendered(query, _plan_of(request, query, tables, now)), CACHE_S)


def _planned(request: HttpRequest, query: PlanQuery, tables: Tables, now: datetime) -> Plan:
    """A plan that is made for this request, which is work. Raises RateLimited."""
    PLANS.count(request)
    return make_plan(query, tables, now)


def _plan_of(request: HttpRequest, query: PlanQuery, tables: Tables, now: datetime) -> Plan | None:
    """The plan, where the tables of torch's builds decide."""
    return _planned(request, query, tables, now) if query.has_plan else None


def _rendered(query: PlanQuery, plan: Plan | None) -> tuple[SafeString, ...]:
    query = plan.query if plan else query
    answer = answer_of(query, plan)
    svg_url = f"{query.address}&format=svg"
    body = render_part("plan/_plan.jinja", query=query, plan=plan, answer=answer, svg_url=svg_url)
    if plan:
        introduction = introduce_plan(plan)
    elif answer:
        introduction = introduce_answer(answer)
    else:
        return (body,)
    return body, escape(introduction.title), escape(introduction.answer)
