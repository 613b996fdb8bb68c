"""`/learn/try/<key>/`: a thing to try, by itself, with links to the chapters that contain it."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.learn.chapters import Chapter, read_chapters
from stackviz.pages.learn.markup import references
from stackviz.pages.learn.text_files import ENGLISH
from stackviz.pages.learn.trying import ChoiceInput, NumberInput, Try, TryAnswer, TryValues, all_tries, read_values
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.http.address import Note
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import render_part
from stackviz.web.preview import Introduction, Preview, make_preview

__all__ = ["draw_try", "places_of_tries", "read_try", "try_page", "urlpatterns"]


@cache
def places_of_tries(language: str) -> Mapping[str, list[tuple[Chapter, str]]]:
    """Key of a calculation -> (chapter, address of the section) of each chapter that has it, once, in order."""
    places: dict[str, dict[int, tuple[Chapter, str]]] = defaultdict(dict)
    for chapter in read_chapters(language):
        with override(language):  # an address is of one language
            address = reverse("learn:chapter", args=[chapter.slug])
        for section in chapter.sections:
            for reference in references(section):
                if reference.kind == "try":
                    key = reference.text.split()[0]
                    places[key].setdefault(chapter.number, (chapter, f"{address}#{section.anchor}"))
    return {key: list(by_chapter.values()) for key, by_chapter in places.items()}


@require_safe
@vary_on_htmx
def try_page(request: HttpRequest, key: str) -> HttpResponse:
    """The form with its answer; htmx gets them without the page around, for this page or for a chapter."""
    attempt = all_tries().get(key)
    if attempt is None:
        raise Http404(_("There is no calculation of this name."))
    catalogue = public_catalogue()
    values, notes = read_values(attempt, request.GET, catalogue)
    answer = attempt.answered(values, catalogue)
    body = _draw(attempt, values, notes, answer, catalogue)
    if wants_partial(request):
        return HttpResponse(body)
    others = [each for each in all_tries().values() if each is not attempt]
    preview = _preview(request, attempt, values, answer, catalogue)
    places = places_of_tries(get_language() or ENGLISH).get(key, ())
    context = {"attempt": attempt, "body": body, "places": places, "others": others, "preview": preview}
    return render(request, "learn/try.html", context)


def _preview(
    request: HttpRequest, attempt: Try, values: TryValues, answer: TryAnswer, catalogue: PublicCatalogue
) -> Preview:
    """The question with its answer. Its address has every value that is not the default: a link keeps the answer."""
    defaults, _notes = read_values(attempt, {}, catalogue)
    chosen = {each.name: _text(each, values) for each in attempt.inputs if values[each.name] != defaults[each.name]}
    address = reverse("learn:try", args=[attempt.key]) + (f"?{urlencode(chosen)}" if chosen else "")
    return make_preview(request, Introduction(str(attempt.title), f"{attempt.question} {answer.sentence}"), address)


def read_try(words: str) -> tuple[str, dict[str, str]]:
    """`amdahl parallel=50 cores=8` -> the key and its parameters. Raises ValueError for words of another form."""
    key, *pairs = words.split()
    parameters = dict(pair.split("=", 1) for pair in pairs)
    return key, parameters


def draw_try(words: str, text: SafeString, catalogue: PublicCatalogue) -> SafeString:
    """A thing to try inside a chapter, with these values. Raises KeyError for one that does not exist."""
    key, parameters = read_try(words)
    attempt = all_tries()[key]
    values, notes = read_values(attempt, parameters, catalogue)
    body = _draw(attempt, values, notes, attempt.answered(values, catalogue), catalogue)
    return render_part("learn/_try_box.jinja", attempt=attempt, text=text, body=body)


def _draw(
    attempt: Try, values: TryValues, notes: tuple[Note, ...], answer: TryAnswer, catalogue: PublicCatalogue
) -> SafeString:
    return render_part(
        "learn/_try.jinja",
        key=attempt.key,
        inputs=_inputs(attempt, values, catalogue),
        notes=notes,
        answer=answer,
    )


def _inputs(
    attempt: Try, values: TryValues, catalogue: PublicCatalogue
) -> list[tuple[NumberInput | ChoiceInput, str, Mapping[str, object]]]:
    """(field of the form, its value, value -> words to choose from, empty for a number to type)"""
    return [
        (each, _text(each, values), {} if isinstance(each, NumberInput) else each.options(catalogue))
        for each in attempt.inputs
    ]


def _text(field: NumberInput | ChoiceInput, values: TryValues) -> str:
    """A value as the address and the form write it."""
    value = values[field.name]
    return field.text(float(value)) if isinstance(field, NumberInput) else str(value)


urlpatterns = [path("learn/try/<slug:key>/", try_page, name="try")]
