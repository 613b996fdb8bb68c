"""`/learn/<chapter>/`: one chapter, drawn from its text, the catalogue and what there is to try."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.learn.chapters import Chapter, read_chapters
from stackviz.pages.learn.counts import counted_things, draw_count
from stackviz.pages.learn.drawing import draw_drawing
from stackviz.pages.learn.markup import Drawers, render_section
from stackviz.pages.learn.spec_figures import draw_figure, draw_street_price, priced_accelerator
from stackviz.pages.learn.text_files import ENGLISH, TextSection
from stackviz.pages.learn.try_page import draw_try
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.stacks.models import Edition
from stackviz.web.parts import cached_parts
from stackviz.web.preview import Introduction, make_preview

__all__ = ["chapter_page", "drawn_sections", "urlpatterns"]

CACHE_S = 600


@require_safe
def chapter_page(request: HttpRequest, slug: str) -> HttpResponse:
    language = get_language() or ENGLISH
    chapters = read_chapters(language)
    chapter = next((each for each in chapters if each.slug == slug), None)
    if chapter is None:
        raise Http404(_("There is no such chapter."))
    catalogue = public_catalogue()
    context = {
        "chapter": chapter,
        "sections": drawn_sections(chapter, catalogue, language),
        "sources": chapter.sources.values(),
        "preview": make_preview(request, Introduction(chapter.title, chapter.lead), request.path),
        "before": chapters[chapter.number - 2] if chapter.number > 1 else None,
        "after": chapters[chapter.number] if chapter.number < len(chapters) else None,
    }
    return render(request, "learn/chapter.html", context)


def drawn_sections(
    chapter: Chapter, catalogue: PublicCatalogue, language: str
) -> list[tuple[TextSection, SafeString, bool]]:
    """(section, its HTML, whether it is in English since there is no translation)

    Cached for an edition of the catalogue and of the stacks: texts change with the version of the site.
    """

    def draw() -> tuple[str, ...]:
        drawers = _drawers(chapter, catalogue)
        return tuple(render_section(section, drawers) for section in chapter.sections)

    drawn = cached_parts(("chapter", chapter.slug, catalogue.edition, Edition.current()), draw, CACHE_S)
    is_other = language != ENGLISH
    return [
        (section, html, is_other and section.language == ENGLISH)
        for section, html in zip(chapter.sections, drawn, strict=True)
    ]


def _drawers(chapter: Chapter, catalogue: PublicCatalogue) -> Drawers:
    def source(key: str) -> SafeString:
        number = chapter.sources[key].number
        title = chapter.sources[key].title
        return format_html('<sup><a href="#source-{}" title="{}">{}</a></sup>', number, title, number)

    def value(words: str) -> SafeString:
        if things := counted_things(words):
            return format_html("{}", draw_count(things))
        slug = priced_accelerator(words)
        return draw_street_price(slug, catalogue) if slug else draw_figure(words, catalogue)

    return Drawers(
        value=value,
        source=source,
        figure=lambda name, caption: draw_drawing(name, caption, catalogue),
        attempt=lambda words, text: draw_try(words, text, catalogue),
    )


urlpatterns = [path("learn/<slug:slug>/", chapter_page, name="chapter")]
