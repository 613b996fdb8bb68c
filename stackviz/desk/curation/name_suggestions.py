"""Accelerators that a reported name may mean, by words, model number and memory size.

Pure: names and sizes in, scores out. A suggestion is for a curator to judge; nothing is matched by it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz

from stackviz.report.rules.known_cards import MEMORY_TOLERANCE, memory_distance, normalized

MOST_SUGGESTED = 4
LEAST_SCORE = 50  # of 100: below this the names are unrelated

# Points of 100. Two names of one chip that differ in a word such as "Ti" or "PCIe" are two products.
OTHER_VARIANT = 12
MOST_OF_A_VARIANT = 75
SAME_MEMORY, OTHER_MEMORY = 10, 25

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(gi?b|tb)\b")
_HAS_DIGIT = re.compile(r"\d")
# Digits in these say how a card is built in or what it is made of, not which card it is.
_NO_MODEL = re.compile(r"(?:sxm|pcie|gen|hbm|gddr|oam|nvl|x)\d*[a-z]?|\d+(?:core|w|bit)s?")
_VARIANTS = frozenset(
    [
        *(
            "ti",
            "super",
            "xt",
            "xtx",
            "gre",
            "d",
            "ada",
            "laptop",
            "mobile",
            "maxq",
            "max",
            "ultra",
            "pro",
            "mini",
            "plus",
        ),
        *(
            "se",
            "nano",
            "nx",
            "agx",
            "pcie",
            "sxm",
            "nvl",
            "oam",
            "both",
            "generation",
            "lp",
            "ge",
            "lc",
            "engineering",
        ),
    ]
)
# The same product under the words of a driver and those of a data sheet.
_FILLERS = frozenset(
    [
        "graphics",
        "gpu",
        "card",
        "nvgpu",
        "series",
        "tensor",
        "core",
        "accelerator",
        "integrated",
        "corporation",
        "device",
    ]
)


@dataclass(frozen=True, slots=True)
class CatalogueName:
    """A name of the catalogue: a product's own or an alias. `memory_bytes`: the sizes the product is sold with."""

    accelerator_id: int
    name: str
    vendor: str = ""
    memory_bytes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`score`: 0 to 100. `memory`: whether a size that was seen is one of the product's; None where that is unknown."""

    accelerator_id: int
    score: int
    name: str
    memory: bool | None


@dataclass(frozen=True, slots=True)
class _Words:
    text: str
    models: frozenset[str]
    variants: frozenset[str]
    sizes: tuple[int, ...]


def suggest(
    reported_name: str, known: Iterable[CatalogueName], *, vendor: str = "", memory_bytes: Collection[int] = ()
) -> list[Suggestion]:
    """The MOST_SUGGESTED likeliest accelerators, the best first; none where nothing is like the name.

    A name with another model number (`H200` for `H100`, `7900` for `7800`) is never suggested.
    """
    reported = _words(reported_name)
    sizes = tuple(memory_bytes) or reported.sizes
    best: dict[int, Suggestion] = {}
    for name in known:
        if vendor and name.vendor and vendor not in (name.vendor, "unknown", "other"):
            continue
        suggestion = _judge(reported, sizes, name)
        if suggestion and (name.accelerator_id not in best or suggestion.score > best[name.accelerator_id].score):
            best[name.accelerator_id] = suggestion
    return sorted(best.values(), key=lambda item: (-item.score, item.name))[:MOST_SUGGESTED]


def _judge(reported: _Words, sizes: Sequence[int], name: CatalogueName) -> Suggestion | None:
    terms = _words(name.name)
    if not reported.text or not terms.text or _is_other_model(reported.models, terms.models):
        return None
    likeness = (fuzz.token_sort_ratio(reported.text, terms.text) + fuzz.token_set_ratio(reported.text, terms.text)) / 2
    memory = _same_memory(sizes, name.memory_bytes or terms.sizes)
    differing = len(reported.variants ^ terms.variants)
    score = likeness - OTHER_VARIANT * differing
    score += 0 if memory is None else SAME_MEMORY if memory else -OTHER_MEMORY
    shown = max(0, min(MOST_OF_A_VARIANT if differing else 100, round(score)))
    return Suggestion(name.accelerator_id, shown, name.name, memory) if shown >= LEAST_SCORE else None


def _is_other_model(reported: frozenset[str], known: frozenset[str]) -> bool:
    """Whether both have a model number and share none."""
    return bool(reported) and bool(known) and not reported & known


def _same_memory(seen: Sequence[int], sold: Sequence[int]) -> bool | None:
    if not seen or not sold:
        return None
    return any(memory_distance(printed, size) <= MEMORY_TOLERANCE for size in seen for printed in sold if printed)


def _words(name: str) -> _Words:
    """`NVIDIA A100-SXM-64GB` -> text "a100 sxm", models {a100}, variants {sxm}, sizes (64e9,)."""
    plain = normalized(name)
    sizes = tuple(round(float(size) * (10**12 if unit == "tb" else 10**9)) for size, unit in _SIZE.findall(plain))
    terms = [term for term in _SIZE.sub(" ", plain).split() if term not in _FILLERS]
    models = {term for term in terms if _HAS_DIGIT.search(term) and not _NO_MODEL.fullmatch(term)}
    # "Gaudi 3" is "Gaudi3".
    models |= {first + second for first, second in pairwise(terms) if first.isalpha() and second in models}
    variants = frozenset(_variant(term) for term in terms) & _VARIANTS
    return _Words(" ".join(terms), frozenset(models), variants, sizes)


def _variant(term: str) -> str:
    """`sxm4` and `sxm` are one way to build a card in."""
    return term.rstrip("0123456789") if term.startswith(("sxm", "pcie", "oam")) else term
