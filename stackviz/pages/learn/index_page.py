"""`/learn/`: the chapters and what there is to try; `/glossary/`: the terms."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.glossary import ENGLISH, read_glossary
from stackviz.pages.learn.trying import all_tries
from stackviz.web.preview import Introduction, make_preview

__all__ = ["glossary_page", "learn_index", "urlpatterns"]


@require_safe
def learn_index(request: HttpRequest) -> HttpResponse:
    language = get_language() or ENGLISH
    lead = _("What accelerators are, what limits them and how to measure it, with the figures of this site.")
    context = {
        "lead": lead,
        "preview": make_preview(request, Introduction(_("Learn"), lead), request.path),
        "chapters": read_chapters(language),
        "tries": all_tries().values(),
    }
    return render(request, "learn/index.html", context)


@require_safe
def glossary_page(request: HttpRequest) -> HttpResponse:
    lead = _("What the figures on this site mean, and common pitfalls. A small “?” beside a term links here.")
    context = {
        "lead": lead,
        "preview": make_preview(request, Introduction(_("Glossary"), lead), request.path),
        "groups": read_glossary(get_language() or ENGLISH),
    }
    return render(request, "learn/glossary.html", context)


urlpatterns = [
    path("learn/", learn_index, name="index"),
    path("glossary/", glossary_page, name="glossary"),
]
