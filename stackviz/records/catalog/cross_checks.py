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
from stackviz.records.catalog.designs import ARCHITECTURES_SINCE, FORM_FACTOR_WATTS, PIN_RATES
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
        is_possible = slowest * (1 - ROUNDING) <= rate <= fastest * (1 + ROUNDING)
        expected = f"{slowest:g} – {fastest:g} Gbit/s of a pin ({kind[1] if kind else ''}), not {rate:.3g}"
        yield CheckFinding() if is_possible else excused_or(reviewed, value, expected)


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
