"""Formulas of the catalogue: bandwidth = bus × rate, fp32 = 2 × lanes × clock. A field names the one that checks it.

Peak clocks differ by row of a data sheet (H100 SXM: fp32 at 1,980 MHz, tensor at 1,830), so matrix rates are held
tightly against each other and loosely against a clock, unless the clock behind them is published (`clock=tensor`).
"""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number
from stackviz.records.catalog.conditions import write
from stackviz.records.catalog.designs import DESIGNS, PIN_RATES, Design
from stackviz.records.catalog.formula import LOWER_CLOCK, ROUNDING, CheckedFigure, Expected, Formula, Published, about

# --- memory ---

_MEMORY = re.compile(r"(?P<kind>(?:LP|G)DDR\d+X?|HBM\d*E?)(?:-(?P<megatransfers>\d{4,5}))?", re.IGNORECASE)


def _bus_times_rate(published: Published, checked: CheckedFigure) -> Expected | None:
    bus = published.first("memory_bus_bits", checked.variant)
    memory = _MEMORY.fullmatch(published.words.get("memory_type", "").strip())
    if bus is None or memory is None:
        return None
    if memory["megatransfers"]:
        rate = float(memory["megatransfers"]) / 1000
        return about(bus * rate / 8, f"{bus:g} bit × {rate:g} Gbit/s / 8")
    slowest, fastest = PIN_RATES.get(memory["kind"].upper(), (0.0, 0.0))
    if not fastest:
        return None
    how = f"{bus:g} bit × {slowest:g} … {fastest:g} Gbit/s ({memory['kind']}) / 8"
    return Expected(bus * slowest / 8 * (1 - ROUNDING), bus * fastest / 8 * (1 + ROUNDING), how)


def _largest_configuration(published: Published, _checked: CheckedFigure) -> Expected | None:
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


def _units(published: Published, checked: CheckedFigure) -> float | None:
    """The number of compute units, whatever the vendor calls them."""
    for field in ("sm_count", "gpu_cores"):
        plain = published.first(field, checked.variant)
        if plain is not None:
            return plain
    counted = [
        n for (field, condition), n in published.figures.items() if field == "sm_count" and "counted" in condition
    ]
    return counted[0] if len(counted) == 1 else None


def _lanes(published: Published, checked: CheckedFigure) -> float | None:
    lanes = published.first("cuda_cores", checked.variant)
    if lanes is None:
        lanes = published.first("gpu_alus", checked.variant)
    if lanes is not None:
        return lanes
    design, units = design_of(published), _units(published, checked)
    return units * design.lanes if design and units else None


def _lanes_per_unit(published: Published, checked: CheckedFigure) -> Expected | None:
    design = design_of(published)
    return _exactly(_units(published, checked), design.lanes) if design else None


def _matrix_units_per_unit(published: Published, checked: CheckedFigure) -> Expected | None:
    design = design_of(published)
    if design is None or not design.matrix_units:
        return None
    scope = checked.parts.get("scope")
    units = published.figures.get(("sm_count", f"scope={scope}")) if scope else _units(published, checked)
    return _exactly(units, design.matrix_units)


def _exactly(units: float | None, each: int) -> Expected | None:
    if units is None:
        return None
    return Expected(units * each, units * each, f"{format_number(units)} {_('compute units')} × {each}")


# --- rates ---


def _lanes_times_clock(published: Published, checked: CheckedFigure) -> Expected | None:
    """2 × lanes × clock; 4 × where a lane carries two fp32 operations (CDNA 3, RDNA)."""
    lanes, design = _lanes(published, checked), design_of(published)
    rated_clock = _clock(published, checked)
    if lanes is None or rated_clock is None or checked.sparsity != "dense":
        return None
    each = design.operations.get("fp32_tflops", 2 * design.lanes) / design.lanes if design else 2
    clock, below = rated_clock
    how = f"{each:g} × {format_number(lanes)} {_('lanes')} × {format_number(clock)} MHz"
    return about(each * lanes * clock * 1e-6, how, below)


def _clock(published: Published, checked: CheckedFigure, *kinds: str) -> tuple[float, float] | None:
    """(MHz, by what share a peak may lie below what it gives)."""
    for kind in (*kinds, "", "clock=boost"):
        clock = published.first("boost_clock_mhz", checked.variant, kind)
        if clock is not None:
            return clock, ROUNDING
    apple = published.first("gpu_clock_mhz", checked.variant)
    if apple is not None:
        return apple, ROUNDING
    highest = published.first("boost_clock_mhz", checked.variant, "clock=maximum")
    return None if highest is None else (highest, LOWER_CLOCK)


def _share_of_fp32(published: Published, checked: CheckedFigure) -> Expected | None:
    """fp64, and fp16 of the ordinary cores: a fixed share of fp32, at the same clock."""
    fp32 = published.first("fp32_tflops", checked.variant, "sparsity=dense")
    design = design_of(published)
    if fp32 is None or design is None or checked.sparsity != "dense":
        return None
    operations, base = design.operations.get(checked.field), design.operations.get("fp32_tflops")
    if operations is None or base is None:
        return None
    return about(fp32 * operations / base, f"fp32 {format_number(fp32)} × {_ratio(operations, base)}")


def _twice_the_dense_rate(published: Published, checked: CheckedFigure) -> Expected | None:
    if checked.sparsity != "sparse":
        return None
    dense = published.first(checked.field, checked.variant, write({**checked.parts, "sparsity": "dense"}))
    return None if dense is None else about(2 * dense, f"2 × {_('dense')} {format_number(dense)}")


_REFERENCES = ("fp16_tensor_tflops", "bf16_tensor_tflops")


def _share_of_fp16(published: Published, checked: CheckedFigure) -> Expected | None:
    """A matrix rate against fp16 or bf16 of the same sheet and sparsity: a fixed share, at the same clock."""
    operations = _operations(published, checked.field, checked.accumulate)
    if operations is None or not checked.is_of_gpu:
        return None
    for field in _REFERENCES:
        for accumulate in ("fp16", "fp32", ""):
            if (field, accumulate) == (checked.field, checked.accumulate):
                continue
            base = _operations(published, field, accumulate)
            rate = published.first(field, checked.variant, _rate_condition(checked.sparsity, accumulate))
            if base is not None and rate is not None:
                how = f"{field.split('_')[0]} {format_number(rate)} × {_ratio(operations, base)}"
                return about(rate * operations / base, how)
    return None


def _rate_condition(sparsity: str, accumulate: str) -> str:
    return write({"sparsity": sparsity, **({"accumulate": accumulate} if accumulate else {})})


def _operations_times_clock(published: Published, checked: CheckedFigure) -> Expected | None:
    """Compute units × operations in a clock × clock: that behind the tensor peaks, if it is known."""
    operations = _operations(published, checked.field, checked.accumulate)
    units, rated_clock = _units(published, checked), _clock(published, checked, "clock=tensor")
    if operations is None or units is None or rated_clock is None or checked.sparsity not in ("dense", "sparse"):
        return None
    if checked.field not in (*_REFERENCES, "int8_tensor_tops") or not checked.is_of_gpu:
        return None
    clock, _below = rated_clock
    operations *= 2 if checked.sparsity == "sparse" else 1
    is_known = published.first("boost_clock_mhz", checked.variant, "clock=tensor") is not None
    how = f"{format_number(units)} {_('compute units')} × {operations:g} × {format_number(clock)} MHz"
    return about(units * operations * clock * 1e-6, how, ROUNDING if is_known else LOWER_CLOCK)


def _ratio(operations: float, base: float) -> str:
    return f"{operations / base:g}" if operations >= base else f"1/{base / operations:g}"


_CUDA_GUIDE = "NVIDIA, CUDA C++ Programming Guide, Arithmetic Instructions"
_WHITE_PAPERS = "NVIDIA, AMD and Intel architecture white papers"

BANDWIDTH = Formula(
    name="bandwidth",
    words=gettext_lazy(
        "bus width × data rate per pin / 8; the rate from the memory's name, else the range for its type"
    ),
    source="JEDEC standards JESD212, 232, 250, 239, 235, 238, 209-4, 209-5",
    rules=(_bus_times_rate,),
    only=frozenset(),
)
LARGEST_MEMORY = Formula(
    name="largest-memory",
    words=gettext_lazy("the largest of the sizes it is sold with"),
    source="",
    rules=(_largest_configuration,),
    only=frozenset(),
)
LANES = Formula(
    name="lanes",
    words=gettext_lazy("compute units × lanes of one"),
    source=_CUDA_GUIDE,
    rules=(_lanes_per_unit,),
    only=frozenset(),
)
MATRIX_UNITS = Formula(
    name="matrix-units",
    words=gettext_lazy("compute units × matrix units of one"),
    source=_WHITE_PAPERS,
    rules=(_matrix_units_per_unit,),
    only=frozenset({"scope", "counted"}),
)
FP32 = Formula(
    name="fp32", words=gettext_lazy("2 × fp32 lanes × clock"), source=_CUDA_GUIDE, rules=(_lanes_times_clock,)
)
SHARE_OF_FP32 = Formula(
    name="share-of-fp32", words=gettext_lazy("a fixed share of fp32"), source=_CUDA_GUIDE, rules=(_share_of_fp32,)
)
MATRIX_RATE = Formula(
    name="matrix-rate",
    words=gettext_lazy("twice the dense rate with sparsity; a fixed share of fp16; units × operations × clock"),
    source=_WHITE_PAPERS,
    rules=(_twice_the_dense_rate, _share_of_fp16, _operations_times_clock),
    only=frozenset({"sparsity", "accumulate", "engine"}),
)
