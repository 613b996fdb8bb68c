"""A Django check of the texts: nothing in a chapter refers to what is not there. `make lint` runs it.

Addresses outside the site are not asked; whether every link within it answers is a test.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import astuple
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.urls import Resolver404, resolve, reverse

from stackviz.pages.learn.chapters import Chapter, read_chapters
from stackviz.pages.learn.counts import COUNTS, counted_things
from stackviz.pages.learn.drawing import all_drawings
from stackviz.pages.learn.glossary import ENGLISH, read_glossary
from stackviz.pages.learn.markup import Reference, references
from stackviz.pages.learn.spec_figures import UnreadableFigure, priced_accelerator, read_figure
from stackviz.pages.learn.text_files import TextFault, TextSection
from stackviz.pages.learn.try_page import read_try
from stackviz.pages.learn.trying import all_tries
from stackviz.records.catalog.files import read_catalogue

__all__ = ["check_texts", "list_faults"]


@register("texts", deploy=True)
def check_texts(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    return [Error(fault, id="accelweb.E012") for fault in list_faults()]


def list_faults() -> Iterator[str]:
    """`chapter.md:12: …` for each reference that leads nowhere, in every language; the first malformed file alone."""
    try:
        chapters = [chapter for language in _languages() for chapter in read_chapters(language)]
        anchors = _anchors()
    except TextFault as fault:
        yield str(fault)
        return
    specs: set[tuple[str, ...]] = set()
    catalogue = read_catalogue()
    for line in catalogue.specs:
        if line.status == "public":
            specs |= {(line.device, line.field), (line.device, line.field, line.condition)}
    for price in catalogue.prices:
        if (price.kind, price.status) == ("street", "public"):
            specs.add((price.device, "street_price"))
    for sources, section in dict.fromkeys(placed for chapter in chapters for placed in _placed(chapter)):
        for reference in references(section):
            problem = _problem(reference, sources, anchors, specs)
            if problem:
                yield f"{section.path.parent.parent.name}/{section.path.name}:{reference.line}: {problem}"


def _languages() -> list[str]:
    return [code for code, _name in settings.LANGUAGES]


def _placed(chapter: Chapter) -> Iterator[tuple[frozenset[str], TextSection]]:
    for section in chapter.sections:
        yield frozenset(chapter.sources), section


def _anchors() -> dict[str, set[str]]:
    """Address -> its anchors, of the pages whose anchors these texts decide."""
    terms = {term.anchor for group in read_glossary(ENGLISH) for term in group.terms}
    groups = {group.anchor for group in read_glossary(ENGLISH)}
    anchors = {reverse("learn:glossary"): terms | groups, reverse("learn:index"): {"try"}}
    for chapter in read_chapters(ENGLISH):
        anchors[reverse("learn:chapter", args=[chapter.slug])] = {section.anchor for section in chapter.sections}
    return anchors


def _problem(
    reference: Reference, sources: Collection[str], anchors: Mapping[str, set[str]], specs: Collection[tuple[str, ...]]
) -> str:
    """What is wrong with it; "" for nothing."""
    text = reference.text
    match reference.kind:
        case "source":
            return "" if text in sources else f"no source is called '{text}'"
        case "figure":
            return "" if text in all_drawings() else f"no drawing is called '{text}'"
        case "try":
            return _problem_of_try(text)
        case "spec":
            return _problem_of_figure(text, specs)
        case "link":
            return _problem_of_link(text, anchors)


def _problem_of_try(text: str) -> str:
    try:
        key, parameters = read_try(text)
    except ValueError:
        return f"'try {text}' is not a name and pairs such as cores=8"
    if key not in all_tries():
        return f"there is nothing to try called '{key}'"
    unknown = parameters.keys() - {each.name for each in all_tries()[key].inputs}
    return f"{key} has no input called '{min(unknown)}'" if unknown else ""


def _problem_of_figure(text: str, specs: Collection[tuple[str, ...]]) -> str:
    if things := counted_things(text):
        return "" if things in COUNTS else f"nothing counts '{things}'"
    slug = priced_accelerator(text)
    if slug:
        return "" if (slug, "street_price") in specs else f"the catalogue has no street price of '{slug}'"
    try:
        names = read_figure(text)
    except UnreadableFigure as problem:
        return str(problem)
    missing = [name for name in names if tuple(filter(None, astuple(name))) not in specs]
    if not missing:
        return ""
    under = f" under '{missing[0].condition}'" if missing[0].condition else ""
    return f"the catalogue has no {missing[0].field} of '{missing[0].accelerator}'{under}"


def _problem_of_link(text: str, anchors: Mapping[str, set[str]]) -> str:
    address = urlsplit(text)
    if address.scheme:
        return "" if address.scheme == "https" else f"'{text}' is not an https address"
    try:
        resolve(address.path)
    except Resolver404:
        return f"no page has the address '{address.path}'"
    known = anchors.get(address.path)
    if known is None:
        is_chapter = address.path.startswith(reverse("learn:index")) and "/try/" not in address.path
        return f"there is no chapter '{address.path}'" if is_chapter else ""
    return f"'{address.path}' has no anchor '{address.fragment}'" if address.fragment not in {"", *known} else ""
