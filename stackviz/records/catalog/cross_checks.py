"""Checks that hold figures against each other and against other sheets: pins, clocks, ratios, dates, power.

Formulas expect a figure and say by how much it may differ; these ask whether what two figures give can be at all. They
look where a formula has too little to go by, and find a wrong pair of figures that agree with their own sources.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import median

from stackviz.base.units import format_number
from stackviz.records.catalog.by_formula import figure_of
from stackviz.records.catalog.conditions import ConditionError, parse, split_variants
from stackviz.records.catalog.designs import (
    ARCHITECTURES_SINCE,
    CHIP_SIZES_GB,
    FORM_FACTOR_WATTS,
    LINES_OF_A_CHIP,
    MACS_SINCE,
    PIN_RATES,
    PIN_STEPS,
)
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.formula import ROUNDING, Published
from stackviz.records.catalog.formulas import design_of
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.reviewed import CheckFinding, Reviewed, excused_or

# --- memory and clocks ---

_KIND = re.compile(r"((?:LP|G)DDR\d+X?|HBM\d*E?)", re.IGNORECASE)


def pins(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """Gbit/s of one pin, from bandwidth and bus width, against what memory of this kind does."""
    for value in _preferred(reviewed, "memory_bandwidth_gb_s"):
        published = reviewed.published[value.accelerator_id]
        bus = published.first("memory_bus_bits", "")
        kind = _KIND.search(published.words.get("memory_type", ""))
        slowest, fastest = PIN_RATES.get(kind[1].upper(), (0.0, 0.0)) if kind else (0.0, 0.0)
        if not bus or not fastest or "direction" in value.condition:
            continue
        rate = _figure(value) * 8 / bus
        name = kind[1] if kind else ""
        steps = PIN_STEPS.get(name.upper(), ())
        is_possible = slowest * (1 - ROUNDING) <= rate <= fastest * (1 + ROUNDING)
        is_sold = not steps or any(abs(rate / step - 1) <= ROUNDING for step in steps)
        speeds = ", ".join(f"{step:g}" for step in steps) or f"{slowest:g} – {fastest:g}"
        expected = f"{speeds} Gbit/s of a pin ({name}), not {rate:.3g}"
        yield CheckFinding() if is_possible and is_sold else excused_or(reviewed, value, expected)


def chips(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """GB of one memory chip, from memory size and bus width, against the sizes that are made."""
    sizes = sorted({*CHIP_SIZES_GB, *(2 * size for size in CHIP_SIZES_GB)})
    for value in _preferred(reviewed, "memory_gb"):
        published = reviewed.published[value.accelerator_id]
        _meaning, variant = split_variants(value.condition)
        bus = published.first("memory_bus_bits", variant)
        kind = _KIND.search(published.words.get("memory_type", ""))
        if not bus or not kind or not kind[1].upper().startswith("GDDR") or "scope" in value.condition:
            continue
        size = _figure(value) * LINES_OF_A_CHIP / bus
        expected = (
            f"memory chips of {', '.join(f'{size:g}' for size in sizes)} GB on {bus:g} bit, not {size:.3g} GB each"
        )
        is_made = any(abs(size / made - 1) <= ROUNDING for made in sizes)
        yield CheckFinding() if is_made else excused_or(reviewed, value, expected)


def unlike_siblings(reviewed: Reviewed) -> Iterator[str]:
    """Sheets of one chip with the same memory and bus but different bandwidths: a line each. Most are right."""
    alike: dict[tuple[str, str, float, float], list[tuple[float, str]]] = defaultdict(list)
    for value in _preferred(reviewed, "memory_bandwidth_gb_s"):
        published = reviewed.published[value.accelerator_id]
        chip, kind = published.words.get("chip", ""), published.words.get("memory_type", "")
        bus, memory = published.first("memory_bus_bits", ""), published.first("memory_gb", "")
        if chip and kind and bus and memory and not value.condition:
            alike[chip, kind, bus, memory].append((_figure(value), published.slug))
    for (chip, kind, bus, memory), members in sorted(alike.items()):
        members.sort()
        if members[-1][0] > members[0][0] * (1 + ROUNDING):
            figures = "; ".join(f"{slug} {format_number(figure)} GB/s" for figure, slug in members)
            yield f"{chip}, {format_number(memory)} GB {kind} on {bus:g} bit: {figures}"


# A peak may be rated a little above the highest clock that anybody states, and far below it.
_ABOVE, _BELOW = 0.1, 0.25
_CLOCKS = ("boost_clock_mhz", "gpu_clock_mhz")


def clocks(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """The clock that fp32 lanes and the fp32 rate give, against the clocks of the sheet."""
    for value in _preferred(reviewed, "fp32_tflops"):
        published = reviewed.published[value.accelerator_id]
        lanes = published.first("cuda_cores", "") or published.first("gpu_alus", "")
        stated = [clock for (field, _condition), clock in published.figures.items() if field in _CLOCKS]
        if not lanes or not stated or value.condition != "sparsity=dense":
            continue
        design = design_of(published)
        each = design.operations.get("fp32_tflops", 2 * design.lanes) / design.lanes if design else 2
        clock = _figure(value) * 1e6 / (each * lanes)
        least, most = min(stated) * (1 - _BELOW), max(stated) * (1 + _ABOVE)
        expected = f"a clock of {format_number(least)} – {format_number(most)} MHz behind it, not {clock:.0f}"
        yield CheckFinding() if least <= clock <= most else excused_or(reviewed, value, expected)


# --- data types ---

# (rate, rate it is compared with) of one sheet, dense.
_PAIRS = (
    ("fp64_tflops", "fp32_tflops"),
    ("fp16_tflops", "fp32_tflops"),
    ("bf16_tensor_tflops", "fp16_tensor_tflops"),
    ("tf32_tensor_tflops", "fp16_tensor_tflops"),
    ("fp8_tensor_tflops", "fp16_tensor_tflops"),
    ("int8_tensor_tops", "fp16_tensor_tflops"),
)
# Of one chip these lines have some rates cut that the cards of data centres have.
_CUT = re.compile(r"geforce|radeon|amd-rx")
# With fewer sheets of an architecture none of them can be called the exception.
_FEWEST = 3
_SAME_RATIO = 2 * ROUNDING  # both rates may be rounded


def ratios(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """The ratio of two dense rates against the median of the sheets of its architecture."""
    for rate, base in _PAIRS:
        groups: dict[tuple[str, bool], list[tuple[SpecValue, float]]] = defaultdict(list)
        for value in _preferred(reviewed, rate):
            published = reviewed.published[value.accelerator_id]
            below, name = _base_rate(published, base, value.condition), _architecture(published)
            if below and name:
                groups[name, bool(_CUT.search(published.slug))].append((value, _figure(value) / below))
        for (name, _is_cut), members in sorted(groups.items()):
            usual = median(ratio for _value, ratio in members)
            for value, ratio in members if len(members) >= _FEWEST else ():
                expected = f"{usual:.3g} × {base.split('_')[0]}, as other sheets of {name} have it, not {ratio:.3g} ×"
                is_usual = abs(ratio / usual - 1) <= _SAME_RATIO
                yield CheckFinding() if is_usual else excused_or(reviewed, value, expected)


_DIGITS = re.compile(r"\d+")


def orders(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """The fp32 rate against those of sheets of its line and architecture with fewer fp32 lanes.

    A line is what slugs have in common but for their numbers: `nvidia-rtx-pro-#-blackwell-laptop`.
    """
    lines: dict[tuple[str, str], list[tuple[float, float, SpecValue]]] = defaultdict(list)
    for value in _preferred(reviewed, "fp32_tflops"):
        published = reviewed.published[value.accelerator_id]
        lanes, name = published.first("cuda_cores", ""), _architecture(published)
        if lanes and name and value.condition == "sparsity=dense":
            lines[_DIGITS.sub("#", published.slug), name].append((lanes, _figure(value), value))
    for _line, members in sorted(lines.items()):
        for lanes, rate, value in members:
            smaller = [other for other in members if other[0] * (1 + ROUNDING) < lanes]
            fewer, least, slower = max(smaller, key=lambda other: other[1], default=(0.0, 0.0, value))
            expected = (
                f"at least the {format_number(least)} TFLOPS of {slower.accelerator.slug}, "
                f"which has {fewer:.0f} fp32 lanes, not {lanes:.0f}"
            )
            yield CheckFinding() if rate >= least * (1 - ROUNDING) else excused_or(reviewed, value, expected)


def _base_rate(published: Published, base: str, condition: str) -> float | None:
    """The dense rate under the same condition, else without a type to add up in, else with fp32."""
    if "sparsity=dense" not in condition or "engine" in condition:
        return None
    meaning, variant = split_variants(condition)
    return published.first(base, variant, meaning, "sparsity=dense", "sparsity=dense; accumulate=fp32")


def _architecture(published: Published) -> str:
    """What sheets of one design have in common: compute capability, Metal family, or else the architecture's name."""
    words = published.words
    return words.get("compute_capability") or words.get("metal_gpu_family") or words.get("architecture", "")


# --- dates ---


def dates(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """Days of announcement, launch and shipping against the month in which the architecture was first shown."""
    for value in reviewed.values:
        if value.field != "release_date":
            continue
        architecture = reviewed.published[value.accelerator_id].words.get("architecture", "").removesuffix(".0")
        since = ARCHITECTURES_SINCE.get(architecture)
        if since is None:
            continue
        is_later = value.value >= since[: len(value.value)]
        expected = f"{since} or later, when {architecture} was first shown"
        yield CheckFinding() if is_later else excused_or(reviewed, value, expected)


def bins(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """Days of an Apple chip with this number of GPU cores against the month of the first Mac that has it."""
    since: dict[int, str] = {}
    for value in _listed(reviewed, "macs_shipped_in"):
        month = MACS_SINCE.get((_parts(value.condition) or {}).get("machine", ""), "")
        if month:
            since[value.accelerator_id] = min(month, since.get(value.accelerator_id, month))
    for value in _listed(reviewed, "release_date"):
        month = since.get(value.accelerator_id, "")
        expected = f"{month} or later, when Apple showed the first Mac with this bin"
        if month:
            yield CheckFinding() if value.value >= month[: len(value.value)] else excused_or(reviewed, value, expected)


def _listed(reviewed: Reviewed, field: str) -> Iterator[SpecValue]:
    return (value for value in reviewed.values if value.field == field and value.is_preferred)


# --- power ---


def powers(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """Board power against that of the module it is on, its own peak, and what its form factor can supply."""
    for value in _preferred(reviewed, "tdp_w"):
        published = reviewed.published[value.accelerator_id]
        most = dict(_limits(published, value.condition))
        over = {what: watts for what, watts in most.items() if _figure(value) > watts}
        expected = "; ".join(f"at most {format_number(watts)} W: {what}" for what, watts in over.items())
        yield excused_or(reviewed, value, expected) if over else CheckFinding()


def _limits(published: Published, condition: str) -> Iterator[tuple[str, float]]:
    if condition in ("", "load=typical", "mode=original"):
        for larger in ("scope=module", "scope=board", "scope=system", "load=peak"):
            watts = published.figures.get(("tdp_w", larger))
            if watts is not None:
                yield f"that of {larger.split('=')[1]}", watts
    form = published.words.get("form_factor", "").lower()
    for name, watts in FORM_FACTOR_WATTS.items():
        if name.lower() in form and condition not in ("scope=system", "scope=limit"):
            yield f"a card of the form {name}", watts
            return


# --- what all of them read ---


def _preferred(reviewed: Reviewed, field: str) -> Iterator[SpecValue]:
    """The preferred figures of a field, under conditions that can be read."""
    for value in reviewed.values:
        if value.field == field and value.is_preferred and value.amount is not None and _parts(value.condition):
            yield value


def _parts(condition: str) -> Mapping[str, str] | None:
    try:
        return parse(condition) or {"": ""}
    except ConditionError:
        return None


def _figure(value: SpecValue) -> float:
    return figure_of(FIELDS[value.field], value)
