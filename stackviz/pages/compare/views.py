"""The comparison page: `/compare/?a=<subject>&a=<subject>`, as a page, a file, or as it stood at a moment."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.slide import Caption
from stackviz.draw.diagrams.stack_slide import stack_finding, stack_slide
from stackviz.pages.compare.comparison import assemble, comparison_figures, parts_of_file, stacks_of
from stackviz.pages.compare.export import Exported, exported
from stackviz.pages.compare.file_parts import without_history
from stackviz.pages.compare.pairs import answered_pairs
from stackviz.pages.compare.query import (
    BOXES,
    DRAWING,
    FIGURES,
    FORMATS,
    MOST_SUBJECTS,
    WORDS,
    Address,
    CompareQuery,
    SubjectKind,
    read_compare_query,
)
from stackviz.pages.compare.short import short_address
from stackviz.pages.compare.starts import suggested_pairs
from stackviz.pages.compare.subjects import Loaded, fit_subjects, heading, load
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.models import CitedEdition
from stackviz.records.hosts.models import HostEdition
from stackviz.records.series.public_runs import measured_edition
from stackviz.records.stacks.models import Edition
from stackviz.web.escaping import bibtex_text
from stackviz.web.http.address import Note, write_moment
from stackviz.web.http.addresses import address_by_name
from stackviz.web.http.download import svg_response
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_parts, render_part
from stackviz.web.preview import Introduction, Preview, make_preview, markdown_link, sharing_of

# A report that is read again, or cards that find their sheet, may show this late.
CACHE_S = 60


@require_safe
@serves_formats(*FORMATS, DRAWING, parts=(WORDS, BOXES, FIGURES))
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """Two to six subjects side by side. With fewer, what there is and how to add another."""
    query = read_compare_query(request.GET)
    chosen, refused = load(query.selection, request.user, query.at)
    address = _address(query, chosen)
    if query.format and not chosen:
        return refuse_notes((*refused, Note("a", _("A file compares accelerators, stacks or machines: name them"))))
    if query.format == DRAWING:
        return _drawing(request, chosen, address)
    if query.format == WORDS:
        return _words(request, chosen, address)
    if query.format == BOXES and wants_partial(request):
        return HttpResponse(_boxes(chosen, address))
    if query.format == FIGURES:
        return JsonResponse(comparison_figures(chosen, address.at))
    if query.format in FORMATS:
        about = _about(request, address, chosen)
        sheets, parts = parts_of_file(chosen, address, about.address)
        return exported(query.format, sheets, parts, about)
    context = {
        "heading": _title(chosen) if chosen else "",
        "notes": (*refused, *query.notes),
        "most": MOST_SUBJECTS,
        "only_differences": address.only_differences,
        "toggle_url": address.query(only_differences=not address.only_differences),
        "page_url": request.path + address.query() if chosen else request.path,
        "suggestions": [] if chosen else suggested_pairs(),
        "pairs": [] if chosen else answered_pairs(),
        "at": query.at,
        "has_machines": any(loaded.machine for loaded in chosen),
        "has_hosts": any(loaded.host for loaded in chosen),
    }
    if not chosen:
        return render(request, "compare/page.html", context, status=404 if refused else 200)
    drawn, verdict = _drawn(request, chosen, address, context)
    if wants_partial(request):
        return HttpResponse(drawn)
    preview = _preview(request, chosen, address, html.unescape(verdict))
    return render(request, "compare/page.html", {**context, "drawn": drawn, "verdict": verdict, "preview": preview})


def _preview(request: HttpRequest, chosen: Sequence[Loaded], address: Address, verdict: str) -> Preview:
    """The verdict as title. What nobody but its lab may see has no picture, and is embedded nowhere."""
    is_public = _is_public(chosen)
    query = Address(address.subjects, at=address.at).query()
    answer = _("%(verdict)s Specifications, software stack and results side by side, each with its source.")
    return make_preview(
        request,
        Introduction(verdict, answer % {"verdict": verdict}),
        request.path + query,
        picture=f"compare.png{Address(address.subjects).query()}" if is_public and address.at is None else "",
        can_embed=is_public and address.at is None,
        short=_short(chosen) if address.at is None else "",
    )


def _is_public(chosen: Sequence[Loaded]) -> bool:
    return all(loaded.machine is None or loaded.machine.lab.is_public for loaded in chosen)


def _short(chosen: Sequence[Loaded]) -> str:
    """The short address, where only spec sheets are compared."""
    sheets = [each.subject.slug for each in chosen if each.subject.kind is SubjectKind.ACCELERATOR]
    return short_address(sheets) if len(sheets) == len(chosen) else ""


def _drawing(request: HttpRequest, chosen: Sequence[Loaded], address: Address) -> HttpResponse:
    """The stacks as a slide, with the address it can be made again from."""
    about = _about(request, address, chosen)
    drawing = stacks_of(chosen, address.at).drawing
    if not drawing.columns:
        return refuse_notes((Note("format", _("No stack is described for these subjects"), ""),))
    caption = Caption(
        title=about.title,
        lead=stack_finding(drawing),
        address=about.address.partition("://")[2],
        day=f"{about.at:%Y-%m-%d}",
    )
    return svg_response(f"stack-{about.title}", stack_slide(drawing, caption))


def _words(request: HttpRequest, chosen: Sequence[Loaded], address: Address) -> HttpResponse:
    """The stacks in words and as a table; for htmx these alone."""
    drawing = stacks_of(chosen, address.at).drawing
    if wants_partial(request):
        return HttpResponse(render_part("diagrams/_words.jinja", drawing=drawing))
    context = {"heading": _title(chosen), "page_url": request.path + address.query(), "drawing": drawing}
    return render(request, "compare/words.html", context)


def _boxes(chosen: Sequence[Loaded], address: Address) -> SafeString:
    """The stacks, each box with what differs: for a page that opens them in place."""
    words_url = f"{address.query()}&format={WORDS}"
    return render_part("diagrams/_stack.jinja", drawing=stacks_of(chosen, address.at).drawing, words_url=words_url)


def _title(chosen: Sequence[Loaded]) -> str:
    return heading([loaded.title for loaded in chosen])


def _address(query: CompareQuery, chosen: Sequence[Loaded]) -> Address:
    """The address of what is really shown: without what was left out."""
    subjects = tuple(loaded.subject for loaded in chosen)
    return Address(
        subjects=subjects,
        base=query.base if query.base in subjects else None,
        only_differences=query.only_differences and len(subjects) > 1,
        at=query.at,
    )


def _about(request: HttpRequest, address: Address, chosen: Sequence[Loaded]) -> Exported:
    """What a file or a citation says of itself."""
    at = address.at or timezone.now()
    return Exported(
        title=_title(chosen),
        address=request.build_absolute_uri(request.path + address.query()),
        frozen=request.build_absolute_uri(request.path + address.query(at=at)),
        at=at,
        only_differences=address.only_differences,
    )


def _drawn(
    request: HttpRequest, chosen: Sequence[Loaded], address: Address, context: Mapping[str, Any]
) -> tuple[SafeString, ...]:
    """(the comparison, its verdict) as HTML, cached until a subject reports again or curated data change.

    Who may see the subjects was checked when they were loaded; what is drawn of them is the same for everybody.
    """

    def make() -> tuple[str, str]:
        about = _about(request, address, chosen)
        comparison = assemble(chosen, address)
        drawn = render_part(
            "compare/_comparison.jinja",
            comparison=comparison,
            heading=context["heading"],
            sharing=sharing_of(_preview(request, chosen, address, comparison.verdict)),
            most=MOST_SUBJECTS,
            notes=context["notes"],
            only_differences=address.only_differences,
            toggle_url=context["toggle_url"],
            at=address.at,
            left_out=without_history() if address.at else (),
            moment=write_moment(about.at),
            day_and_time=about.at.strftime("%Y-%m-%d %H:%M:%S UTC"),
            about=about,
            citations=citations(about.title, about.frozen, about.at),
            **_addresses(chosen, address),
        )
        return drawn, escape(comparison.verdict)

    return cached_parts(_state(request, chosen, address, context), make, CACHE_S)


def _state(
    request: HttpRequest, chosen: Sequence[Loaded], address: Address, context: Mapping[str, Any]
) -> tuple[object, ...]:
    """All that a drawn comparison depends on."""
    reported = tuple(
        (
            loaded.url,
            loaded.title,
            loaded.snapshot and loaded.snapshot.pk,
            loaded.machine and loaded.machine.times_read,
        )
        for loaded in chosen
    )
    shown = (request.build_absolute_uri(context["page_url"]), context["notes"])
    reached = () if address.at else (CitedEdition.current(), measured_edition())
    hosts = HostEdition.current() if any(loaded.host for loaded in chosen) else ""
    editions = (CatalogueEdition.current(), Edition.current(), hosts)
    return ("comparison", shown, reported, _is_public(chosen), *editions, reached)


def _addresses(chosen: Sequence[Loaded], address: Address) -> dict[str, Any]:
    """Where a comparison leads: itself in other forms, and other pages about its subjects; of the past, only itself."""
    here = address.query()
    is_now = address.at is None
    return {
        "svg_url": f"{here}&format={DRAWING}",
        "words_url": f"{here}&format={WORDS}",
        "boxes_format": BOXES,
        "figures_url": f"{here}&format={FIGURES}",
        "files": [(form, f"{here}&format={form}") for form in FORMATS],
        "current_url": address.query(at=None),
        "cited_url": _address_of(chosen, "benchmarks:index", "accelerator") if is_now else "",
        "roofline_url": _address_of(chosen, "benchmarks:roofline", "a") if is_now else "",
        "scaling_url": _address_of(chosen, "benchmarks:scaling", "a") if is_now else "",
        "fit_url": _fit_address(chosen) if is_now else "",
        "fit_lines": len(fit_subjects(chosen)),
    }


def _address_of(chosen: Sequence[Loaded], page: str, parameter: str) -> str:
    """The address of another page about these accelerators; "" without a sheet among them."""
    slugs = dict.fromkeys(loaded.accelerator.slug for loaded in chosen if loaded.accelerator is not None)
    return f"{address_by_name(page)}?{urlencode([(parameter, slug) for slug in slugs])}" if slugs else ""


def _fit_address(chosen: Sequence[Loaded]) -> str:
    """The address of the language models that run on these; "" where none has a sheet."""
    subjects = [("a", subject) for subject in fit_subjects(chosen)]
    return f"{address_by_name('fit:compared')}?{urlencode(subjects, safe=':')}" if subjects else ""


# --- how to cite it: a frozen address, and a line for a paper, a text and a README ---


@dataclass(frozen=True, slots=True)
class ComparisonCitation:
    """One way to write it: the name of the form, and the text to copy."""

    form: str
    text: str


def citations(title: str, address: str, at: datetime) -> tuple[ComparisonCitation, ...]:
    """Cite the comparison `title` as of `at`, found at `address`, which will show the same again."""
    day = at.strftime("%Y-%m-%d")
    moment = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        ComparisonCitation("BibTeX", _bibtex(title, address, at, moment)),
        ComparisonCitation(
            _("Plain text"),
            _("accelweb, “%(title)s”: figures as of %(moment)s, %(address)s")
            % {"title": title, "moment": moment, "address": address},
        ),
        ComparisonCitation("Markdown", f"{markdown_link(title, address)} (accelweb, {day})"),
    )


def _bibtex(title: str, address: str, at: datetime, moment: str) -> str:
    key = f"accelweb-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')[:60]}-{at:%Y%m%d}"
    return (
        f"@misc{{{key},\n"
        f"  title = {{{{{bibtex_text(title)}}}}},\n"
        "  author = {{accelweb}},\n"
        f"  year = {{{at:%Y}}},\n"
        f"  note = {{Figures as of {moment}}},\n"
        f"  howpublished = {{\\url{{{address}}}}}\n"
        "}"
    )
