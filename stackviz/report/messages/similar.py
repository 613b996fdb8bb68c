"""The messages that read most like a line that none of them explains. Standard library only."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from stackviz.report.messages.registry import BY_KEY, SYMPTOMS
from stackviz.report.messages.symptom import Symptom

__all__ = ["similar_messages"]

MOST_SIMILAR = 3
LEAST_SHARE = 0.35  # of the weight of the line's terms that the message has to have too
_LEAST_WORDS = 2  # that both have: one term in common is a topic, no likeness
_TERM = re.compile(r"[a-z]{3,40}")
_MOST_WORDS = 60


def similar_messages(line: str) -> tuple[Symptom, ...]:
    """Return the nearest messages, the nearest first; none where none is near."""
    terms = list(dict.fromkeys(_TERM.findall(line.lower())))[:_MOST_WORDS]
    messages, weights = _index()
    whole = sum(weights.get(term, weights[""]) for term in terms)
    shared: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for term in terms:
        for key, share in messages.get(term, {}).items():
            shared[key] = shared.get(key, 0.0) + share * weights[term]
            counts[key] += 1
    near = ((score, key) for key, score in shared.items() if counts[key] >= _LEAST_WORDS)
    best = sorted(((score, key) for score, key in near if score >= LEAST_SHARE * whole), reverse=True)
    return tuple(BY_KEY[key] for _score, key in best[:MOST_SIMILAR])


@lru_cache(maxsize=1)
def _index() -> tuple[Mapping[str, Mapping[str, float]], Mapping[str, float]]:
    """Word -> the messages it is in, 1 in what is printed and less in what is said of it; and term -> weight.

    A term weighs more the fewer messages have it; "" is the weight of a term that none has, mostly a name.
    """
    messages: dict[str, dict[str, float]] = {}
    for symptom in SYMPTOMS:
        for term, share in _shares(symptom):
            of_word = messages.setdefault(term, {})
            of_word[symptom.key] = max(share, of_word.get(symptom.key, 0.0))
    weights = {term: math.log(len(SYMPTOMS) / len(keys)) for term, keys in messages.items()}
    return MappingProxyType(messages), MappingProxyType(weights | {"": math.log(len(SYMPTOMS)) / 2})


_IN_CAUSES = 0.4


def _shares(symptom: Symptom) -> Iterator[tuple[str, float]]:
    yield from ((term, 1.0) for term in _TERM.findall(symptom.message.lower()))
    about = " ".join((symptom.meaning, *(f"{cause.text} {cause.sign}" for cause in symptom.causes)))
    yield from ((term, _IN_CAUSES) for term in _TERM.findall(about.lower()))
