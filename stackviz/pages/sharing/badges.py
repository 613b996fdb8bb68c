"""`/badge/...svg`: one figure as a small picture for a README. Public figures only; English; cached by everybody."""

from dataclasses import dataclass
from html import escape

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.cache import get_conditional_response
from django.utils.translation import override
from django.views.decorators.http import require_safe

from stackviz.draw.colours import INK, INK_2
from stackviz.draw.diagrams.text_width import Style, printable_line, width_of
from stackviz.pages.accelerators.introduction import headline_of, marked_text
from stackviz.pages.accelerators.standing import LadderPlace, ladder_place
from stackviz.pages.compare.comparison import measured_of
from stackviz.pages.compare.query import Address, Selection, Subject, SubjectKind
from stackviz.pages.compare.subjects import heads_of, load
from stackviz.pages.sharing.pictures import tag_of
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.series.comparability import rate_of_ranked
from stackviz.web.http.cors import close_to_other_sites

_PADDING, _HEIGHT = 7.0, 20
_TEXT = Style(11)
_LABEL, _FIGURE = INK_2.light, INK.light
_LONGEST = 60  # characters of either side


@dataclass(frozen=True, slots=True)
class Badge:
    label: str
    text: str


@require_safe
def figure_badge(request: HttpRequest, slug: str, field: str) -> HttpResponse:
    """`H100 SXM5 80GB memory bandwidth | 3,350 GB/s`"""
    catalogue = public_catalogue()
    accelerator, described = catalogue.by_slug.get(slug), FIELDS.get(field)
    if accelerator is None or described is None:
        return _unknown()
    with override("en"):
        figure = headline_of(accelerator, described, catalogue)
        label = f"{accelerator.short_name} {described.words[0]}"
        return _answer(request, Badge(label, marked_text(figure) or "not published"))


@require_safe
def rank_badge(request: HttpRequest, slug: str, field: str) -> HttpResponse:
    """`H100 SXM5 80GB memory bandwidth, rank | 12 of 180`: its place on the ladder."""
    catalogue = public_catalogue()
    accelerator, described = catalogue.by_slug.get(slug), FIELDS.get(field)
    if accelerator is None or described is None or described.is_text:
        return _unknown()
    with override("en"):
        ranked = ladder_place(described, accelerator, catalogue)
        label = f"{accelerator.short_name} {described.words[0]}, rank"
        return _answer(request, Badge(label, _place_words(ranked)))


def _place_words(ranked: LadderPlace | None) -> str:
    if ranked is None:
        return "not published"
    return f"{ranked.rank} of {ranked.count}" if ranked.rank else "announced"


@require_safe
def machine_badge(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """`dgx-07 gemm bf16 8192 | 780 TFLOPS`: the leading result of a machine of a public lab.

    A picture on any site; but no other site's script reads it, whose visitor may stand inside the lab's network.
    """
    return close_to_other_sites(_machine_answer(request, lab, slug))


def _machine_answer(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    subject = Subject(SubjectKind.MACHINE, slug, lab)
    chosen, _refused = load(Selection((subject,)), AnonymousUser())
    if not chosen:
        return _unknown()
    with override("en"):
        leading = measured_of(chosen, heads_of(chosen, Address((subject,)))).leading
        if leading is None:
            return _answer(request, Badge(chosen[0].title, "no result yet"))
        _slot, result = leading.results[0]
        label = f"{chosen[0].title} {result.title} {result.setting}"
        return _answer(request, Badge(label, rate_of_ranked(result).label))


def badge_svg(badge: Badge) -> str:
    """The badge as a file of SVG. `textLength` holds the texts to their boxes, whatever font the reader has."""
    label, text = (_shortened(part) for part in (badge.label, badge.text))
    left, right = (width_of(part, _TEXT) for part in (label, text))
    split, width = left + 2 * _PADDING, left + right + 4 * _PADDING
    title = escape(f"{label}: {text}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect width="{width:.0f}" height="{_HEIGHT}" rx="3" fill="{_LABEL}"/>'
        f'<path d="M{split:.1f} 0H{width - 3:.1f}a3 3 0 0 1 3 3V{_HEIGHT - 3}a3 3 0 0 1-3 3H{split:.1f}z" '
        f'fill="{_FIGURE}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{_text(label, _PADDING, left)}{_text(text, split + _PADDING, right)}</g></svg>\n"
    )


def _text(text: str, x: float, length: float) -> str:
    return f'<text x="{x:.1f}" y="14" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _shortened(text: str) -> str:
    printable = printable_line(text)
    return printable if len(printable) <= _LONGEST else printable[: _LONGEST - 1] + "…"


def _answer(request: HttpRequest, badge: Badge) -> HttpResponse:
    tag = f'"{tag_of(("badge", badge.label, badge.text, CatalogueEdition.current()))}"'
    response = get_conditional_response(request, etag=tag)
    if not isinstance(response, HttpResponse):
        response = HttpResponse(badge_svg(badge), content_type="image/svg+xml; charset=utf-8")
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "public, max-age=3600"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _unknown() -> HttpResponse:
    """The same for what does not exist and for what is private."""
    response = HttpResponse(badge_svg(Badge("accelweb", "unknown")), content_type="image/svg+xml; charset=utf-8")
    response.status_code = 404
    return response


urlpatterns = [
    path("badge/<slug:slug>/<slug:field>.svg", figure_badge, name="figure-badge"),
    path("badge/<slug:slug>/<slug:field>/rank.svg", rank_badge, name="rank-badge"),
    path("badge/machine/<slug:lab>/<slug:slug>/best.svg", machine_badge, name="machine-badge"),
]
