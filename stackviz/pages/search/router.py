"""Wishes before words: the kinds of questions that have one answer, in the order in which they are tried.

A kind has a pattern that its questions match, and a resolver that makes the answer: a page of this site and a sentence.
A resolver that cannot tell what is meant answers nothing, and the next kind is tried; what is left goes to the index.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from stackviz.pages.search import card_answers, hardware_answers, place_answers, software_answers
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.named import VENDORS
from stackviz.pages.search.query import Query, accelerator_by_tail, content_words, entry_at, names_of_kind
from stackviz.pages.search.synonyms import PLACES
from stackviz.pages.search.words import is_chinese, joined_words, split_words

__all__ = ["KINDS", "QuestionKind", "route", "unread_words"]

Resolver: TypeAlias = Callable[[Query], list[SearchEntry]]
_ANYTHING = re.compile("")
MOST_WORDS = 16  # of a question besides names of accelerators; longer texts are messages and dumps


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """`pattern`: is searched in the folded text. `resolve`: the answers, the best first; none where it is no such.

    `most_foreign`: as many words may name something else, which the question is then not about.
    """

    name: str
    pattern: re.Pattern[str]
    resolve: Resolver
    most_foreign: int = MOST_WORDS


def route(query: Query) -> list[SearchEntry]:
    """The answers of the first kind that has any; [] where the words must be searched."""
    if not query.words or len(query.unnamed.split()) > MOST_WORDS:
        return []
    others = (token for token in unread_words(query) if not (token.isdecimal() or is_chinese(token)))
    foreign = sum(map(query.index.names_anything, others))
    for kind in KINDS:
        if foreign <= kind.most_foreign and kind.pattern.search(query.text) and (answers := kind.resolve(query)):
            return answers
    return []


def unread_words(query: Query) -> list[str]:
    """The words that are neither names of models and accelerators nor anything that a kind of question asks."""
    return query.foreign_words(*_READ, words=_READ_WORDS)


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
    entry = accelerator_by_tail(query.index, query.words) or query.only_card
    return [entry] if entry else []


# What the kinds below ask for, in their words.
_READ = (
    card_answers.COMPARING, card_answers.MACHINES, card_answers.OWNERS, card_answers.RESULTS, hardware_answers.CHEAPEST,
    hardware_answers.FASTEST, hardware_answers.MOST, hardware_answers.PRICE, hardware_answers.RUNNING,
    software_answers.NEWEST, software_answers.SUPPORT,
)  # fmt: skip
_READ_WORDS = (
    hardware_answers.FIT_WORDS | hardware_answers.PRICE_WORDS | software_answers.SYSTEMS.keys()
    | software_answers.SOFTWARE | VENDORS.keys()
)  # fmt: skip

KINDS: tuple[QuestionKind, ...] = (
    QuestionKind("place", _ANYTHING, place_of),
    QuestionKind("roofline", place_answers.ROOFLINE, place_answers.roofline_answer),
    QuestionKind("embedding", place_answers.EMBEDDING, place_answers.embedding_answer),
    QuestionKind("reporting", place_answers.REPORTING, place_answers.reporting_answer),
    QuestionKind("over time", place_answers.OVER_TIME, place_answers.timeline_answer, 2),
    QuestionKind("newest release", software_answers.NEWEST, software_answers.newest_release),
    QuestionKind("release", re.compile(r"\d"), software_answers.release_answers),
    QuestionKind("does it fit", re.compile(r"\d|llama|phi"), hardware_answers.model_fit, 3),
    QuestionKind("comparison", card_answers.COMPARING, card_answers.comparison_answer),
    QuestionKind("name", _ANYTHING, exact_name),
    QuestionKind("side by side", _ANYTHING, card_answers.cards_side_by_side, 2),
    QuestionKind("owners", card_answers.OWNERS, card_answers.machines_answer, 1),
    QuestionKind("what can it run", hardware_answers.RUNNING, hardware_answers.models_for, 1),
    QuestionKind("price", hardware_answers.PRICE, card_answers.price_answer, 2),
    QuestionKind("cheapest", hardware_answers.CHEAPEST, hardware_answers.cheapest_answer),
    QuestionKind("fastest", hardware_answers.FASTEST, hardware_answers.fastest_answer),
    QuestionKind("most of a field", hardware_answers.MOST, hardware_answers.most_of_field),
    QuestionKind("counterpart", software_answers.OTHER_STACK, software_answers.counterpart_answer),
    QuestionKind("machines", card_answers.MACHINES, card_answers.machines_answer, 1),
    QuestionKind("figure", _ANYTHING, card_answers.figure_answer, 1),
    QuestionKind("figure of a vendor", _ANYTHING, hardware_answers.figure_of_vendor),
    QuestionKind("plan", software_answers.PLANNING, software_answers.plan_answer, 2),
    QuestionKind("on a system", card_answers.ON_SYSTEM, card_answers.machines_answer, 1),
    QuestionKind("why slow", software_answers.SLOW, software_answers.slow_answer),
    QuestionKind("results", card_answers.RESULTS, card_answers.results_answer, 1),
    QuestionKind("releases", re.compile(r"\d"), software_answers.releases_among_words, 2),
    QuestionKind("card", _ANYTHING, exact_card, 0),
)
