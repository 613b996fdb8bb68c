"""The spec sheets of accelerators: current, as of a moment, as files."""

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.accelerators.introduction import headline_of, introduce_sheet, sheet_data
from stackviz.pages.accelerators.sheet import read_sheet, sheet_values
from stackviz.pages.accelerators.sheet_files import FORMATS, cite, sheet_file
from stackviz.pages.accelerators.sheet_sources import SourceChoice
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Source
from stackviz.records.catalog.past import public_accelerators_at
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue, successors
from stackviz.records.stacks.models import Edition
from stackviz.web.http.address import AddressReader, Note, read_moment, write_moment
from stackviz.web.http.addresses import address_by_name
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats
from stackviz.web.parts import cached_html, render_part
from stackviz.web.preview import Preview, make_preview

CACHE_S = 600  # a sheet is slow to render and changes rarely; its key moves with the catalogue's edition


@dataclass(frozen=True, slots=True)
class SheetQuery:
    """Which state of a sheet, as what. `at` None is now; `ending` "" is a page, else a file format.

    `choice`: of which sources the rows are.
    """

    at: datetime | None
    ending: str
    choice: SourceChoice
    notes: tuple[Note, ...]


@require_safe
@serves_formats(*FORMATS)
def sheet(request: HttpRequest, slug: str) -> HttpResponseBase:
    """One accelerator: everything published about it, each value with its source.

    `?at=` shows the sheet as of a moment, `?format=csv|json` returns it as a file.
    """
    catalogue = public_catalogue()
    accelerator, edition = catalogue.by_slug.get(slug), f"{catalogue.edition} {Edition.current()}"
    if accelerator is None:
        return _elsewhere(slug)
    query = read_sheet_query(request.GET)
    tag = _tag(request, accelerator, edition, query)
    unchanged = get_conditional_response(request, etag=tag) if tag else None
    if unchanged is not None:
        return unchanged
    response = _answer(request, accelerator, edition, query)
    if tag and response.status_code == 200:
        response.headers["ETag"] = tag
    return response


def read_sheet_query(parameters: QueryDict) -> SheetQuery:
    reader = AddressReader(parameters)
    shown_now = _("the current sheet is shown")
    return SheetQuery(
        at=reader.parsed("at", read_moment, _("“%(value)s” is not a past moment such as 2026-11-20"), shown_now),
        ending=reader.text("format"),
        choice=SourceChoice(
            reader.choice("kind", Source.Kind.values, gettext_lazy("kind of source")),
            reader.choice("read_as", Source.Reading.values, gettext_lazy("way of reading a source")),
        ),
        notes=reader.notes(parameters),
    )


def _tag(request: HttpRequest, accelerator: Accelerator, edition: str, query: SheetQuery) -> str:
    """ETag of the page of an anonymous visitor; "" for others, whose page frame differs."""
    if settings.SESSION_COOKIE_NAME in request.COOKIES or "messages" in request.COOKIES:
        return ""
    # A date alone may mean "until now", which the edition tells; the frame's forms carry the visitor's own token.
    state = (
        accelerator.pk, edition, request.get_full_path(), query.notes, request.get_host(), get_language(),
        settings.VERSION, request.COOKIES.get(settings.CSRF_COOKIE_NAME, ""),
    )  # fmt: skip
    return f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'


def _answer(request: HttpRequest, accelerator: Accelerator, edition: str, query: SheetQuery) -> HttpResponse:
    then = public_accelerators_at([accelerator.pk], query.at).get(accelerator.pk) if query.at else None
    if query.ending:
        return _file(request, then or accelerator, query, is_there=bool(then) or not query.at)
    notes = list(query.notes)
    address = request.build_absolute_uri(accelerator.get_absolute_url())
    if query.at and then is None:
        problem = _("This sheet did not exist on %(day)s") % {"day": _moment_text(query.at)}
        notes.append(Note("at", problem, _("the current version is shown")))
    context = {
        "accelerator": then or accelerator,
        "notes": notes,
        "address": address,
        "moment": _moment_text(query.at) if then and query.at else "",
        "changed": _changed_since(accelerator, query.at) if then and query.at else "",
        "preview": _preview(request, accelerator),
    }
    if then and query.at:
        body = _body(then, address, query)  # not cached: the number of possible moments is unlimited
    else:
        now = replace(query, at=None)
        key = ("sheet", accelerator.pk, edition, address, query.choice.kind, query.choice.reading)
        body = cached_html(key, lambda: _body(accelerator, address, now), CACHE_S)
    return render(request, "accelerators/sheet.html", {**context, "body": body})


def _preview(request: HttpRequest, accelerator: Accelerator) -> Preview:
    """Of the present sheet, also for those of the past: it is what a search engine is to know."""
    path, catalogue = accelerator.get_absolute_url(), public_catalogue()
    return make_preview(
        request,
        introduce_sheet(accelerator, catalogue),
        path,
        picture=f"sheet/{accelerator.slug}.png",
        can_embed=True,
        badge=_badge_of(accelerator, catalogue),
        data=sheet_data(accelerator, catalogue, request.build_absolute_uri(path)),
    )


def _badge_of(accelerator: Accelerator, catalogue: PublicCatalogue) -> str:
    """The path of its badge: of its memory bandwidth, or else its memory; "" where neither is published."""
    for field in ("memory_bandwidth_gb_s", "memory_gb"):
        if headline_of(accelerator, FIELDS[field], catalogue).is_published:
            return address_by_name("sharing:figure-badge", accelerator.slug, field)
    return ""


def _body(accelerator: Accelerator, address: str, query: SheetQuery) -> str:
    """The sheet as HTML, without its frame."""
    at = query.at
    sheet = read_sheet(accelerator, at, query.choice)
    now = timezone.now()
    return render_part(
        "accelerators/_sheet.jinja",
        sheet=sheet,
        accelerator=accelerator,
        is_past=at is not None,
        choice=query.choice,
        at=write_moment(at) if at else "",
        file_query=_file_query(query),
        citation=cite(accelerator.name, accelerator.slug, address, sheet["changed_at"] or now, now),
    )


def _file_query(query: SheetQuery) -> str:
    """What comes before the format in the address of this sheet's file."""
    parts = {
        "at": write_moment(query.at) if query.at else "",
        "kind": query.choice.kind,
        "read_as": query.choice.reading,
    }
    return "".join(f"{name}={value}&" for name, value in parts.items() if value) + "format="


def _changed_since(accelerator: Accelerator, at: datetime) -> str:
    """How the sheet of that moment differs from the present one, in words. Four queries."""
    now = {value.pk: value.content() for value in sheet_values(accelerator)}
    then = {value.pk: value.content() for value in sheet_values(accelerator, at)}
    different = sum(now.get(pk) != then.get(pk) for pk in now.keys() | then.keys())
    if not different:
        return _("No value has changed since.")
    text = ngettext(
        "%(n)d value was added, changed or withdrawn since.",
        "%(n)d values were added, changed or withdrawn since.",
        different,
    )
    return text % {"n": different}


def _moment_text(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _file(request: HttpRequest, accelerator: Accelerator, query: SheetQuery, *, is_there: bool) -> HttpResponse:
    """The sheet as a file; for what could not be read an error as the API returns it."""
    if query.notes:
        return refuse_notes(query.notes)
    if not is_there:
        return JsonResponse({"error": _("this sheet did not exist at that moment"), "field": "at"}, status=404)
    address = request.build_absolute_uri(accelerator.get_absolute_url())
    return sheet_file(accelerator, query.at, query.ending, address, query.choice)


def _elsewhere(slug: str) -> HttpResponse:
    """A chip without its variant (`m3-max`) leads to its sheet, or to the list of its variants."""
    sheets = successors(slug)
    if not sheets:
        raise Http404
    if len(sheets) == 1:
        return HttpResponseRedirect(sheets[0].get_absolute_url())
    return HttpResponseRedirect(f"{reverse('accelerators:list')}?q={slug}")
