"""Texts as the search compares them: words without case and signs; Chinese, which has no spaces, in pairs.

Pure: no Django.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_WORD = 40  # characters that are compared; names of kernels are longer
_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN = re.compile(rf"[{_CHINESE}]+|[^\W_{_CHINESE}]+")
_IS_CHINESE = re.compile(rf"[{_CHINESE}]")
_DIGITS = re.compile(r"\d+")


def split_words(text: str) -> tuple[str, ...]:
    """`NVIDIA_H100 (SXM5)` -> nvidia, h100, sxm5. A run of Chinese characters is one word."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return tuple(run[:LONGEST_WORD] for run in _RUN.findall(folded))


def is_chinese(token: str) -> bool:
    return bool(_IS_CHINESE.match(token))


def joined_words(words: Iterable[str]) -> str:
    """All words in one piece: `rtx4090`, however it is spaced."""
    return "".join(words)


def neighbours(words: tuple[str, ...], most: int = 3) -> Iterator[str]:
    """Words that stand side by side, in one piece: of `rtx 4090 ti` rtx4090, 4090ti and rtx4090ti."""
    for length in range(2, most + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if not any(map(is_chinese, run)):
                yield joined_words(run)[:LONGEST_WORD]


def character_pairs(token: str) -> tuple[str, ...]:
    """`显存带宽` -> 显存, 存带, 带宽; a single character is itself."""
    return tuple(token[at : at + 2] for at in range(len(token) - 1)) or (token,)


def digits_of(token: str) -> tuple[str, ...]:
    """The numbers in a word: a 4080 is no mistyped 4090."""
    return tuple(_DIGITS.findall(token))
