"""How the words of a text begin: what is kept of the name of a machine, and what a search asks for.

Pure: no Django.
"""

import re
from collections.abc import Iterable, Iterator

from stackviz.pages.search.words import character_pairs, is_chinese, neighbours, split_words

MOST_WORDS = 24  # of a text
_LETTERS_OR_DIGITS = re.compile(r"\d+|\D+")


def beginnings(texts: Iterable[str], longest: int) -> frozenset[str]:
    """`Rack-07` -> r, ra, rac, rack, 0, 07, 7, rack0, rack07. Of Chinese, which has no spaces, characters and pairs."""
    return frozenset(start for text in texts for start in _beginnings(split_words(text)[:MOST_WORDS], longest))


def wanted_beginnings(query: str, longest: int) -> tuple[str, ...]:
    """What a machine must have to be found, the longest and so rarest first."""
    pieces = (piece for token in split_words(query) for piece in _pieces(token))
    return tuple(sorted({piece[:longest] for piece in pieces}, key=lambda piece: (-len(piece), piece)))


def _pieces(token: str) -> tuple[str, ...]:
    return character_pairs(token) if is_chinese(token) else (token,)


def _beginnings(words: tuple[str, ...], longest: int) -> Iterator[str]:
    for token in words:
        if is_chinese(token):
            yield from token
            yield from character_pairs(token)
        else:
            for part in _parts(token):
                yield from _starts(part, longest)
    for together in neighbours(words, most=2):  # `rack07`, as one may type it
        yield from _starts(together, longest)


def _parts(token: str) -> Iterator[str]:
    """`gpu07` -> gpu07, gpu, 07, 7."""
    yield token
    for part in _LETTERS_OR_DIGITS.findall(token):
        yield part
        if part.startswith("0") and part.strip("0"):
            yield part.lstrip("0")


def _starts(text: str, longest: int) -> Iterator[str]:
    return (text[:length] for length in range(1, min(len(text), longest) + 1))
