"""How many accelerators a query means: `2x RTX 3090`, `a pair of 3090s`, `H100 x8`, `双卡 4090`."""

import re
from typing import NamedTuple

from stackviz.pages.search.index import SearchIndex
from stackviz.pages.search.named import begins_with_accelerator, in_singular, named_accelerators
from stackviz.pages.search.words import split_words

UNKNOWN = 0  # several, of which the query does not say how many
_WORDS: dict[str, int] = {
    "one": 1, "single": 1, "two": 2, "dual": 2, "pair": 2, "couple": 2, "twin": 2, "double": 2, "three": 3,
    "triple": 3, "four": 4, "quad": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10, "twelve": 12,
    "sixteen": 16, "several": UNKNOWN, "multiple": UNKNOWN, "multi": UNKNOWN, "many": UNKNOWN, "一": 1, "单": 1,
    "两": 2, "二": 2, "双": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "十": 10, "多": UNKNOWN,
    "几": UNKNOWN,
}  # fmt: skip
_NUMBER = r"[1-9]\d{0,5}"
_LATIN = "|".join(token for token in _WORDS if token.isascii())
_CHINESE = "".join(token for token in _WORDS if not token.isascii())
_UNIT = "[张块卡片]"
_BEFORE = re.compile(
    rf"(?<![\w.])({_NUMBER})\s*[x×*]\s*|(?<![\w.])({_NUMBER})[\s-]*(?:gpus?|cards?|pcs|units?)\s+(?:of\s+)?"
    rf"|(?<![\w.])(?:an?\s+)?({_LATIN})[\s-]+(?:(?:of|gpus?|cards?|the|my)\s+)*"
    rf"|(?<![\w.])({_NUMBER})\s*{_UNIT}\s*|([{_CHINESE}])\s*{_UNIT}\s*|(双)\s*"
    rf"|(?:\A|\b(?:on|with|using|of|have|has|got|my|our|across|for|and|vs|in|the|\d+b)\s|[用有跑在，,])\s*({_NUMBER})\s+"
    r"(?![x×*]\s|(?:gpus?|cards?|pcs|units?)\b)"
)
_AFTER = re.compile(
    rf"(?:(?<=\d)|\s)[x×*]\s*({_NUMBER})(?![\w.]|\s+(?:elite|plus))"
    rf"|(?<!one of)\s(?:(?:with|on)\s+)?({_NUMBER}|{_LATIN})[\s-]*(?:gpus?|cards?)(?!\w)"
    rf"|\s*({_NUMBER}|[{_CHINESE}])\s*{_UNIT}"
)


class CountedText(NamedTuple):
    """A text without its numbers of accelerators. `counts`: these numbers; UNKNOWN for several."""

    text: str
    counts: tuple[int, ...]


def count_accelerators(index: SearchIndex, text: str) -> CountedText:
    """Read the numbers of accelerators beside their names in a folded text."""
    counts = []
    for pattern, is_before in ((_BEFORE, True), (_AFTER, False)):
        for match in reversed(list(pattern.finditer(text))):
            if _is_beside_name(index, text, match, is_before=is_before):
                number = match[match.lastindex or 0]
                counts.append(int(number) if number.isdecimal() else _WORDS[number])
                start = match.start(match.lastindex or 0) if is_before else match.start()
                text = f"{text[:start]} {text[match.end() :]}"
    if not counts and _means_several(index, text):
        counts.append(UNKNOWN)
    return CountedText(" ".join(text.split()) if counts else text, tuple(counts))


def _means_several(index: SearchIndex, text: str) -> bool:
    """Whether it has a name in the plural, or adds one accelerator to another: `3090 + 3090`."""
    words = split_words(text)
    is_plural = in_singular(index, words) != list(words)
    return is_plural or any(begins_with_accelerator(index, split_words(part)) for part in text.split("+")[1:])


def _is_beside_name(index: SearchIndex, text: str, match: re.Match[str], *, is_before: bool) -> bool:
    after = text[match.end() :]
    if begins_with_accelerator(index, split_words(f"{match[match.lastindex or 0]} {'' if is_before else after}")):
        return False  # 4090 x 3090
    if is_before:
        return begins_with_accelerator(index, split_words(after))
    named, _others = named_accelerators(index, split_words(text[: match.start()]))
    return bool(named)
