"""Sentences that can be translated: an English text that remembers its template and what was put into it.

Whoever writes one needs nothing but `say`; whoever reads one sees a plain English text. Only a page in another language
asks for its key. Standard library only; imports nothing of ours.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

__all__ = ["Sentence", "cut_at_places", "join_sentences", "say"]

_PLACES = re.compile(r"\{(\w+)\}")


class Sentence(str):
    """An English text, and how it was made.

    `key`: the template, `torch {torch} needs macOS {low}`, which is looked up without spaces around it.
    `values`: what fills its places; texts that a machine reported, and further sentences.
    """

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, str]

    def __new__(cls, key: str, values: Mapping[str, str]) -> "Sentence":
        """Raise ValueError if the places of the key are not those of the values.

        A value is put in once: what looks like a place in it stays as it is.
        """
        parts = cut_at_places(key)
        if len(values) != len(parts) // 2 or values.keys() != set(parts[1::2]):
            raise ValueError(f"{key!r} has other places than {sorted(values)}")
        text = "".join(values[part] if index % 2 else part for index, part in enumerate(parts))
        sentence = super().__new__(cls, text)
        object.__setattr__(sentence, "key", key)
        object.__setattr__(sentence, "values", MappingProxyType(dict(values)))
        return sentence

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a sentence does not change: {name}")

    def __reduce__(self) -> tuple[object, ...]:
        """Let copies and pickles keep the key."""
        return Sentence, (self.key, dict(self.values))

    @property
    def joined(self) -> tuple[str, ...]:
        """The texts that `join_sentences` put together with spaces; () for any other sentence."""
        names = cut_at_places(self.key)[1::2]
        return tuple(self.values[name] for name in names) if self.key == _joining(names, " ") else ()


def say(key: str, *values: object) -> Sentence:
    """Return a sentence with these values at its places, in order: `say("torch {torch} needs {low}", "2.9", "14")`.

    `make translations` takes the key into `findings.po`, so the call has it as a literal, never put together. Each
    place has its own name; one that begins with `n_` holds a number. Raise ValueError for a value too many or too few.
    A sentence without values is returned as it is.
    """
    if isinstance(key, Sentence) and not values:
        return key
    texts = (value if isinstance(value, str) else str(value) for value in values)
    return Sentence(key, dict(zip(cut_at_places(key)[1::2], texts, strict=True)))


def join_sentences(texts: Iterable[str], between: str = " ") -> Sentence:
    """Return several texts as one that keeps its parts; those that are empty are left out."""
    named = {f"part_{index}": text for index, text in enumerate(filter(None, texts))}
    return Sentence(_joining(named, between), named)


@lru_cache(maxsize=4096)
def cut_at_places(template: str) -> tuple[str, ...]:
    """Return words, name of a place, words, ..., words."""
    return tuple(_PLACES.split(template))


def _joining(names: Iterable[str], between: str) -> str:
    return between.join(f"{{{name}}}" for name in names)
