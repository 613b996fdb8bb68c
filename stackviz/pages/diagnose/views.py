"""`/diagnose/`: paste what tools printed, see stacks drawn and faults named. Nothing is stored unless it is asked for.

A text to be saved is shown masked first; its private link can be deleted by anyone who has the deletion code.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from stackviz.draw.diagrams.svg import svg_of
from stackviz.intake.report_parts.pasted import (
    MOST_KB,
    Refused,
    answer_pasted,
    mask_pasted,
    paced,
    read_pasted,
    refused_for_now,
    tool_label,
)
from stackviz.pages.diagnose.diagnosis import Diagnosis, introduce_diagnosis
from stackviz.pages.diagnose.links import (
    LINKS,
    MOST_STORED_KB,
    NoRoom,
    Ticket,
    delete_link,
    find_link,
    is_too_long,
    may_delete,
    new_ticket,
    read_ticket,
    save_link,
)
from stackviz.pages.diagnose.steps import SteppedDiagnosis, diagnose_steps, steps_before, under_command
from stackviz.report.importers.deadline import Deadline
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.rate_limit import DIAGNOSES, RateLimited, ask_to_wait, text_cost
from stackviz.web.http.tickets import TicketRefused
from stackviz.web.i18n.languages import address_in
from stackviz.web.parts import render_part
from stackviz.web.preview import make_preview

SVG = "svg"
MOST_LINKED = 2_000  # characters of a text that a link puts into the box: `?text=`; nothing is read before it is sent
PASTE_FORM = "paste"  # its id: the menu of languages sends it to the page in the other language
DELETE_COOKIE = "diagnose_delete"  # and a language: the deletion code of the one link under whose path it is sent
_DAY_S = 24 * 3600

_EXAMPLE_TEXTS = Path(__file__).resolve().parent / "example_texts"
EXAMPLES: Mapping[str, str | Promise] = {
    "old-driver": gettext_lazy("a GTX 1080 whose driver is too old for its CUDA"),
    "two-torches": gettext_lazy("a Mac with two copies of torch"),
    "nvidia-smi": gettext_lazy("the table of nvidia-smi"),
}
"""Excerpts of texts that people published, by the name of their file. A link puts one into the box."""


@cache
def example_texts() -> Mapping[str, str]:
    """Return the text of each example."""
    return {key: (_EXAMPLE_TEXTS / f"{key}.txt").read_text(encoding="utf-8") for key in EXAMPLES}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("text")
@csrf_exempt  # the token is in the body, so the body's size is looked at first; then `_answer` asks for the token
def page(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        linked = request.GET.get("text", "")[:MOST_LINKED].replace("\x00", "")
        return show_page(request, text=linked or example_texts().get(request.GET.get("example", ""), ""))
    return answer_pasted(request, _answer, _refuse)


@csrf_protect
def _answer(request: HttpRequest, text: str, deadline: Deadline) -> HttpResponse:
    try:
        before = _counted_steps(request)
        text_read = under_command(text, request.POST.get("asked", "")) if before else text
        stepped = diagnose_steps(before, text_read, deadline)
    except Refused as refused:
        return show_refused(request, refused, text)
    except RateLimited as limited:
        return _too_many(request, limited, text)
    if request.POST.get("format") == SVG:
        return _as_svg(stepped.diagnosis)
    return show_stepped(request, stepped)


def _refuse(request: HttpRequest, refused: Refused, text: str) -> HttpResponse:
    is_text = refused.status == HTTPStatus.UNPROCESSABLE_ENTITY  # the form itself could be read
    return _refuse_step(request, refused) if is_text else show_refused(request, refused, text)


def show_refused(request: HttpRequest, refused: Refused, text: str = "") -> HttpResponse:
    """Return the page that says why there is no answer, with the text in its form."""
    return show_page(request, refused=refused, text=text)


@csrf_protect
def _refuse_step(request: HttpRequest, refused: Refused) -> HttpResponse:
    """An empty or unreadable text: the steps before stay on the page, where there are some."""
    try:
        before = _counted_steps(request)
        if before:
            with paced(request, "") as deadline:
                stepped = diagnose_steps(before, "", deadline, refused.problem)
            return show_stepped(request, stepped, status=refused.status)
    except Refused as of_steps:
        refused = of_steps
    except RateLimited as limited:
        return _too_many(request, limited)
    return show_refused(request, refused)


def _counted_steps(request: HttpRequest) -> list[str]:
    """The texts of the steps before, counted as if they were pasted again: they are read again, however short the form
    that carries them is. Raises Refused, RateLimited.
    """
    before = steps_before(request.POST.get("state", ""))
    if before:
        DIAGNOSES.count(request, sum(map(text_cost, before)))
    return before


def show_stepped(
    request: HttpRequest,
    stepped: SteppedDiagnosis,
    status: HTTPStatus = HTTPStatus.OK,
    **more: Any,  # noqa: ANN401 (of the template)
) -> HttpResponse:
    """The page of an answer."""
    answer = show_page(
        request,
        diagnosis=stepped.diagnosis,
        text=stepped.text,
        steps=stepped.steps,
        narrowed=stepped.narrowed,
        is_afterwards=stepped.is_afterwards,
        next_step=stepped.next_step,
        **more,
    )
    answer.status_code = status
    return answer


def _as_svg(diagnosis: Diagnosis, *, only_differences: bool = False) -> HttpResponse:
    """The drawing as a file; it does not say where it came from: a private link would be in it."""
    title = " / ".join(machine.title for machine in diagnosis.machines)
    svg = svg_of(diagnosis.drawing, title, _("drawn from a pasted text"), only_differences=only_differences)
    return svg_response("diagnosis", svg)


def show_page(request: HttpRequest, *, refused: Refused | None = None, **more: Any) -> HttpResponse:  # noqa: ANN401
    """Return the page with its form, and what `more` holds for the template."""
    status = refused.status if refused else HTTPStatus.OK
    context: dict[str, Any] = {
        "diagnosis": None,
        "refused": refused,
        "text": "",
        "most_kb": MOST_KB,
        "form_to_send_again": PASTE_FORM if request.method == "POST" else "",
        "days": settings.LINK_DAYS,
    }
    context |= {"examples": EXAMPLES} | more
    if context["diagnosis"]:
        shown = ("diagnosis", "days", "next_step", "link", "only_differences", "toggle_url", "svg_url")
        values = {name: context[name] for name in shown if name in context}
        context["body"] = render_part("diagnose/_diagnosis.jinja", user=request.user, **values)
        context["introduction"] = introduce_diagnosis(context["diagnosis"])
    return render(request, "diagnose/page.html", context, status=status)


def _too_many(request: HttpRequest, limited: RateLimited, text: str = "") -> HttpResponse:
    return ask_to_wait(show_refused(request, refused_for_now(limited), text), limited)


# --- saving ---


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("text")
@csrf_exempt  # as above
def save(request: HttpRequest) -> HttpResponse:
    """First the masked text, to be looked at; sent again with its ticket it is saved."""
    if request.method != "POST":
        return redirect("diagnose:page")
    return answer_pasted(request, _save, show_refused)


@csrf_protect
def _save(request: HttpRequest, text: str, deadline: Deadline) -> HttpResponse:
    """The stored text is masked here, regardless of the form."""
    masked = mask_pasted(text, deadline)
    if is_too_long(masked):
        raise _too_long()
    kinds = tool_label(read_pasted(masked, deadline).kinds)
    given = request.POST.get("ticket", "")
    try:
        ticket = read_ticket(given)
    except TicketRefused:
        return _show_masked(request, masked, kinds, is_old=bool(given))
    LINKS.count(request)
    try:
        saved = save_link(ticket, masked, kinds)
    except NoRoom:
        raise _no_room() from None
    answer = redirect("diagnose:saved", token=saved.token)
    answer.status_code = HTTPStatus.SEE_OTHER
    _remember(answer, saved)
    return answer


def _too_long() -> Refused:
    problem = _("A saved text can have at most %(most)s KB. Remove everything before and after the dumps.")
    return Refused(problem % {"most": MOST_STORED_KB}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


def _no_room() -> Refused:
    problem = _(
        "The storage for saved texts is full, so nothing was saved. Space frees up every day: try again tomorrow."
    )
    return Refused(problem, HTTPStatus.INSUFFICIENT_STORAGE, None)


def _show_masked(request: HttpRequest, masked: str, kinds: str, *, is_old: bool) -> HttpResponse:
    context = {
        "text": masked,
        "kinds": kinds,
        "ticket": new_ticket().signed(),
        "is_old": is_old,
        "days": settings.LINK_DAYS,
    }
    return render(request, "diagnose/save.html", context)


def _remember(answer: HttpResponse, saved: Ticket) -> None:
    """Store the deletion code in the browser that saved the text, for this link's pages only, in each language."""
    for cookie, path in _delete_cookies(saved.token):
        answer.set_cookie(
            cookie,
            saved.code,
            max_age=settings.LINK_DAYS * _DAY_S,
            path=path,
            secure=settings.HTTPS,
            httponly=True,
            samesite="Lax",
        )


def _delete_cookies(token: str) -> Iterator[tuple[str, str]]:
    """The name and the path of the cookie of each language: an answer can set a name for one path only."""
    page_path = reverse("diagnose:saved", args=[token])
    for code, _name in settings.LANGUAGES:
        yield f"{DELETE_COOKIE}_{code}", address_in(code, page_path)


@require_safe
@serves_formats(SVG)
@never_cache
def saved(request: HttpRequest, token: str) -> HttpResponse:
    """A saved text, diagnosed anew by today's rules."""
    return _show_saved(request, token)


def _show_saved(request: HttpRequest, token: str, *, wrong_word: bool = False) -> HttpResponse:
    link = find_link(token)
    if link is None:
        raise Http404
    try:
        with paced(request, link.text) as deadline:
            stepped = diagnose_steps((), link.text, deadline)
    except RateLimited as limited:
        return hidden(_too_many(request, limited))
    except Refused as refused:  # rules of reading change: the text stays to be seen
        return hidden(show_refused(request, refused, link.text))
    only_differences = request.GET.get("show") == "differences"
    if request.GET.get("format") == SVG:
        return hidden(_as_svg(stepped.diagnosis, only_differences=only_differences))
    code = request.COOKIES.get(f"{DELETE_COOKIE}_{get_language()}", "")
    context: Mapping[str, Any] = {
        "link": link,
        "address": request.build_absolute_uri(request.path),
        "delete_url": reverse("diagnose:delete", args=[token]),
        "word": code if code and may_delete(link, code) else "",
        "wrong_word": wrong_word,
        "only_differences": only_differences,
        "toggle_url": "?" if only_differences else "?show=differences",
        "svg_url": "?show=differences&format=svg" if only_differences else "?format=svg",
    }
    picture = f"diagnosis/{token}.png"
    preview = make_preview(request, introduce_diagnosis(stepped.diagnosis), request.path, picture=picture)
    status = HTTPStatus.FORBIDDEN if wrong_word else HTTPStatus.OK
    return hidden(show_stepped(request, stepped, status, preview=preview, **context))


def hidden(answer: HttpResponse) -> HttpResponse:
    """In no index; and no other site learns the address from a link that is followed."""
    answer.headers["X-Robots-Tag"] = "noindex, nofollow"
    answer.headers["Referrer-Policy"] = "same-origin"
    return answer


@require_POST
@never_cache
@sensitive_post_parameters("word")
def delete(request: HttpRequest, token: str) -> HttpResponse:
    """The text is gone for everybody, for who has its deletion code; done twice it is done."""
    if not delete_link(token, request.POST.get("word", "").strip()):
        return _show_saved(request, token, wrong_word=True)
    messages.success(request, _("The text was deleted. Its link no longer works."))
    answer = redirect("diagnose:page")
    for cookie, path in _delete_cookies(token):
        answer.delete_cookie(cookie, path=path, samesite="Lax")
    return answer
