"""`/causes/` and `/causes/<key>/`: a page for each error message that Diagnose knows, titled by the message itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.layers import Layer
from stackviz.pages.diagnose.causes import cause_page, message_questions
from stackviz.records.stacks.component_names import names_of_components
from stackviz.records.stacks.models import Component
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.messages import BY_KEY, SYMPTOMS, Symptom
from stackviz.web.finding_text import finding_words
from stackviz.web.preview import Introduction, make_preview

__all__ = ["MessageGroup", "cause", "causes", "message_groups", "urlpatterns"]


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """The messages about one layer of the stack. `layer` is its key."""

    layer: str
    title: str
    symptoms: tuple[Symptom, ...]


@require_safe
def causes(request: HttpRequest) -> HttpResponse:
    """All messages, layer by layer. One query."""
    answer = ngettext(
        "%(n)d error message of drivers, CUDA, ROCm, PyTorch and Macs: what it means, and how to fix it.",
        "%(n)d error messages of drivers, CUDA, ROCm, PyTorch and Macs: what each means, and how to fix it.",
        len(SYMPTOMS),
    ) % {"n": len(SYMPTOMS)}
    preview = make_preview(request, Introduction(_("Error messages and their causes"), answer), request.path)
    return render(request, "diagnose/causes.html", {"groups": message_groups(), "answer": answer, "preview": preview})


def message_groups() -> list[MessageGroup]:
    """From the driver's layer up: the lowest layer that complains is where to begin. One query."""
    layers = {"hardware": Layer.HARDWARE.value} | dict(Component.objects.order_by().values_list("slug", "layer"))
    by_layer: dict[str, list[Symptom]] = {}
    for symptom in SYMPTOMS:
        by_layer.setdefault(layers.get(symptom.component, ""), []).append(symptom)
    titles = {layer.value: layer.label for layer in reversed(Layer)} | {"": _("Other programs")}
    return [MessageGroup(key, title, tuple(by_layer[key])) for key, title in titles.items() if key in by_layer]


@require_safe
def cause(request: HttpRequest, key: str) -> HttpResponse:
    """One message. Three queries, more after a change of the tables."""
    symptom = BY_KEY.get(key)
    if symptom is None:
        raise Http404(_("There is no error message “%(key)s”.") % {"key": key})
    page = cause_page(symptom, rule_tables(), names_of_components())
    introduction = Introduction(symptom.message, finding_words(symptom.meaning))
    preview = make_preview(request, introduction, request.path, data=_questions_data(symptom))
    return render(request, "diagnose/cause.html", {"page": page, "preview": preview})


def _questions_data(symptom: Symptom) -> Mapping[str, object]:
    """The page as a `FAQPage` of schema.org."""
    return {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "inLanguage": "en",
        "mainEntity": [_question(name, text) for name, text in message_questions(symptom)],
    }


def _question(name: str, text: str) -> Mapping[str, object]:
    return {"@type": "Question", "name": name, "acceptedAnswer": {"@type": "Answer", "text": text}}


urlpatterns = [
    path("causes/", causes, name="causes"),
    path("causes/<slug:key>/", cause, name="cause"),
]
