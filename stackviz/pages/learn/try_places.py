"""Which chapters have a calculation to try, with the section it stands in."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.urls import reverse
from django.utils.translation import override

from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.markup import references

__all__ = ["TryPlace", "places_of_tries"]


@dataclass(frozen=True, slots=True)
class TryPlace:
    """`number`, `title`: of the chapter; `url`: with the section's anchor."""

    number: int
    title: str
    url: str


@cache
def places_of_tries(language: str) -> Mapping[str, tuple[TryPlace, ...]]:
    """Key of a calculation -> each chapter that has it, once, in order."""
    places: dict[str, dict[int, TryPlace]] = defaultdict(dict)
    for chapter in read_chapters(language):
        with override(language):  # an address is of one language
            address = reverse("learn:chapter", args=[chapter.slug])
        for section in chapter.sections:
            for reference in references(section):
                if reference.kind == "try":
                    key = reference.text.split()[0]
                    standing = TryPlace(chapter.number, chapter.title, f"{address}#{section.anchor}")
                    places[key].setdefault(chapter.number, standing)
    return {key: tuple(by_chapter.values()) for key, by_chapter in places.items()}
