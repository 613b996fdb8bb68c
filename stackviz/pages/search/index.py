"""The index of a search: words of all entries, prepared once; what matches a query, best first.

A word of a query matches a word of an entry that is the same, begins with it, or is one or two letters off. An entry's
score is the share of the query that it has, rare words counting more, plus how near its names are to the whole query.
Pure: no database.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from stackviz.pages.search.words import character_pairs, digits_of, is_chinese, joined_words, neighbours, split_words


class SearchKind(TextChoices):
    """What an entry is. Of entries that match alike, those of the first kinds come first."""

    ACCELERATOR = "accelerator", _("Accelerators")
    RELEASE = "release", _("Releases")
    COMPONENT = "component", _("Components")
    OPERATOR = "operator", _("Operators")
    TERM = "term", _("Glossary")
    FIELD = "field", _("Fields of spec sheets")
    MESSAGE = "message", _("Error messages")
    BENCHMARK = "benchmark", _("Benchmarks")
    MODEL = "model", _("Language models")
    STACK = "stack", _("Stacks")
    HOST = "host", _("Public hosts")
    MACHINE = "machine", _("Machines")
    RULE = "rule", _("Checks of the diagnosis")
    CLAIM = "claim", _("Claims")
    PAGE = "page", _("Pages of this site")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEntry:
    """One thing with an address.

    `line`: what it is, in one line. `names`: other names; a result says which of them matched. `keywords`, `text`:
    words that count less than a name, and much less.
    """

    kind: SearchKind
    title: str
    url: str
    line: str
    names: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    text: str = ""

    @property
    def short_line(self) -> str:
        """The line, cut between words where it is longer than LONGEST_LINE characters."""
        if len(self.line) <= LONGEST_LINE:
            return self.line
        cut = self.line[:LONGEST_LINE]
        return cut[: max(cut.rfind(" "), LONGEST_LINE // 2)].rstrip(" ,;:") + "…"


LONGEST_LINE = 180
# What a match in each part of an entry counts.
IN_TITLE, IN_NAMES, IN_KEYWORDS, IN_TEXT = 1.0, 0.9, 0.7, 0.35
ENOUGH = 0.33  # of the query: less than a text that has all its words
LEAST_SCORE = 0.25  # where nothing has enough, the best entries that have this much
SENTENCE = 6  # words from which on it is not said which of them are missing
MOST_WORDS = 24  # of a query
MOST_PIECES = 48  # words and pairs of Chinese characters
MOST_PREFIXED = 200  # words that begin with a word of the query
PRIORITIES = {kind: 0.01 * (len(SearchKind) - at) for at, kind in enumerate(SearchKind)}
MOST_OF_A_MESSAGE = 0.75  # of its words: a text that has these is about it
NEAR_NAME = 0.15  # nearness of a name that is shown beside the title

Matches = dict[str, float]  # word of the index -> how well it matches


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entry and how well it matches. `name`: the other name that matched, "" for the title.

    `missing`: words of the query that the entry does not have.
    """

    entry: SearchEntry
    score: float
    name: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _QueryPart:
    """A word of the query, or a pair of Chinese characters. `importance`: rare words count more."""

    text: str
    matches: Matches
    importance: float


class SearchIndex:
    """Entries by their words. Never modified once made: threads share it."""

    def __init__(self, entries: Iterable[SearchEntry]) -> None:
        self.entries = tuple(entries)
        self._weights: dict[str, dict[int, float]] = defaultdict(dict)
        for number, entry in enumerate(self.entries):
            for token, weight in _weighted_words(entry):
                of_token = self._weights[token]
                of_token[number] = max(weight, of_token.get(number, 0.0))
        self._weights = dict(self._weights)
        self._words = sorted(self._weights)
        self._latin = [token for token in self._words if not is_chinese(token) and len(token) > 2]
        self._names = [_comparable_names(entry) for entry in self.entries]
        self._messages = [
            (number, frozenset(split_words(wording)))
            for number, entry in enumerate(self.entries)
            if entry.kind == SearchKind.MESSAGE
            for wording in (entry.title, *entry.names)
        ]

    def search(self, query: str) -> list[SearchHit]:
        """Matching entries, the best first."""
        words = split_words(query)[:MOST_WORDS]
        parts = self._query_parts(words)
        if not parts:
            return []
        best = self._best_matches(parts)
        scores = self._shares(parts, best)
        self._add_messages(words, scores)
        hits = [self._hit(number, scores[number], words, parts, best) for number in sorted(scores)]
        return sorted(hits, key=lambda hit: -hit.score)  # stable: alike ones stay in the order of the entries

    def has_word(self, token: str) -> bool:
        return token in self._weights

    def names_anything(self, token: str) -> bool:
        """Whether an entry has this word in its title, a name or a keyword."""
        return max(self._weights.get(token, {}).values(), default=0.0) >= IN_KEYWORDS

    # --- words of the query ---

    def _query_parts(self, words: tuple[str, ...]) -> list[_QueryPart]:
        pieces = list(dict.fromkeys(piece for token in words for piece in _pieces(token)))[:MOST_PIECES]
        parts = [(piece, self._matches(piece)) for piece in pieces]
        together = set(neighbours(words, most=2)) & self._weights.keys()
        for pair in together:  # "cu dnn" is cudnn: both words match what has it in one piece
            for piece, matches in parts:
                if pair.startswith(piece) or pair.endswith(piece):
                    matches[pair] = 1.0
        return [_QueryPart(piece, matches, self._importance(piece, matches)) for piece, matches in parts]

    def _matches(self, piece: str) -> Matches:
        if is_chinese(piece):
            return {piece: 1.0} if piece in self._weights else {}
        matches = dict(self._beginning_with(piece))
        if piece in self._weights:
            matches[piece] = 1.0
        elif not matches or len(piece) > 3:  # of three letters only where nothing begins so
            for token, quality in self._similar(piece):
                matches[token] = max(quality, matches.get(token, 0.0))
        return matches

    def _beginning_with(self, piece: str) -> Iterator[tuple[str, float]]:
        if len(piece) < 2:
            return
        start = bisect_left(self._words, piece)
        for token in self._words[start : start + MOST_PREFIXED]:
            if not token.startswith(piece):
                return
            yield token, 0.55 + 0.35 * len(piece) / len(token)

    def _similar(self, piece: str) -> Iterator[tuple[str, float]]:
        """Words one letter off, two where the word is long; never other numbers."""
        if len(piece) < 3:
            return
        most = 1 if len(piece) < 6 else 2
        digits = digits_of(piece)
        for token, distance, _at in process.extract(
            piece, self._latin, scorer=OSA.distance, score_cutoff=most, limit=None
        ):
            if digits_of(token) == digits:
                yield token, 0.9 - 1.2 * distance / max(len(piece), len(token))

    def _importance(self, piece: str, matches: Matches) -> float:
        """Of a word that nothing has: as much as of one that every tenth entry has."""
        words = [piece] if is_chinese(piece) and piece in matches else matches
        count = len(set().union(*(self._weights[token] for token in words))) or len(self.entries) // 10
        return math.log(1.5 + len(self.entries) / max(1, count))

    # --- entries ---

    def _best_matches(self, parts: Sequence[_QueryPart]) -> dict[int, list[float]]:
        """Number of an entry -> how well it matches each part."""
        best: dict[int, list[float]] = {}
        for at, part in enumerate(parts):
            for token, quality in part.matches.items():
                for number, weight in self._weights[token].items():
                    row = best.setdefault(number, [0.0] * len(parts))
                    row[at] = max(row[at], quality * weight)
        return best

    def _shares(self, parts: Sequence[_QueryPart], best: dict[int, list[float]]) -> dict[int, float]:
        """Number of an entry -> the share of the query it has, for those with enough of it."""
        total = sum(part.importance for part in parts)
        importances = [part.importance for part in parts]
        is_long = [len(part.text) > 1 for part in parts]
        shares = {
            number: sum(quality * importance for quality, importance in zip(row, importances, strict=True)) / total
            for number, row in best.items()
            if any(map(mul, row, is_long))  # nothing matches by one character alone
        }
        most = max(shares.values(), default=0.0)
        least = min(ENOUGH, max(0.9 * most, LEAST_SCORE))
        return {number: share for number, share in shares.items() if share >= least}

    def _add_messages(self, words: tuple[str, ...], scores: dict[int, float]) -> None:
        """Error messages that the query has in it in one of their wordings, among whatever else was pasted."""
        for number, message in self._messages:
            share = len(message.intersection(words)) / len(message)
            if share >= MOST_OF_A_MESSAGE:
                scores[number] = max(scores.get(number, 0.0), 0.5 + share)

    def _hit(
        self,
        number: int,
        share: float,
        words: tuple[str, ...],
        parts: Sequence[_QueryPart],
        best: dict[int, list[float]],
    ) -> SearchHit:
        entry = self.entries[number]
        nearness, at = _nearness(joined_words(words), self._names[number])
        qualities = dict(zip((part.text for part in parts), best.get(number, []), strict=False))
        missing = [token for token in words if not any(qualities.get(piece) for piece in _pieces(token))]
        is_named = nearness > NEAR_NAME and any(token in self._names[number][at] for token in words)
        name = entry.names[at - 1] if at and is_named else ""
        nearness = min(nearness, NEAR_NAME) if entry.kind == SearchKind.HOST else nearness  # behind its accelerator
        score = share + nearness + PRIORITIES[entry.kind]
        is_sentence = len(words) >= SENTENCE
        return SearchHit(entry, score, name, () if is_sentence else tuple(missing))


def _pieces(token: str) -> tuple[str, ...]:
    return character_pairs(token) if is_chinese(token) else (token,)


def _weighted_words(entry: SearchEntry) -> Iterator[tuple[str, float]]:
    for text in (entry.title, *entry.names, *entry.keywords):
        weight = IN_TITLE if text is entry.title else IN_NAMES if text in entry.names else IN_KEYWORDS
        words = split_words(text)
        for token in words:
            yield from _indexed(token, weight)
        for together in neighbours(words):
            yield together, weight
    for token in split_words(f"{entry.line} {entry.text}"):
        yield from ((piece, IN_TEXT) for piece in _pieces(token) if len(piece) > 1)


def _indexed(token: str, weight: float) -> Iterator[tuple[str, float]]:
    if is_chinese(token):
        yield from ((character, weight) for character in token)
    yield from ((piece, weight) for piece in _pieces(token))


def _comparable_names(entry: SearchEntry) -> tuple[str, ...]:
    return tuple(joined_words(split_words(name)) for name in (entry.title, *entry.names))


def _nearness(query: str, names: Sequence[str]) -> tuple[float, int]:
    """(how near the query is to one of the names, 0 to 1; which of them). The same name: 1."""
    nearest, at = 0.0, 0
    for number, name in enumerate(names):
        likeness = fuzz.ratio(query, name) / 100
        near = 1.0 if query == name else 0.5 * likeness**2 + (0.2 if name.startswith(query) else 0.0)
        if near > nearest + (0.02 if number else 0.0):  # the title where it is as near as another name
            nearest, at = near, number
    return nearest, at
