"""Figures that follow from published ones: each with its formula, what it means, and what went into it.

Pure of queries: works on the map that `queries.peaks` returns. A figure is derived only where every input is published
under a condition that fits the others; otherwise it is None, and the reason says which input is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from stackviz.base.light import light_dataclass
from stackviz.base.units import format_in, format_number
from stackviz.records.catalog.conditions import describe_condition, split_variants
from stackviz.records.catalog.fields import FIELDS, Words

Amounts = Mapping[tuple[int, str, str], float]  # (accelerator id, field, condition) -> SI amount, as of queries.peaks
DIGITS = 4  # a derived figure is no more exact than what went into it
_NO_ABSENCES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RequiredInput:
    """One input: the first of `fields` that is published under one of `conditions`; () are the field's usual ones."""

    fields: tuple[str, ...]
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """A figure that is one input divided by the other: `needs`, in this order.

    Amounts are in SI; one `unit`, in which people read it, is `factor` of those.
    """

    name: str
    title: Words
    unit: str
    factor: float
    formula: Words
    meaning: Words
    needs: tuple[RequiredInput, RequiredInput]
    higher_is_better: bool | None = None

    @property
    def words(self) -> tuple[str, str, str]:
        """(title, formula, meaning) in the reader's language."""
        return _words_of(self.name, get_language() or "")


@dataclass(frozen=True, slots=True)
class Input:
    """A published figure that went into a derived one: `amount` in SI, `text` as people read it."""

    field: str
    condition: str
    amount: float
    text: str


@light_dataclass(slots=True, kw_only=True)
class Derived:
    """A derived figure of one accelerator: `amount` in SI, `text` in `unit`. None has a `reason` and nothing else.

    `condition`: what the inputs' conditions are, in words. `worked`: the formula with the figures in it.
    """

    name: str
    title: str
    unit: str
    formula: str
    meaning: str
    higher_is_better: bool | None
    amount: float | None
    text: str
    exact: str
    condition: str
    worked: str
    inputs: tuple[Input, ...]
    reason: str

    @property
    def label(self) -> str:
        return f"{self.text} {self.unit}" if self.text else ""


# A chip's rate is not held against the power of a whole system, nor against a limit somebody may set.
_POWER = RequiredInput(("tdp_w",), ("", "load=peak"))
# A shop's price, or the price of a kit with board and memory, is not the launch price of the chip.
_PRICE = RequiredInput(("launch_price_usd",), ("",))
_RATE = RequiredInput(("bf16_tensor_tflops", "fp16_tensor_tflops"))
_FP32 = RequiredInput(("fp32_tflops",))
_INT8 = RequiredInput(("int8_tensor_tops",))
_BANDWIDTH = RequiredInput(("memory_bandwidth_gb_s",), ("", "scope=on-chip"))
_MEMORY = RequiredInput(("memory_gb",), ("", "scope=on-chip"))
_LARGEST_MEMORY = RequiredInput(("memory_gb", "memory_gb_max"), ("", "scope=on-chip"))
# The formula's words name these; of the others the condition says which one was taken.
_NAMED = frozenset({"memory_bandwidth_gb_s", "memory_gb", "tdp_w", "launch_price_usd"})


_ALL: tuple[Derivation, ...] = (
    Derivation(
        name="ridge-point",
        title=_("Ridge point"),
        unit="FLOP/B",
        factor=1.0,
        formula=_("dense bf16 rate, else fp16, ÷ memory bandwidth"),
        meaning=_("Work with fewer operations per byte than this is limited by memory bandwidth, not by arithmetic."),
        needs=(_RATE, _BANDWIDTH),
    ),
    Derivation(
        name="ridge-point-fp32",
        title=_("Ridge point, fp32"),
        unit="FLOP/B",
        factor=1.0,
        formula=_("fp32 rate of the ordinary cores ÷ memory bandwidth"),
        meaning=_("The ridge point of code that does not use the matrix units."),
        needs=(_FP32, _BANDWIDTH),
    ),
    Derivation(
        name="bytes-per-flop",
        title=_("Bytes per FLOP"),
        unit="B/FLOP",
        factor=1.0,
        formula=_("memory bandwidth ÷ dense bf16 rate, else fp16"),
        meaning=_("Bytes that memory delivers in the time of one operation; the inverse of the ridge point."),
        needs=(_BANDWIDTH, _RATE),
    ),
    Derivation(
        name="memory-read-time",
        title=_("Time to read all memory once"),
        unit="ms",
        factor=1e-3,
        formula=_("memory ÷ memory bandwidth"),
        meaning=_("With a model that fills memory, a single stream cannot generate a token in less time than this."),
        needs=(_LARGEST_MEMORY, _BANDWIDTH),
    ),
    Derivation(
        name="flops-per-watt",
        title=_("Rate per watt"),
        unit="GFLOPS/W",
        factor=1e9,
        formula=_("dense bf16 rate, else fp16, ÷ board power"),
        meaning=_("Efficiency at the published peak; clocks and power differ under load."),
        needs=(_RATE, _POWER),
        higher_is_better=True,
    ),
    Derivation(
        name="fp32-per-watt",
        title=_("fp32 rate per watt"),
        unit="GFLOPS/W",
        factor=1e9,
        formula=_("fp32 rate of the ordinary cores ÷ board power"),
        meaning=_("Efficiency of code that does not use the matrix units."),
        needs=(_FP32, _POWER),
        higher_is_better=True,
    ),
    Derivation(
        name="int8-per-watt",
        title=_("int8 rate per watt"),
        unit="GOPS/W",
        factor=1e9,
        formula=_("dense int8 rate ÷ board power"),
        meaning=_("Efficiency of quantised networks at the published peak."),
        needs=(_INT8, _POWER),
        higher_is_better=True,
    ),
    Derivation(
        name="bandwidth-per-watt",
        title=_("Bandwidth per watt"),
        unit="GB/s/W",
        factor=1e9,
        formula=_("memory bandwidth ÷ board power"),
        meaning=_("Efficiency of memory-bound work such as generating text."),
        needs=(_BANDWIDTH, _POWER),
        higher_is_better=True,
    ),
    Derivation(
        name="flops-per-dollar",
        title=_("Rate per dollar"),
        unit="GFLOPS/USD",
        factor=1e9,
        formula=_("dense bf16 rate, else fp16, ÷ launch price"),
        meaning=_("Based on the launch price, in dollars of that year; shop listings are not used."),
        needs=(_RATE, _PRICE),
        higher_is_better=True,
    ),
    Derivation(
        name="bandwidth-per-dollar",
        title=_("Bandwidth per dollar"),
        unit="GB/s/USD",
        factor=1e9,
        formula=_("memory bandwidth ÷ launch price"),
        meaning=_("Based on the launch price, in dollars of that year; shop listings are not used."),
        needs=(_BANDWIDTH, _PRICE),
        higher_is_better=True,
    ),
    Derivation(
        name="memory-per-dollar",
        title=_("Memory per dollar"),
        unit="MB/USD",
        factor=1e6,
        formula=_("memory ÷ launch price"),
        meaning=_("Based on the launch price, in dollars of that year; shop listings are not used."),
        needs=(_MEMORY, _PRICE),
        higher_is_better=True,
    ),
)

DERIVATIONS: dict[str, Derivation] = {derivation.name: derivation for derivation in _ALL}


@lru_cache(maxsize=256)
def _words_of(name: str, _language: str) -> tuple[str, str, str]:
    derivation = DERIVATIONS[name]
    return str(derivation.title), str(derivation.formula), str(derivation.meaning)


def derive(amounts: Amounts, accelerator_id: int, absences: Mapping[str, str] = _NO_ABSENCES) -> tuple[Derived, ...]:
    """Every derived figure of one accelerator, in registry order; those that cannot be derived say why.

    `absences`: field -> why the accelerator cannot have it, in words.
    """
    return tuple(derive_figure(derivation, amounts, accelerator_id, absences) for derivation in _ALL)


def derive_figure(
    derivation: Derivation, amounts: Amounts, accelerator_id: int, absences: Mapping[str, str] = _NO_ABSENCES
) -> Derived:
    """One derived figure of one accelerator."""
    above, below = (_input(need, amounts, accelerator_id) for need in derivation.needs)
    if above is None:
        return _without(derivation, _why_missing(derivation.needs[0], amounts, accelerator_id, absences))
    if below is None:
        return _without(derivation, _why_missing(derivation.needs[1], amounts, accelerator_id, absences))
    if not below.amount:
        return _without(derivation, gettext("%(field)s is zero") % {"field": FIELDS[below.field].words[0]})
    return _with(derivation, above, below)


def _input(need: RequiredInput, amounts: Amounts, accelerator_id: int) -> Input | None:
    for name in need.fields:
        for condition in need.conditions or FIELDS[name].usual:
            amount = amounts.get((accelerator_id, name, condition))
            if amount is not None:
                return Input(name, condition, amount, format_in(amount, FIELDS[name].unit, digits=5).label)
    return None


def _why_missing(need: RequiredInput, amounts: Amounts, accelerator_id: int, absences: Mapping[str, str]) -> str:
    """Which input is missing, and why or under which other conditions it is published, in words."""
    possible = [name for name in need.fields if name not in absences]
    field = FIELDS[(possible or need.fields)[0]]
    if not possible:
        return gettext("%(field)s: %(reason)s") % {"field": field.words[0], "reason": absences[field.name]}
    others = sorted(condition for pk, name, condition in amounts if (pk, name) == (accelerator_id, field.name))
    if not others:
        return gettext("not published: %(field)s") % {"field": field.words[0]}
    if all(split_variants(condition)[1] for condition in others):
        return gettext("%(field)s depends on the model") % {"field": field.words[0]}
    words = "; ".join(describe_condition(condition) for condition in others if condition)
    return gettext("%(field)s is published only as: %(conditions)s") % {"field": field.words[0], "conditions": words}


def _without(derivation: Derivation, reason: str) -> Derived:
    title, formula, meaning = derivation.words
    better = derivation.higher_is_better
    return Derived(
        name=derivation.name,
        title=title,
        unit=derivation.unit,
        formula=formula,
        meaning=meaning,
        higher_is_better=better,
        amount=None,
        text="",
        exact="",
        condition="",
        worked="",
        inputs=(),
        reason=reason,
    )


def _with(derivation: Derivation, above: Input, below: Input) -> Derived:
    title, formula, meaning = derivation.words
    amount = above.amount / below.amount
    return Derived(
        name=derivation.name,
        title=title,
        unit=derivation.unit,
        formula=formula,
        meaning=meaning,
        higher_is_better=derivation.higher_is_better,
        amount=amount,
        text=format_number(amount / derivation.factor, DIGITS),
        exact=f"{format_number(amount / derivation.factor, 12)} {derivation.unit}",
        condition="; ".join(filter(None, (_condition_of(above), _condition_of(below)))),
        worked=f"{above.text} ÷ {below.text}",
        inputs=(above, below),
        reason="",
    )


def _condition_of(item: Input) -> str:
    """What must be known of an input beyond what the formula says of it: `bf16 tensor, dense`."""
    if item.field in _NAMED and not item.condition:
        return ""
    return ", ".join(filter(None, [FIELDS[item.field].words[0], describe_condition(item.condition)]))
