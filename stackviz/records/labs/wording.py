"""Sentences of findings as stored: their English in a column of text, their keys and values beside it as JSON.

What is read back is held against the English: keys that do not give it, or that are too many, count as none.
"""

from typing import Any

from stackviz.base.sentence import Sentence

__all__ = ["with_keys", "wording_of"]

MOST_DEPTH = 12  # of sentences in sentences; those of the rules have six
MOST_CHARS = 20_000  # of the keys and values of one text

Wording = dict[str, Any]  # {"key": ..., "values": {name of a place: text or Wording}}


def wording_of(text: str) -> Wording | None:
    """Return the key and the values of a sentence.

    None for a text without them, for a sentence without places, whose key is its text, and for one that is too long.
    """
    if not isinstance(text, Sentence) or not text.values or _chars_in(text) > MOST_CHARS:
        return None
    return {
        "key": text.key,
        "values": {
            name: _whole_wording(value) if isinstance(value, Sentence) else value for name, value in text.values.items()
        },
    }


def _whole_wording(text: Sentence) -> Wording:
    return wording_of(text) or {"key": text.key, "values": {}}


def _chars_in(text: str) -> int:
    if not isinstance(text, Sentence):
        return len(text)
    return len(text.key) + sum(map(_chars_in, text.values.values()))


def with_keys(wording: object, text: str) -> str:
    """Return the text with its keys where they give exactly this text; else the text as it is."""
    try:
        sentence = _read(wording, MOST_DEPTH)
    except (AttributeError, KeyError, TypeError, ValueError):
        return text
    return sentence if sentence == text else text


def _read(wording: Any, depth: int) -> str:  # noqa: ANN401 - what a column of JSON holds
    if isinstance(wording, str):
        return wording
    if not depth:
        raise ValueError("sentences in sentences without end")
    key, values = wording["key"], wording["values"]
    return Sentence(key, {name: _read(value, depth - 1) for name, value in values.items()})
