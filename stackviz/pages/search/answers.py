"""What a search answers: results in groups by kind, the group with the best one first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.search.entries import SearchKind
from stackviz.pages.search.index import SearchHit
from stackviz.pages.search.machine_hits import machine_hits
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.software_questions import software_entries
from stackviz.pages.search.versus import compared_entry
from stackviz.pages.search.words import split_words
from stackviz.records.labs.queries import Visitor

MOST_IN_GROUP = 8
MOST_SUGGESTED = 8
LONGEST_LINE = 180
LONGEST_QUESTION = 80  # characters: longer texts are messages
SENTENCE = 6  # words from which on a query may be an error message
OF_ERRORS = ("error", "fail", "exception", "fatal", "undefined", "错误", "报错", "失败", "异常")  # in a word of one


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """A result as it is shown. `name`: which other name matched; `missing`: words of the query it does not have."""

    title: str
    url: str
    kind: str
    line: str
    name: str
    missing: str
    is_best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HitGroup:
    """The results of one kind, best first. `more`: how many are left out."""

    id: str
    title: str
    hits: tuple[ShownHit, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """`groups` is empty where nothing matches. `diagnose_url`: /diagnose/ with the query in its box, or ""."""

    query: str
    has_words: bool
    groups: tuple[HitGroup, ...]
    count: int
    diagnose_url: str

    @property
    def summary(self) -> str:
        """The number of results, in words."""
        if not self.count:
            return _("No results")
        return ngettext("%(n)d result", "%(n)d results", self.count) % {"n": self.count}


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
    """Everything that matches, best first. Four queries, six where software is asked for."""
    query = question_subject(query)
    if not split_words(query):
        return []
    index = search_index()
    hits = sorted([*machine_hits(visitor, query), *index.search(query)], key=lambda hit: -hit.score)
    compared = compared_entry(index, query)
    leading = [compared] if compared else software_entries(index, query)
    score = hits[0].score if hits else 1.0
    return [
        *(SearchHit(entry, score, "", ()) for entry in leading),
        *(hit for hit in hits if hit.entry not in leading),
    ]


def answer_search(visitor: Visitor, query: str) -> SearchAnswer:
    """The answer of the page."""
    hits = ranked_hits(visitor, query)
    words = split_words(query)
    return SearchAnswer(
        query=query,
        has_words=bool(words),
        groups=_groups(hits),
        count=len(hits),
        diagnose_url=_diagnose_url(query) if words and (not hits or _is_like_an_error(words, hits)) else "",
    )


def _is_like_an_error(words: Sequence[str], hits: Sequence[SearchHit]) -> bool:
    is_about_one = hits[0].entry.kind in (SearchKind.MESSAGE, SearchKind.RULE)
    return is_about_one or len(words) >= SENTENCE or any(part in token for token in words for part in OF_ERRORS)


def _diagnose_url(query: str) -> str:
    return f"{reverse('diagnose:page')}?{urlencode({'text': query})}"


def suggested_hits(visitor: Visitor, query: str) -> tuple[ShownHit, ...]:
    """The first results, in one list."""
    return tuple(shown_hit(hit) for hit in ranked_hits(visitor, query)[:MOST_SUGGESTED])


def _groups(hits: Sequence[SearchHit]) -> tuple[HitGroup, ...]:
    by_kind: dict[SearchKind, list[SearchHit]] = {}
    for hit in hits:
        by_kind.setdefault(hit.entry.kind, []).append(hit)
    return tuple(
        HitGroup(
            id=f"group-{kind.value}",
            title=str(kind.label),
            hits=tuple(shown_hit(hit, is_best=hit is hits[0]) for hit in group[:MOST_IN_GROUP]),
            more=max(0, len(group) - MOST_IN_GROUP),
        )
        for kind, group in by_kind.items()
    )


def shown_hit(hit: SearchHit, *, is_best: bool = False) -> ShownHit:
    entry = hit.entry
    return ShownHit(
        title=entry.title,
        url=entry.url,
        kind=str(entry.kind.label),
        line=_shortened(entry.line),
        name=hit.name,
        missing=", ".join(hit.missing),
        is_best=is_best,
    )


def _shortened(text: str) -> str:
    """At most LONGEST_LINE characters, cut between words."""
    if len(text) <= LONGEST_LINE:
        return text
    cut = text[:LONGEST_LINE]
    return cut[: max(cut.rfind(" "), LONGEST_LINE // 2)].rstrip(" ,;:") + "…"
