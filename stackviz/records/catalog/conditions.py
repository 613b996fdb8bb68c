"""Under which conditions a published figure holds, as text a file, a column and a person can read.

Canonical text is `key=value; key=value`, keys in the order of KEYS: `sparsity=dense; accumulate=fp32`. The empty text
means: no condition. Figures are compared only when their conditions are the same. Keys marked `varies` name the
variants of one product (its memory sizes, its editions): such values are listed together in one cell.

Needs no database.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

MAX_CONDITION_LENGTH = 200
_FREE_TEXT = re.compile(r"[^;=\s][^;=]*")


class ConditionError(ValueError):
    """A condition text that cannot be read: `text` as given, `problem` in one sentence of the active language."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"condition {text!r}: {problem}")
        self.text, self.problem = text, problem


@dataclass(frozen=True, slots=True)
class Key:
    """One kind of condition.

    `values`: the allowed values with their labels; empty means free text, which `words` frames. `varies`: the key
    distinguishes variants of one product, it does not change what the figure means.
    """

    name: str
    meaning: str | Promise
    values: Mapping[str, str | Promise]
    words: str | Promise = "%s"
    varies: bool = False


KEYS: tuple[Key, ...] = (
    Key(
        "sparsity",
        _("whether the rate counts the zeros that structured sparsity skips"),
        {
            "dense": _("dense"),
            "sparse": _("with 2:4 sparsity"),
            "sparse-4:1": _("with 4:1 sparsity"),
            "sparse-unstructured": _("with unstructured sparsity"),
            "unstated": _("sparsity not stated"),
        },
    ),
    Key(
        "accumulate",
        _("the number format used to accumulate products"),
        {"fp16": _("fp16 accumulate"), "fp32": _("fp32 accumulate")},
    ),
    Key("format", _("a vendor-specific number format"), {}, _("as %s")),
    Key(
        "engine",
        _("which units of the chip the rate counts"),
        {
            "gpu": _("GPU alone"),
            "gpu+dla": _("GPU and DLA together"),
            "mme": _("matrix engine"),
            "vector": _("vector engine"),
            "dp4a": _("DP4A instruction, no tensor cores"),
        },
    ),
    Key(
        "direction",
        _("whether a link's rate counts one direction or both"),
        {"both": _("both directions"), "one": _("one direction")},
    ),
    Key("link", _("which link, or how many of them"), {}),
    Key(
        "clock",
        _("which clock is meant, or the clock a rate was computed at"),
        {
            "boost": _("boost clock"),
            "base": _("base clock"),
            "tensor": _("clock behind the tensor peaks"),
            "maximum": _("highest clock the device reports"),
        },
    ),
    Key(
        "scope",
        _("what the figure covers"),
        {
            "gpu": _("per GPU"),
            "die": _("per die"),
            "chip": _("per chip"),
            "full-chip": _("full chip, including disabled units"),
            "board": _("whole board"),
            "module": _("whole module"),
            "system": _("whole system"),
            "on-chip": _("memory on the chip"),
            "limit": _("highest limit that can be set"),
        },
    ),
    Key("counted", _("what the vendor calls the units counted"), {}, _("counted in %s")),
    Key(
        "price",
        _("kind of price"),
        {"listing": _("a shop's listing, not the vendor's price"), "kit": _("developer kit")},
    ),
    Key(
        "event",
        _("what the date refers to"),
        {
            "announced": _("announced"),
            "planned": _("planned"),
            "launched": _("launched"),
            "shipped": _("first shipped"),
        },
    ),
    Key(
        "load",
        _("load under which power was measured"),
        {"typical": _("typical load"), "peak": _("peak load"), "wall": _("whole machine, at the wall")},
    ),
    Key("mode", _("the operating mode"), {}, _("%s mode"), varies=True),
    Key("configuration", _("one of the memory sizes it is sold with"), {}, _("%s model"), varies=True),
    Key("edition", _("one of the editions it is sold in"), {}, _("%s"), varies=True),
    Key("cpu", _("CPU core count of the variant"), {}, _("%s CPU"), varies=True),
    Key("machine", _("the machine it was read on or is built into"), {}, _("in %s"), varies=True),
)
_ORDER = {key.name: position for position, key in enumerate(KEYS)}
_BY_NAME = {key.name: key for key in KEYS}


def parse(text: str) -> dict[str, str]:
    """`sparsity=dense; accumulate=fp32` -> {"sparsity": "dense", "accumulate": "fp32"}, keys in canonical order.

    Raises ConditionError for an unknown key or value, a key given twice, or a text over MAX_CONDITION_LENGTH.
    """
    parts: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or not value:
            raise ConditionError(text, gettext("%(part)r is not key=value") % {"part": part})
        if name in parts:
            raise ConditionError(text, gettext("%(key)r is given twice") % {"key": name})
        _check_value(text, name, value)
        parts[name] = value
    if len(text) > MAX_CONDITION_LENGTH:
        problem = gettext("longer than %(n)d characters") % {"n": MAX_CONDITION_LENGTH}
        raise ConditionError(text[:40] + "…", problem)
    return dict(sorted(parts.items(), key=lambda item: _ORDER[item[0]]))


def _check_value(text: str, name: str, value: str) -> None:
    key = _BY_NAME.get(name)
    if key is None:
        problem = gettext("unknown key %(key)r; known are %(keys)s") % {"key": name, "keys": ", ".join(_BY_NAME)}
        raise ConditionError(text, problem)
    if key.values and value not in key.values:
        choice = {"key": name, "values": ", ".join(key.values), "value": value}
        raise ConditionError(text, gettext("%(key)s is one of %(values)s, not %(value)r") % choice)
    if not _FREE_TEXT.fullmatch(value):
        raise ConditionError(text, gettext("%(key)s holds a sign that is not allowed") % {"key": name})


def write(parts: Mapping[str, str]) -> str:
    """The canonical text of these parts. Raises ConditionError as `parse` does."""
    text = "; ".join(f"{name}={value}" for name, value in parts.items())
    return "; ".join(f"{name}={value}" for name, value in parse(text).items())


def canonical(text: str) -> str:
    """`text` with its keys in order and its spaces as they should be. Raises ConditionError."""
    return write(parse(text))


def describe_condition(text: str) -> str:
    """The condition in words, for people: `dense, fp32 accumulate`. A text we cannot read is shown as it is."""
    return _described(text, get_language() or "") if text else ""


@lru_cache(maxsize=4096)
def _described(text: str, _language: str) -> str:
    try:
        parts = parse(text)
    except ConditionError:
        return text
    return ", ".join(_words(_BY_NAME[name], value) for name, value in parts.items())


def _words(key: Key, value: str) -> str:
    if key.values:
        return str(key.values[value])
    return str(key.words) % value


def split_variants(text: str) -> tuple[str, str]:
    """(what the figure means, which variant it is of): the condition without, and with only, the keys that vary."""
    parts = parse(text)
    meaning = {name: value for name, value in parts.items() if not _BY_NAME[name].varies}
    variant = {name: value for name, value in parts.items() if _BY_NAME[name].varies}
    return write(meaning), write(variant)
