"""Links to sections of chapters, for pages of any room."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.text_files import ENGLISH

register = template.Library()


@register.simple_tag
def chapter_link(section_name: str) -> SafeString:
    """A link to `cards-and-rules#sparse`, named for chapter and section in the language of the page.

    Raises LookupError where there is no such section: `tests/pages/accelerators` looks at each one that a claim names.
    """
    slug, _hash, anchor = section_name.partition("#")
    chapter = next((each for each in read_chapters(get_language() or ENGLISH) if each.slug == slug), None)
    section = next((each for each in chapter.sections if each.anchor == anchor), None) if chapter else None
    if chapter is None or section is None:
        raise LookupError(f"no section of a chapter is called {section_name!r}")
    address = reverse("learn:chapter", args=[slug])
    title = _("%(chapter)s: %(section)s") % {"chapter": chapter.title, "section": section.title}
    return format_html('<a href="{}#{}">{}</a>', address, anchor, title)


@register.simple_tag
def chapter_title(slug: str) -> str:
    """The title of a chapter in the language of the page."""
    return next(each.title for each in read_chapters(get_language() or ENGLISH) if each.slug == slug)
