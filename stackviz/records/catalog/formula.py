"""What a formula is: what published figures of one product make of each other. Needs no database.

A formula gives the range in which a figure has to lie, with how it came by it. It compares what it can: where an input
is not published it says nothing. Operations count a multiplication and an addition as two.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise

from stackviz.base.units import format_number
from stackviz.records.catalog.conditions import parse, split_variants, write

# Makers round what they print: 102.4 GB/s of the M2 become 100. More than this is no rounding.
ROUNDING = 0.03
# Peaks that have a clock of their own lie up to a fifth below what the boost clock or the highest reported one gives.
LOWER_CLOCK = 0.2


@dataclass(frozen=True, slots=True)
class Expected:
    """What other figures of the sheet make of a figure, in the unit of its field: a range, and how they come to it.

    `nominal`: what they give exactly, None where they leave a range only.
    """

    least: float
    most: float
    how: str
    nominal: float | None = None

    def holds(self, figure: float, slack: float = 0.0) -> bool:
        """`slack`: what the digits that are not printed may hide, see `half_a_digit`."""
        is_near = self.nominal is not None and abs(figure - self.nominal) <= slack * (1 + 1e-9)
        return is_near or self.least <= figure <= self.most

    def __str__(self) -> str:
        most = format_number(self.most)
        return f"{self.how} = " + (most if self.least == self.most else f"{format_number(self.least)} – {most}")


@dataclass(frozen=True, slots=True)
class Published:
    """What one sheet publishes: preferred figures in their fields' units by (field, condition), and words by field."""

    slug: str
    figures: Mapping[tuple[str, str], float]
    words: Mapping[str, str]

    def first(self, field: str, variant: str, *conditions: str) -> float | None:
        """The figure under the first of `conditions` that is published, of this variant or of no named one."""
        for condition in conditions or ("",):
            for full in dict.fromkeys((join_conditions(condition, variant), condition)):
                if (figure := self.figures.get((field, full))) is not None:
                    return figure
        return None


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """The figure to be checked: its field, and its condition taken apart."""

    field: str
    parts: Mapping[str, str]
    variant: str

    @property
    def sparsity(self) -> str:
        return self.parts.get("sparsity", "")

    @property
    def accumulate(self) -> str:
        return self.parts.get("accumulate", "")

    @property
    def is_of_gpu(self) -> bool:
        """Whether the rate counts the GPU's own units, not a DLA or an instruction of its own beside them."""
        return self.parts.get("engine", "gpu") == "gpu"


Rule = Callable[[Published, CheckedFigure], Expected | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """One relation between figures. `source`: the document that says so. `only`: condition keys it can judge."""

    name: str
    words: str | Promise
    source: str
    rules: tuple[Rule, ...]
    only: frozenset[str] = frozenset({"sparsity", "accumulate"})


def half_a_digit(printed: str) -> float:
    """Half of what the last printed digit counts: 0.05 for `1.3`, 0.5 for `67`; 0 for what is no plain number."""
    whole, _point, decimals = printed.strip().partition(".")
    return 0.5 * 10.0 ** -len(decimals) if f"{whole}{decimals}".isdigit() else 0.0


def join_conditions(condition: str, variant: str) -> str:
    """Two canonical conditions as one."""
    return write({**parse(condition), **parse(variant)}) if condition and variant else condition or variant


def expectations(published: Published, formula: Formula | None, field: str, condition: str) -> Iterator[Expected]:
    """What the formula makes of the figure under this condition, one for each rule that finds its inputs."""
    if formula is None:
        return
    meaning, variant = split_variants(condition)
    checked = CheckedFigure(field, parse(meaning), variant)
    if not checked.parts.keys() <= formula.only:
        return
    for rule in formula.rules:
        expected = rule(published, checked)
        if expected is not None:
            yield expected


def about(figure: float, how: str, below: float = ROUNDING, above: float = ROUNDING) -> Expected:
    """As much as this figure, but for what rounding and other clocks may take off or add, as shares of it."""
    return Expected(figure * (1 - below), figure * (1 + above), how, figure)
