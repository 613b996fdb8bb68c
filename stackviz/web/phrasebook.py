"""Sentences with places, `torch {torch} needs macOS {low}`, recognised in a text and translated. No Django.

Texts hold what machines reported, so nothing here backtracks: a place ends where the words after it begin, the first
time they do. What one text may cost is bounded by MOST_TRIES.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from stackviz.base.advice import parts_of
from stackviz.web.sentence_pattern import CHINESE, WIDE_SIGNS, SentencePattern, letters_in, pattern_of

__all__ = ["MOST_CHARS", "Phrasebook"]

MOST_CHARS = 6_000  # a longer text is not translated
MOST_TRIES = 1_500  # pieces of one text that are looked up
MOST_STEPS = 5_000  # readings of one text and of what stands at their places; the longest text of ours takes 2,600
MOST_SENTENCES = 40
MOST_SENTENCES_AT_ONCE = 8  # of one entry
MOST_LISTED = 16
MOST_CUTS = 12  # between two places without a word between them
MOST_DEPTH = 6  # a place in a place in a place ...

_ENDS = {".": "。", "?": "？", ":": "：", ";": "；", ",": "，"}  # signs in Chinese, the one language there is
_COMMA = "，"
_ENGLISH_WORD = re.compile(r"[a-z]+")
# A sentence ends with a sign; or with a command or a bracket, where the next one begins with a capital letter.
_SENTENCE_END = re.compile(
    r"(?<=[.?!:;]) |(?<=[)'\"\d>\]]) (?=[A-Z])| (?=(?:Also possible|Less likely|Not the cause here)\b)"
)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """A translation, and how many letters of the English it accounts for: the one that accounts for most is taken.

    `of_entry`: those of the entry itself; of two that account for as many, the longer entry is taken.
    """

    text: str
    letters: int
    of_entry: int = 0


class Phrasebook:
    """The entries of one language: whole texts by themselves, patterns by how they begin or else end."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._whole = {english: text for english, text in entries.items() if text}
        self._by_first_word: dict[str, list[SentencePattern]] = {}
        self._by_last_word: dict[str, list[SentencePattern]] = {}
        self._open: list[SentencePattern] = []
        for english, text in self._whole.items():
            pattern = pattern_of(english, text)
            if pattern is not None:
                self._add(pattern)

    def _add(self, pattern: SentencePattern) -> None:
        """By its first word or its last one, where that is whole; else among those that are tried for every text."""
        first, space, _rest = pattern.words[0].partition(" ")
        _rest, space_before, last = pattern.words[-1].rpartition(" ")
        if first and space:
            self._by_first_word.setdefault(first, []).append(pattern)
        elif last and space_before:
            self._by_last_word.setdefault(last, []).append(pattern)
        else:
            self._open.append(pattern)

    def translate(self, text: str) -> str | None:
        """None where there is no translation of the whole text."""
        return self.translate_counted(text)[0]

    def translate_counted(self, text: str) -> tuple[str | None, int]:
        """The same, and how many steps it took: at most MOST_STEPS."""
        if not text.strip() or len(text) > MOST_CHARS:
            return None, 0
        if " " not in text:
            return self.whole(text) or text, 0  # a name, or a command without options
        search = _Search(self)
        rendering = search.best(text, MOST_DEPTH)
        return (rendering.text if rendering else None), search.steps

    def whole(self, text: str) -> str | None:
        return self._whole.get(text)

    def patterns_in(self, text: str) -> list[tuple[SentencePattern, tuple[str, ...]]]:
        """The patterns that the text has, with what stands at their places."""
        by_first = self._by_first_word.get(text.partition(" ")[0], ())
        by_last = self._by_last_word.get(text.rpartition(" ")[2], ())
        likely = (
            pattern for patterns in (by_first, by_last, self._open) for pattern in patterns if pattern.mark in text
        )
        return [(pattern, values) for pattern in likely for values in pattern.readings(text)]


class _Search:
    """The translation of one text, with what was looked up for it."""

    def __init__(self, book: Phrasebook) -> None:
        self._book = book
        self._tries = 0
        self.steps = 0
        self._known: dict[tuple[str, int], _Rendering | None] = {}
        self._commands: dict[str, _Rendering | None] = {}
        self._patterns: dict[str, list[tuple[SentencePattern, tuple[str, ...]]]] = {}

    def best(self, text: str, depth: int) -> _Rendering | None:
        """As one entry, sentence by sentence or as a list."""
        key = text, depth
        if key not in self._known:
            if not self._may_go_on():
                return None
            rendering = self._as_entry(text, depth)
            for of_parts in (self._sentences, self._list):
                if rendering is None or rendering.letters < letters_in(text):
                    rendering = _most(rendering, of_parts(text, depth))
            self._known[key] = rendering
        return self._known[key]

    def _as_entry(self, text: str, depth: int) -> _Rendering | None:
        """As one entry, with or without the sign at its end, or as a command."""
        end = _ENDS.get(text[-1:])
        rendering = self._entry(text, depth)
        if end:
            sentence = _ending(self._entry(text[:-1], depth), end)
            if rendering is None or (sentence and sentence.letters >= rendering.letters):
                rendering = sentence
        if rendering is None and end is None:
            rendering = _ending(self._entry(f"{text}.", depth), "")
        return rendering or self._typed(text)

    def _typed(self, text: str) -> _Rendering | None:
        """A command or a name in one word, which is the same in every language."""
        if text not in self._commands:
            typed, end = text.rstrip(".;"), _ENDS.get(text[-1:], "")
            if " " not in text:
                self._commands[text] = None if _ENGLISH_WORD.fullmatch(typed) else _Rendering(text, 0)
            elif all(part.is_typed for part in parts_of(typed)):
                self._commands[text] = _Rendering(typed + end, letters_in(text))
            else:
                self._commands[text] = None
        return self._commands[text]

    def _entry(self, text: str, depth: int) -> _Rendering | None:
        translated = self._book.whole(text)
        if translated is not None:
            return _Rendering(translated, letters_in(text))
        best: _Rendering | None = None
        if depth:
            for pattern, values in self._patterns_in(text):
                if not self._may_go_on():
                    break
                best = _most(best, self._filled(pattern, values, depth - 1))
        return best

    def _may_go_on(self) -> bool:
        """Count a step: readings of readings are many more than the pieces that are looked up."""
        self.steps += self.steps < MOST_STEPS
        return self.steps < MOST_STEPS

    def _patterns_in(self, text: str) -> list[tuple[SentencePattern, tuple[str, ...]]]:
        if text not in self._patterns:
            self._tries += 1
            self._patterns[text] = self._book.patterns_in(text) if " " in text and self._tries <= MOST_TRIES else []
        return self._patterns[text]

    def _filled(self, pattern: SentencePattern, values: Sequence[str], depth: int) -> _Rendering:
        rendering = [self._value(value, depth) for value in values]
        for at in range(len(rendering) - 1):
            if not pattern.words[at + 1] and not values[at]:
                rendering[at : at + 2] = max(self._cuts(values[at + 1], depth), key=_letters_of)
        text = pattern.fill({name: value.text for name, value in zip(pattern.names, rendering, strict=True)})
        return _Rendering(text, pattern.letters + _letters_of(rendering), pattern.letters)

    def _value(self, value: str, depth: int) -> _Rendering:
        """What stands at a place, as it is where it has no translation."""
        rendering = self.best(value.strip(), depth) if value.strip() else None
        if rendering is None or rendering.text == value.strip():
            return _Rendering(value, 0)
        return rendering

    def _cuts(self, value: str, depth: int) -> Iterator[tuple[_Rendering, _Rendering]]:
        """What may stand at each of two places that have no word between them."""
        yield self._value("", depth), self._value(value, depth)
        yield self._value(value, depth), self._value("", depth)
        for at in [at for at, sign in enumerate(value) if sign in " ,;:"][:MOST_CUTS]:
            if self._as_entry(value[at:].strip(), depth):
                yield self._value(value[:at], depth), self._value(value[at:], depth)

    def _sentences(self, text: str, depth: int) -> _Rendering | None:
        """The text as entries one after the other; None where one of its sentences is in none."""
        ends = [match.start() for match in _SENTENCE_END.finditer(text)]
        if not ends or len(ends) > MOST_SENTENCES or not depth:
            return None
        starts = [0, *(end + 1 for end in ends)]
        ends = [*ends, len(text)]
        best: list[_Rendering | None] = [None] * len(starts) + [_Rendering("", 0)]
        for first in reversed(range(len(starts))):
            for last in range(first, min(first + MOST_SENTENCES_AT_ONCE, len(starts))):
                rest = best[last + 1]
                if rest is None or (first == 0 and last == len(starts) - 1):
                    continue  # the whole text was tried
                piece = self._as_entry(text[starts[first] : ends[last]], depth)
                if piece is not None:
                    best[first] = _most(best[first], _joined(piece, rest))
        return best[0]

    def _list(self, text: str, depth: int) -> _Rendering | None:
        """`torch is built with 12.1, the toolkit is 12.4`: each of them an entry."""
        items = text.split(", ")
        if not depth or not 1 < len(items) <= MOST_LISTED:
            return None
        rendering = [item for item in map(partial(self._entry, depth=depth - 1), items) if item]
        return (
            _Rendering(_COMMA.join(item.text for item in rendering), _letters_of(rendering))
            if len(rendering) == len(items)
            else None
        )


def _letters_of(rendering: Iterable[_Rendering]) -> int:
    return sum(each.letters for each in rendering)


def _ending(rendering: _Rendering | None, end: str) -> _Rendering | None:
    return _Rendering(rendering.text.rstrip("".join(_ENDS.values())) + end, rendering.letters) if rendering else None


def _most(rendering: _Rendering | None, other: _Rendering | None) -> _Rendering | None:
    """The one that accounts for more; the first where both do."""
    if rendering is None or other is None:
        return rendering or other
    return other if (other.letters, other.of_entry) > (rendering.letters, rendering.of_entry) else rendering


def _joined(rendering: _Rendering, rest: _Rendering) -> _Rendering:
    """Two sentences: the first one has a full stop, unless a command ends it."""
    stop = "。" if rest.text and CHINESE.match(rendering.text[-1:]) else ""
    space = "" if not rest.text or stop or rendering.text[-1:] in WIDE_SIGNS else " "
    return _Rendering(f"{rendering.text}{stop}{space}{rest.text}", rendering.letters + rest.letters)
