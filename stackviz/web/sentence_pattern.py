"""One sentence with places, `torch {torch} needs macOS {low}`: recognised in a text, and filled in its translation.

Nothing here backtracks: a place ends where the words after it begin, the first time they do. No Django.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["CHINESE", "WIDE_SIGNS", "SentencePattern", "letters_in", "pattern_of"]

CHINESE = re.compile(r"[\u4e00-\u9fff]")
WIDE_SIGNS = "。？！：；，、（）"  # as wide as a character
LEAST_LETTERS = 3  # of the words of a pattern: `{a}: {b}` would be recognised everywhere

_GAP = re.compile(r"\{(\w+)\}")
_LETTERS = re.compile(r"[A-Za-z]")
_NUMBER = re.compile(r"[\d.,]{1,20}(?:e[-+]\d{1,3})?")
_COUNTED = "n_"  # how the name of a place begins that holds a number


@dataclass(frozen=True, slots=True)
class SentencePattern:
    """`words` stand before, between and after the places; `names` are those of the places in this order.

    `mark`: the longest of the words; a text without it is not of this pattern.
    """

    words: tuple[str, ...]
    names: tuple[str, ...]
    translation: str
    letters: int
    mark: str

    def readings(self, text: str) -> Iterator[tuple[str, ...]]:
        """What may stand at the places; none where the text is not of this pattern.

        Words that occur more than once are taken where they occur first, or all where they occur last.
        """
        begin, end = len(self.words[0]), len(text) - len(self.words[-1])
        if begin > end or not (text.startswith(self.words[0]) and text.endswith(self.words[-1])):
            return
        leftmost = self._leftmost(text, begin, end)
        if leftmost is None:
            return
        readings = [leftmost]
        if len(self.words) > 2:
            readings.append(self._rightmost(text, begin, end))
        for values in dict.fromkeys(readings):
            counted = (value for name, value in zip(self.names, values, strict=True) if name.startswith(_COUNTED))
            if all(map(_NUMBER.fullmatch, counted)):
                yield values

    def _leftmost(self, text: str, begin: int, end: int) -> tuple[str, ...] | None:
        values = []
        for words in self.words[1:-1]:
            at = text.find(words, begin, end)
            if at < 0:
                return None
            values.append(text[begin:at])
            begin = at + len(words)
        return (*values, text[begin:end])

    def _rightmost(self, text: str, begin: int, end: int) -> tuple[str, ...]:
        """There is one where there is a leftmost."""
        values = []
        for words in reversed(self.words[1:-1]):
            at = text.rfind(words, begin, end)
            values.append(text[at + len(words) : end])
            end = at
        return (text[begin:end], *reversed(values))

    def fill(self, values: Mapping[str, str]) -> str:
        """The translation with these values, and a space where Chinese meets a Latin letter or number."""
        rendering = ""
        for at, part in enumerate(_GAP.split(self.translation)):
            rendering = _joined(rendering, values[part] if at % 2 else part)
        return rendering


def pattern_of(english: str, translation: str) -> SentencePattern | None:
    """None for a text without places, and for one with too few words of its own to be recognised by."""
    parts = _GAP.split(english)
    words, names = tuple(parts[::2]), tuple(parts[1::2])
    letters = sum(map(letters_in, words))
    if not names or letters < LEAST_LETTERS:
        return None
    return SentencePattern(words, names, translation, letters, max(words, key=len))


def letters_in(text: str) -> int:
    """Its letters."""
    return len(_LETTERS.findall(text))


def _joined(text: str, more: str) -> str:
    """Put together: a space between Chinese and Latin, none beside a sign that is as wide as a character."""
    if not text.strip() or not more.strip():
        return text + more
    before, after = text.rstrip(" ")[-1], more.lstrip(" ")[0]
    if _is_wide(before) and _is_wide(after):
        return text.rstrip(" ") + more.lstrip(" ")
    is_tight = text[-1] != " " and more[0] != " "
    is_change = (CHINESE.match(before) and _is_latin(after)) or (_is_latin(before) and CHINESE.match(after))
    return f"{text} {more}" if is_tight and is_change else text + more


def _is_wide(sign: str) -> bool:
    return sign in WIDE_SIGNS or bool(CHINESE.match(sign))


def _is_latin(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()
