"""`/learn/`: the chapters, what there is to try, and the glossary."""

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

__all__ = ["learn_index", "urlpatterns"]


@require_safe
def learn_index(request: HttpRequest) -> HttpResponse:
    language = get_language() or ENGLISH
    lead = _("What accelerators are, what limits them and how to measure it, with the figures of this site.")
    context = {
        "lead": lead,
        "preview": make_preview(request, Introduction(_("Learn"), lead), request.path),
        "chapters": read_chapters(language),
        "tries": all_tries().values(),
        "groups": read_glossary(language),
    }
    return render(request, "learn/index.html", context)


urlpatterns = [path("learn/", learn_index, name="index")]
