"""Wishes before words: the kinds of questions that have one answer, in the order in which they are tried.

A kind has a pattern that its questions match, and a resolver that makes the answer: a page of this site and a sentence.
A resolver that cannot tell what is meant answers nothing, and the next kind is tried; what is left goes to the index.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from stackviz.pages.search import hardware_answers, software_answers
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.query import Query, accelerator_by_tail, content_words, entry_at, names_of_kind
from stackviz.pages.search.synonyms import PLACES
from stackviz.pages.search.words import joined_words, split_words

__all__ = ["KINDS", "QuestionKind", "route"]

Resolver: TypeAlias = Callable[[Query], list[SearchEntry]]
_ANYTHING = re.compile("")
MOST_WORDS = 16  # of a question; longer texts are messages and dumps


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """`pattern`: is searched in the folded text. `resolve`: the answers, the best first; none where it is no such."""

    name: str
    pattern: re.Pattern[str]
    resolve: Resolver


def route(query: Query) -> list[SearchEntry]:
    """The answers of the first kind that has any; [] where the words must be searched."""
    if not 0 < len(query.words) <= MOST_WORDS:
        return []
    for kind in KINDS:
        if kind.pattern.search(query.text) and (answers := kind.resolve(query)):
            return answers
    return []


def place_of(query: Query) -> list[SearchEntry]:
    """What the whole query is a phrase for."""
    phrases = (query.text, " ".join(content_words(query.words)))
    entries = (entry_at(query.index, PLACES[phrase]) for phrase in phrases if phrase in PLACES)
    return [entry for entry in entries if entry][:1]


_NAMED_KINDS = (SearchKind.COMPONENT, SearchKind.OPERATOR, SearchKind.TERM, SearchKind.BENCHMARK, SearchKind.STACK)


def exact_name(query: Query) -> list[SearchEntry]:
    """What the whole query is the name of."""
    name = joined_words(split_words(query.text))
    entries = (names_of_kind(query.index, kind).get(name) for kind in _NAMED_KINDS)
    return [entry for entry in entries if entry][:1]


def exact_card(query: Query) -> list[SearchEntry]:
    """The accelerator whose name ends with the query: `3060` is the RTX 3060, not the 3060 Ti."""
    entry = accelerator_by_tail(query.index, query.words)
    return [entry] if entry else []


KINDS: tuple[QuestionKind, ...] = (
    QuestionKind("place", _ANYTHING, place_of),
    QuestionKind("newest release", software_answers.NEWEST, software_answers.newest_release),
    QuestionKind("release", re.compile(r"\d"), software_answers.release_answers),
    QuestionKind("comparison", hardware_answers.COMPARING, hardware_answers.comparison_answer),
    QuestionKind("name", _ANYTHING, exact_name),
    QuestionKind("does it fit", re.compile(r"\d|llama|phi"), hardware_answers.model_fit),
    QuestionKind("what can it run", hardware_answers.RUNNING, hardware_answers.models_for),
    QuestionKind("cheapest", hardware_answers.CHEAPEST, hardware_answers.cheapest_answer),
    QuestionKind("fastest", hardware_answers.FASTEST, hardware_answers.fastest_answer),
    QuestionKind("most of a field", hardware_answers.MOST, hardware_answers.most_of_field),
    QuestionKind("price", hardware_answers.PRICE, hardware_answers.price_answer),
    QuestionKind("counterpart", software_answers.OTHER_STACK, software_answers.counterpart_answer),
    QuestionKind("plan", software_answers.PLANNING, software_answers.plan_answer),
    QuestionKind("why slow", software_answers.SLOW, software_answers.slow_answer),
    QuestionKind("card", re.compile(r"\d"), exact_card),
)
