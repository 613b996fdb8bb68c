"""What published figures of one product make of each other: bandwidth = bus × rate, fp32 = 2 × lanes × clock.

A formula gives the range in which a figure has to lie, with how it came by it. It compares what it can: where an input
is not published it says nothing. Operations count a multiplication and an addition as two. Needs no database.

Peak clocks differ by row of a data sheet (H100 SXM: fp32 at 1,980 MHz, tensor at 1,830), so matrix rates are held
tightly against each other and loosely against a clock, unless the clock behind them is published (`clock=tensor`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.catalog.conditions import parse, split_variants, write
from stackviz.catalog.designs import DESIGNS, PIN_RATES, Design
from stackviz.units import format_number

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
            for full in dict.fromkeys((joined(condition, variant), condition)):
                if (figure := self.figures.get((field, full))) is not None:
                    return figure
        return None


@dataclass(frozen=True, slots=True)
class Asked:
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


Rule = Callable[[Published, Asked], Expected | None]


@dataclass(frozen=True, slots=True)
class Formula:
    """One way figures hang together. `source`: the document that says so. `only`: condition keys it can judge."""

    name: str
    words: str | Promise
    source: str
    rules: tuple[Rule, ...]
    only: frozenset[str] = frozenset({"sparsity", "accumulate"})


def half_a_digit(printed: str) -> float:
    """Half of what the last printed digit counts: 0.05 for `1.3`, 0.5 for `67`; 0 for what is no plain number."""
    whole, _point, decimals = printed.strip().partition(".")
    return 0.5 * 10.0 ** -len(decimals) if f"{whole}{decimals}".isdigit() else 0.0


def joined(condition: str, variant: str) -> str:
    """Two canonical conditions as one."""
    return write({**parse(condition), **parse(variant)}) if condition and variant else condition or variant


def expectations(published: Published, formula_name: str, field: str, condition: str) -> Iterator[Expected]:
    """What the formula makes of the figure under this condition, one for each rule that finds its inputs."""
    formula = FORMULAS.get(formula_name)
    if formula is None:
        return
    meaning, variant = split_variants(condition)
    asked = Asked(field, parse(meaning), variant)
    if not asked.parts.keys() <= formula.only:
        return
    for rule in formula.rules:
        expected = rule(published, asked)
        if expected is not None:
            yield expected


def _about(figure: float, how: str, below: float = ROUNDING, above: float = ROUNDING) -> Expected:
    return Expected(figure * (1 - below), figure * (1 + above), how, figure)


# --- memory ---

_MEMORY = re.compile(r"(?P<kind>(?:LP|G)DDR\d+X?|HBM\d*E?)(?:-(?P<megatransfers>\d{4,5}))?", re.IGNORECASE)


def _bus_times_rate(published: Published, asked: Asked) -> Expected | None:
    bus = published.first("memory_bus_bits", asked.variant)
    memory = _MEMORY.fullmatch(published.words.get("memory_type", "").strip())
    if bus is None or memory is None:
        return None
    if memory["megatransfers"]:
        rate = float(memory["megatransfers"]) / 1000
        return _about(bus * rate / 8, f"{bus:g} bit × {rate:g} Gbit/s / 8")
    slowest, fastest = PIN_RATES.get(memory["kind"].upper(), (0.0, 0.0))
    if not fastest:
        return None
    how = f"{bus:g} bit × {slowest:g} … {fastest:g} Gbit/s ({memory['kind']}) / 8"
    return Expected(bus * slowest / 8 * (1 - ROUNDING), bus * fastest / 8 * (1 + ROUNDING), how)


def _largest_configuration(published: Published, _asked: Asked) -> Expected | None:
    sizes = [size for (field, _condition), size in published.figures.items() if field == "memory_gb"]
    return Expected(max(sizes), max(sizes), _("the largest memory it is sold with")) if sizes else None


# --- what a design does in a clock ---

# GeForce cards add up at half rate in fp32, which bf16 and TF32 always do; other cards with the same chip do not.
_HALVED = re.compile(r"geforce")
_ADDS_IN_FP32 = ("tf32_tensor_tflops", "bf16_tensor_tflops")
_HALVES = ("fp16_tensor_tflops", "fp8_tensor_tflops")
_APPLE_FAMILY = re.compile(r"Apple\d+")


def design_of(published: Published) -> Design | None:
    """The design behind a sheet, by compute capability, Metal family or architecture; None: not one we know."""
    words = published.words
    family = _APPLE_FAMILY.search(words.get("metal_gpu_family", ""))
    architecture = words.get("architecture", "").removesuffix(".0")  # some write CDNA 2.0
    named = (words.get("compute_capability", ""), family.group() if family else "", architecture)
    return next((DESIGNS[name] for name in named if name in DESIGNS), None)


def _operations(published: Published, field: str, accumulate: str) -> float | None:
    """Dense operations of one unit in one clock; None where the design or the accumulate type leaves it open."""
    design = design_of(published)
    operations = design.operations.get(field) if design else None
    if operations is None or not _HALVED.search(published.slug):
        return operations
    if field in _HALVES:
        return {"fp16": operations, "fp32": operations / 2}.get(accumulate)
    return operations / 2 if field in _ADDS_IN_FP32 else operations


def _units(published: Published, asked: Asked) -> float | None:
    """How many compute units it has, whatever its maker calls them."""
    for field in ("sm_count", "gpu_cores"):
        plain = published.first(field, asked.variant)
        if plain is not None:
            return plain
    counted = [
        n for (field, condition), n in published.figures.items() if field == "sm_count" and "counted" in condition
    ]
    return counted[0] if len(counted) == 1 else None


def _lanes(published: Published, asked: Asked) -> float | None:
    lanes = published.first("cuda_cores", asked.variant)
    if lanes is None:
        lanes = published.first("gpu_alus", asked.variant)
    if lanes is not None:
        return lanes
    design, units = design_of(published), _units(published, asked)
    return units * design.lanes if design and units else None


def _lanes_per_unit(published: Published, asked: Asked) -> Expected | None:
    design = design_of(published)
    return _exactly(_units(published, asked), design.lanes) if design else None


def _matrix_units_per_unit(published: Published, asked: Asked) -> Expected | None:
    design = design_of(published)
    if design is None or not design.matrix_units:
        return None
    scope = asked.parts.get("scope")
    units = published.figures.get(("sm_count", f"scope={scope}")) if scope else _units(published, asked)
    return _exactly(units, design.matrix_units)


def _exactly(units: float | None, each: int) -> Expected | None:
    if units is None:
        return None
    return Expected(units * each, units * each, f"{format_number(units)} {_('compute units')} × {each}")


# --- rates ---


def _lanes_times_clock(published: Published, asked: Asked) -> Expected | None:
    """2 × lanes × clock; 4 × where a lane carries two fp32 operations (CDNA 3, RDNA)."""
    lanes, design = _lanes(published, asked), design_of(published)
    found = _clock(published, asked)
    if lanes is None or found is None or asked.sparsity != "dense":
        return None
    each = design.operations.get("fp32_tflops", 2 * design.lanes) / design.lanes if design else 2
    clock, below = found
    how = f"{each:g} × {format_number(lanes)} {_('lanes')} × {format_number(clock)} MHz"
    return _about(each * lanes * clock * 1e-6, how, below)


def _clock(published: Published, asked: Asked, *kinds: str) -> tuple[float, float] | None:
    """(MHz, by what share a peak may lie below what it gives)."""
    for kind in (*kinds, "", "clock=boost"):
        clock = published.first("boost_clock_mhz", asked.variant, kind)
        if clock is not None:
            return clock, ROUNDING
    apple = published.first("gpu_clock_mhz", asked.variant)
    if apple is not None:
        return apple, ROUNDING
    highest = published.first("boost_clock_mhz", asked.variant, "clock=maximum")
    return None if highest is None else (highest, LOWER_CLOCK)


def _share_of_fp32(published: Published, asked: Asked) -> Expected | None:
    """fp64, and fp16 of the ordinary cores: a fixed share of fp32, at the same clock."""
    fp32 = published.first("fp32_tflops", asked.variant, "sparsity=dense")
    design = design_of(published)
    if fp32 is None or design is None or asked.sparsity != "dense":
        return None
    own, base = design.operations.get(asked.field), design.operations.get("fp32_tflops")
    if own is None or base is None:
        return None
    return _about(fp32 * own / base, f"fp32 {format_number(fp32)} × {_ratio(own, base)}")


def _twice_the_dense_rate(published: Published, asked: Asked) -> Expected | None:
    if asked.sparsity != "sparse":
        return None
    dense = published.first(asked.field, asked.variant, write({**asked.parts, "sparsity": "dense"}))
    return None if dense is None else _about(2 * dense, f"2 × {_('dense')} {format_number(dense)}")


_REFERENCES = ("fp16_tensor_tflops", "bf16_tensor_tflops")


def _share_of_fp16(published: Published, asked: Asked) -> Expected | None:
    """A matrix rate against fp16 or bf16 of the same sheet and sparsity: a fixed share, at the same clock."""
    own = _operations(published, asked.field, asked.accumulate)
    if own is None or not asked.is_of_gpu:
        return None
    for field in _REFERENCES:
        for accumulate in ("fp16", "fp32", ""):
            if (field, accumulate) == (asked.field, asked.accumulate):
                continue
            base = _operations(published, field, accumulate)
            rate = published.first(field, asked.variant, _rate_condition(asked.sparsity, accumulate))
            if base is not None and rate is not None:
                how = f"{field.split('_')[0]} {format_number(rate)} × {_ratio(own, base)}"
                return _about(rate * own / base, how)
    return None


def _rate_condition(sparsity: str, accumulate: str) -> str:
    return write({"sparsity": sparsity, **({"accumulate": accumulate} if accumulate else {})})


def _operations_times_clock(published: Published, asked: Asked) -> Expected | None:
    """Compute units × operations in a clock × clock: that behind the tensor peaks, if it is known."""
    operations = _operations(published, asked.field, asked.accumulate)
    units, found = _units(published, asked), _clock(published, asked, "clock=tensor")
    if operations is None or units is None or found is None or asked.sparsity not in ("dense", "sparse"):
        return None
    if asked.field not in (*_REFERENCES, "int8_tensor_tops") or not asked.is_of_gpu:
        return None
    clock, _below = found
    operations *= 2 if asked.sparsity == "sparse" else 1
    is_known = published.first("boost_clock_mhz", asked.variant, "clock=tensor") is not None
    how = f"{format_number(units)} {_('compute units')} × {operations:g} × {format_number(clock)} MHz"
    return _about(units * operations * clock * 1e-6, how, ROUNDING if is_known else LOWER_CLOCK)


def _ratio(own: float, base: float) -> str:
    return f"{own / base:g}" if own >= base else f"1/{base / own:g}"


_CUDA_GUIDE = "NVIDIA, CUDA C++ Programming Guide, Arithmetic Instructions"
_WHITE_PAPERS = "NVIDIA, AMD and Intel architecture white papers"

_ALL = (
    Formula(
        "bandwidth",
        gettext_lazy("bus width × data rate of a pin / 8; the rate as its name says, else the range of its kind"),
        "JEDEC standards JESD212, 232, 250, 239, 235, 238, 209-4, 209-5",
        (_bus_times_rate,),
        frozenset(),
    ),
    Formula(
        "largest-memory",
        gettext_lazy("the largest of the sizes it is sold with"),
        "",
        (_largest_configuration,),
        frozenset(),
    ),
    Formula(
        "lanes",
        gettext_lazy("compute units × lanes of one"),
        _CUDA_GUIDE,
        (_lanes_per_unit,),
        frozenset(),
    ),
    Formula(
        "matrix-units",
        gettext_lazy("compute units × matrix units of one"),
        _WHITE_PAPERS,
        (_matrix_units_per_unit,),
        frozenset({"scope", "counted"}),
    ),
    Formula("fp32", gettext_lazy("2 × fp32 lanes × clock"), _CUDA_GUIDE, (_lanes_times_clock,)),
    Formula("share-of-fp32", gettext_lazy("a fixed share of fp32"), _CUDA_GUIDE, (_share_of_fp32,)),
    Formula(
        "matrix-rate",
        gettext_lazy("twice the dense rate with sparsity; a fixed share of fp16; units × operations × clock"),
        _WHITE_PAPERS,
        (_twice_the_dense_rate, _share_of_fp16, _operations_times_clock),
        frozenset({"sparsity", "accumulate", "engine"}),
    ),
)
FORMULAS: dict[str, Formula] = {formula.name: formula for formula in _ALL}
