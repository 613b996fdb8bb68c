"""What a search answers: that of the router, then results in groups by kind, the group with the best one first."""

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.search.index import SearchHit, SearchKind
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.query import LINKING, Query, of_named_vendor
from stackviz.pages.search.router import place_of, route, unread_words
from stackviz.pages.search.words import split_words
from stackviz.pages.search.words_of_machines import machine_hits
from stackviz.records.labs.queries import Visitor

MOST_IN_GROUP = 8
LONGEST_QUESTION = 80  # characters: longer texts are messages
WHOLE_MESSAGE = 1.2  # score from which on the query has most words of a message
SENTENCE = 6  # words from which on a query may be an error message
OF_ERRORS = ("error", "fail", "exception", "fatal", "undefined", "错误", "报错", "失败", "异常")  # in a token of one


# How questions begin and end: words that every text has, and that error messages are full of.
_QUESTION = re.compile(
    r"\A\s*(?:what(?:'s| is| are)|what does|who is|where is|define|explain|什么是|什么叫)\s*(?:an? |the )?"
    r"([^\s?？].+?)(?: mean)?\s*[?？]*\s*\Z|\A\s*([^\s?？].+?)\s*(?:是什么|什么意思|是什么意思)\s*[?？]*\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


def question_subject(query: str) -> str:
    """What a short question asks about: `what is MPS?` -> `MPS`; any other text as it is."""
    match = _QUESTION.match(query) if len(query) <= LONGEST_QUESTION else None
    return next(filter(None, match.groups()), query) if match else query


def ranked_hits(visitor: Visitor, query: str) -> list[SearchHit]:
    """Everything that matches, the answer of the router first. At most 18 queries, nearly all for editions."""
    answers, hits = _answers_and_hits(visitor, question_subject(query))
    return [*answers, *hits]


def _answers_and_hits(visitor: Visitor, query: str) -> tuple[list[SearchHit], list[SearchHit]]:
    """(answers, the other results, the best first)."""
    if not split_words(query):
        return [], []
    index = search_index()
    wish = Query(index, query)
    matching = [*machine_hits(visitor, query), *of_named_vendor(wish, index.search(wish.text))]
    hits = sorted(matching, key=lambda hit: -hit.score)
    is_message = bool(hits) and hits[0].entry.kind is SearchKind.MESSAGE and hits[0].score >= WHOLE_MESSAGE
    entries = place_of(wish) if is_message else route(wish)
    is_release = bool(entries) and entries[0].kind is SearchKind.RELEASE  # whose digits name no accelerator
    score = hits[0].score if hits else 1.0
    others = [
        replace(hit, missing=tuple(token for token in hit.missing if token not in LINKING))
        for hit in hits
        if hit.entry not in entries and not (is_release and hit.entry.kind is SearchKind.ACCELERATOR)
    ]
    ignored = tuple(token for token in unread_words(wish) if not index.has_word(token)) if entries else ()
    return [SearchHit(entry, score, "", ignored) for entry in entries], others


def answer_search(visitor: Visitor, query: str) -> dict[str, object]:
    """Return what the page shows: the answer, results by kind, how many are left out, and a link to the diagnosis.

    `answers`: entries of the router, none where the words were searched; `ignored`: words that it did not know.
    `diagnose_url`: /diagnose/ with the query in its box, where it may be an error message; else "".
    """
    query = question_subject(query)
    answers, hits = _answers_and_hits(visitor, query)
    words = split_words(query)
    by_kind: dict[SearchKind, list[SearchHit]] = {}
    for hit in hits:
        by_kind.setdefault(hit.entry.kind, []).append(hit)
    count = len(hits) + len(answers)
    is_error = not answers and (not hits or _is_like_an_error(words, hits))
    return {
        "query": query,
        "has_words": bool(words),
        "answers": [hit.entry for hit in answers],
        "ignored": answers[0].missing if answers else (),
        "groups": [
            (kind, group[:MOST_IN_GROUP], max(0, len(group) - MOST_IN_GROUP)) for kind, group in by_kind.items()
        ],
        "summary": ngettext("%(n)d result", "%(n)d results", count) % {"n": count} if count else _("No results"),
        "diagnose_url": _diagnose_url(query) if words and is_error else "",
    }


def _is_like_an_error(words: Sequence[str], hits: Sequence[SearchHit]) -> bool:
    is_about_one = hits[0].entry.kind in (SearchKind.MESSAGE, SearchKind.RULE)
    return is_about_one or len(words) >= SENTENCE or any(part in token for token in words for part in OF_ERRORS)


def _diagnose_url(query: str) -> str:
    return f"{reverse('diagnose:page')}?{urlencode({'text': query})}"
