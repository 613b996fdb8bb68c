"""The field registry: one place says for each field what it is called, measured in, means, and which way is better.

Names are those of the curated files and the API. Needs no database.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from stackviz.units import to_si
from stackviz.units import unit as unit_named

Words = str | Promise

DENSE = "sparsity=dense"
DENSE_FP32_ACCUMULATE = "sparsity=dense; accumulate=fp32"


@dataclass(frozen=True, slots=True)
class Group:
    """A heading of the sheet."""

    name: str
    title: Words


@dataclass(frozen=True, slots=True)
class Field:
    """One thing a sheet says about an accelerator.

    `unit`: printed symbol values are given in, or "" for text. `higher_is_better`: None where neither way is.
    `plausible`: (least, most) in `unit`; a value outside is a mistake. `is_headline`: a sheet without it says so.
    `usual`: conditions under which the headline figure is looked for, the first that is published wins.
    """

    name: str
    title: Words
    unit: str
    group: str
    meaning: Words
    higher_is_better: bool | None = None
    plausible: tuple[float, float] | None = None
    is_headline: bool = False
    usual: tuple[str, ...] = ("",)

    @property
    def glossary(self) -> str:
        """Anchor of the glossary entry that says more, or ""."""
        return GLOSSARY.get(self.name, "")

    @property
    def formula(self) -> str:
        """Name of the formula in `formulas.py` that checks its figures, or ""."""
        return FORMULA.get(self.name, "")

    def applies_to(self, vendor_slug: str, kind: str) -> bool:
        """Whether products of this maker and kind can have the field at all; what cannot be is not missing."""
        product = {vendor_slug, kind, f"{vendor_slug}/{kind}"}
        only = ONLY.get(self.name)
        return not product & NEVER.get(self.name, frozenset()) and (only is None or bool(product & only))

    @property
    def is_text(self) -> bool:
        return not self.unit

    @property
    def is_date(self) -> bool:
        """Whether the text is a date, as precise as its source."""
        return self.name.endswith("_date")

    @property
    def words(self) -> tuple[str, str]:
        """(title, meaning) in the reader's language."""
        return _words_of(self, get_language() or "")

    def is_plausible(self, value: float) -> bool:
        """Whether `value`, in the field's unit, can be true."""
        return self.plausible is None or self.plausible[0] <= value <= self.plausible[1]


GROUPS: tuple[Group, ...] = (
    Group("product", _("Product")),
    Group("memory", _("Memory")),
    Group("rates", _("Peak rates")),
    Group("units", _("Execution units and clocks")),
    Group("links", _("Links to other chips and to the host")),
    Group("power", _("Power")),
    Group("silicon", _("Silicon")),
    Group("software", _("What software sees")),
    Group("machines", _("Machines it is built into")),
)


@lru_cache(maxsize=1024)
def _words_of(field: Field, _language: str) -> tuple[str, str]:
    return str(field.title), str(field.meaning)


# Which entry of /learn/ explains a field further.
GLOSSARY: dict[str, str] = {
    "memory_gb": "gb-gib",
    "memory_gb_max": "gb-gib",
    "memory_type": "memory-types",
    "memory_bandwidth_gb_s": "bandwidth",
    "l2_cache_mb": "cache",
    "system_level_cache_mb": "cache",
    "gpu_memory_limit_mb": "unified-memory",
    "fp64_tflops": "fp32",
    "fp32_tflops": "flops",
    "tf32_tensor_tflops": "tf32",
    "fp16_tensor_tflops": "accumulate",
    "bf16_tensor_tflops": "bf16",
    "fp8_tensor_tflops": "fp8",
    "fp4_tensor_tflops": "mx",
    "int8_tensor_tops": "tops",
    "int4_tensor_tops": "tops",
    "neural_engine_tops": "neural-engine",
    "neural_engine_cores": "neural-engine",
    "sm_count": "sm",
    "cuda_cores": "sm",
    "gpu_cores": "sm",
    "gpu_alus": "sm",
    "tensor_cores": "tensor-core",
    "gpu_neural_accelerators": "tensor-core",
    "boost_clock_mhz": "boost",
    "gpu_clock_mhz": "boost",
    "mig_instances": "mig",
    "interconnect": "links",
    "interconnect_gb_s": "direction",
    "pcie": "links",
    "tdp_w": "board-power",
    "power_w": "board-power",
    "compute_capability": "compute-capability",
}

# Which formula holds a field's figures against others of the same sheet.
_MATRIX_RATES = ("tf32", "fp16", "bf16", "fp8", "fp4")
FORMULA: dict[str, str] = {
    "memory_gb_max": "largest-memory",
    "memory_bandwidth_gb_s": "bandwidth",
    "fp32_tflops": "fp32",
    **dict.fromkeys(("fp64_tflops", "fp64_tensor_tflops", "fp16_tflops"), "share-of-fp32"),
    **dict.fromkeys((f"{rate}_tensor_tflops" for rate in _MATRIX_RATES), "matrix-rate"),
    **dict.fromkeys(("int8_tensor_tops", "int4_tensor_tops"), "matrix-rate"),
    **dict.fromkeys(("cuda_cores", "gpu_alus"), "lanes"),
    "tensor_cores": "matrix-units",
}

# For whom a field can be at all: a maker (`apple`), a kind (`soc`) or both (`nvidia/soc`). Only what cannot be stands
# here: what a maker could publish and does not is missing, and the sheet says so.
_APPLE, _NVIDIA, _SOC = frozenset({"apple"}), frozenset({"nvidia"}), frozenset({"soc"})
_PROGRAMMABLE = frozenset({"gpu", "soc"})
ONLY: dict[str, frozenset[str]] = {
    **dict.fromkeys(("memory_gb_max", "gpu_memory_limit_mb", "gpu_cores", "gpu_alus", "gpu_clock_mhz"), _APPLE),
    **dict.fromkeys(("neural_engine_tops", "neural_engine_cores", "gpu_neural_accelerators"), _APPLE),
    **dict.fromkeys(("dynamic_caching", "cpu_s_cores", "metal_gpu_family", "soc_identifier"), _APPLE),
    **dict.fromkeys(("min_macos", "macs_shipped_in"), _APPLE),
    **dict.fromkeys(("nvml_name", "mig_instances"), _NVIDIA),
    **dict.fromkeys(("cpu_p_cores", "cpu_e_cores", "instruction_set", "system_level_cache_mb"), _SOC),
    "cuda_cores": frozenset({"gpu", "nvidia/soc"}),
    "hardware_ray_tracing": _PROGRAMMABLE,
}
NEVER: dict[str, frozenset[str]] = {
    # An Apple GPU has no fp64 and no TF32, is no card, and is counted in cores and lanes under names of its own.
    **dict.fromkeys(("fp64_tflops", "tf32_tensor_tflops", "sm_count", "tensor_cores", "boost_clock_mhz"), _APPLE),
    **dict.fromkeys(("chip", "form_factor", "pcie", "compute_capability"), _APPLE),
    "fp64_tensor_tflops": frozenset({"apple", "npu"}),
    "launch_price_usd": frozenset({"apple", "google", "aws"}),  # sold in machines, or rented, never by themselves
    "power_w": frozenset({"gpu"}),  # makers of cards publish their power: tdp_w
}

_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")
_RATE = (0.001, 2e6)  # TFLOPS or TOPS: from a Pascal card's fp16 to a wafer
_COUNT = (0, 1e6)


def _rate(name: str, title: Words, meaning: Words, *, headline: bool = False, unit: str = "TFLOPS") -> Field:
    usual = (DENSE_FP32_ACCUMULATE, DENSE) if name in ACCUMULATE_MATTERS else (DENSE,)
    return Field(
        name, title, unit, "rates", meaning, higher_is_better=True, plausible=_RATE, is_headline=headline, usual=usual
    )


def _text(name: str, title: Words, group: str, meaning: Words, usual: tuple[str, ...] = ("",)) -> Field:
    return Field(name, title, "", group, meaning, usual=usual)


def _cores(name: str, title: Words, meaning: Words) -> Field:
    return Field(name, title, "cores", "units", meaning, plausible=(1, 1000))


# GeForce cards run these at half rate when products are added up in fp32, which is what cuBLAS and PyTorch do.
ACCUMULATE_MATTERS = ("fp16_tensor_tflops", "fp8_tensor_tflops", "fp4_tensor_tflops")
# What a rate of these is read as where its source does not name the type (`figures.join_unnamed`).
UNNAMED_ACCUMULATE = {
    DENSE: DENSE_FP32_ACCUMULATE,
    "sparsity=sparse": "sparsity=sparse; accumulate=fp32",
}

_ALL: tuple[Field, ...] = (
    _text("vendor", _("Vendor"), "product", _("The company that sells the accelerator.")),
    _text("architecture", _("Architecture"), "product", _("The maker's name for the generation of the design.")),
    _text("chip", _("Chip"), "product", _("The maker's name for the piece of silicon; several products share one.")),
    _text("form_factor", _("Form factor"), "product", _("How it is built in: a PCIe card, an SXM module, a board.")),
    Field(
        "release_date",
        _("Released"),
        "",
        "product",
        _("When it was announced or could first be bought, as precisely as the source says."),
        is_headline=True,
        usual=("", "event=launched", "event=shipped", "event=announced"),
    ),
    Field(
        "launch_price_usd",
        _("Launch price"),
        "USD",
        "product",
        _("The price at which it was introduced; figures from shops and lists say so."),
        higher_is_better=False,
        plausible=(20, 2e6),
    ),
    Field(
        "memory_gb",
        _("Memory"),
        "GB",
        "memory",
        _("Memory of the accelerator; on a system on chip it is shared with the CPU."),
        higher_is_better=True,
        plausible=(0.008, 20000),
        is_headline=True,
        usual=("", "scope=gpu", "scope=on-chip"),
    ),
    Field(
        "memory_gb_max",
        _("Memory, largest model"),
        "GB",
        "memory",
        _("The largest memory the chip is sold with."),
        higher_is_better=True,
        plausible=(1, 2000),
    ),
    _text("memory_type", _("Memory type"), "memory", _("The kind of memory chips, with their data rate where known.")),
    Field(
        "memory_bus_bits",
        _("Memory bus"),
        "bit",
        "memory",
        _("How many bits the chip exchanges with its memory at a time."),
        higher_is_better=True,
        plausible=(32, 16384),
    ),
    Field(
        "memory_bandwidth_gb_s",
        _("Memory bandwidth"),
        "GB/s",
        "memory",
        _("How many bytes a second memory can deliver at most; what limits reading model weights."),
        higher_is_better=True,
        plausible=(5, 3e7),
        is_headline=True,
        usual=("", "scope=gpu", "scope=on-chip"),
    ),
    Field(
        "l2_cache_mb",
        _("Last shared cache of the GPU (L2)"),
        "MB",
        "memory",
        _("The cache all compute units share, in front of memory."),
        higher_is_better=True,
        plausible=(0.1, 50000),
    ),
    Field(
        "system_level_cache_mb",
        _("System level cache"),
        "MB",
        "memory",
        _("The cache CPU, GPU and Neural Engine of a system on chip share in front of memory."),
        higher_is_better=True,
        plausible=(1, 1000),
    ),
    Field(
        "gpu_memory_limit_mb",
        _("Memory the GPU may use"),
        "MB",
        "memory",
        _("How much of the shared memory the system lets the GPU use by default (recommendedMaxWorkingSetSize)."),
        higher_is_better=True,
        plausible=(1000, 1e6),
    ),
    _rate("fp64_tflops", _("fp64"), _("64-bit floating point on the ordinary cores; what simulations need.")),
    _rate("fp64_tensor_tflops", _("fp64 tensor"), _("64-bit floating point on the matrix units.")),
    _rate("fp32_tflops", _("fp32"), _("32-bit floating point on the ordinary cores."), headline=True),
    _rate(
        "tf32_tensor_tflops",
        _("TF32 tensor"),
        _("fp32 numbers with their products cut to 10 bits of mantissa, on the matrix units."),
    ),
    _rate("fp16_tflops", _("fp16, not tensor"), _("16-bit floating point on the ordinary cores.")),
    _rate(
        "fp16_tensor_tflops",
        _("fp16 tensor"),
        _("16-bit floating point matrix products; the accumulate type matters on GeForce cards."),
        headline=True,
    ),
    _rate(
        "bf16_tensor_tflops",
        _("bf16 tensor"),
        _("Matrix products of 16-bit numbers with the range of fp32; what most training uses."),
        headline=True,
    ),
    _rate("fp8_tensor_tflops", _("fp8 tensor"), _("8-bit floating point matrix products.")),
    _rate("fp4_tensor_tflops", _("fp4 tensor"), _("4-bit floating point matrix products with shared scales.")),
    _rate("int8_tensor_tops", _("int8 tensor"), _("8-bit integer matrix products."), headline=True, unit="TOPS"),
    _rate("int4_tensor_tops", _("int4 tensor"), _("4-bit integer matrix products."), unit="TOPS"),
    Field(
        "neural_engine_tops",
        _("Neural Engine"),
        "TOPS",
        "rates",
        _("Operations a second of Apple's Neural Engine as Apple counts them; the format changed over the years."),
        higher_is_better=True,
        plausible=(0.5, 500),
    ),
    Field(
        "sm_count",
        _("Compute units"),
        "count",
        "units",
        _("Streaming multiprocessors of NVIDIA; other makers count compute units, Xe cores or cores of their own."),
        higher_is_better=None,
        plausible=(1, 1e6),
    ),
    Field("cuda_cores", _("fp32 lanes"), "count", "units", _("CUDA cores or stream processors."), plausible=_COUNT),
    Field(
        "tensor_cores", _("Matrix units"), "count", "units", _("Tensor cores, matrix cores, XMX engines."), None, _COUNT
    ),
    _cores("gpu_cores", _("GPU cores"), _("Cores of an Apple GPU; each has 128 lanes.")),
    Field("gpu_alus", _("GPU lanes"), "ALUs", "units", _("fp32 lanes of an Apple GPU."), plausible=(64, 100000)),
    Field(
        "boost_clock_mhz",
        _("Clock"),
        "MHz",
        "units",
        _("The clock peak rates are given at; the highest clock a card reports can be higher."),
        higher_is_better=True,
        plausible=(100, 6000),
        usual=("", "clock=boost", "clock=tensor", "clock=maximum"),
    ),
    Field(
        "gpu_clock_mhz",
        _("GPU clock"),
        "MHz",
        "units",
        _("The highest clock of an Apple GPU."),
        higher_is_better=True,
        plausible=(300, 4000),
    ),
    Field(
        "mig_instances",
        _("MIG instances"),
        "count",
        "units",
        _("Into how many separate GPUs the card can be split; zero: it cannot."),
        higher_is_better=True,
        plausible=(0, 16),
    ),
    _cores("neural_engine_cores", _("Neural Engine cores"), _("Cores of Apple's Neural Engine.")),
    _text(
        "gpu_neural_accelerators",
        _("Neural accelerators in the GPU"),
        "units",
        _("Whether the Apple GPU has matrix units of its own, one per core."),
    ),
    _text(
        "hardware_ray_tracing",
        _("Hardware ray tracing"),
        "units",
        _("Whether the GPU has units that find where rays meet triangles."),
    ),
    _text(
        "dynamic_caching",
        _("Dynamic caching"),
        "units",
        _("Whether the Apple GPU shares out its on-chip memory while a program runs."),
    ),
    _cores("cpu_s_cores", _("CPU super cores"), _("The fastest cores of Apple chips from M5 on.")),
    _cores("cpu_p_cores", _("CPU performance cores"), _("Fast cores of the CPU on the same chip.")),
    _cores("cpu_e_cores", _("CPU efficiency cores"), _("Thrifty cores of the CPU on the same chip.")),
    _text(
        "interconnect", _("Link between accelerators"), "links", _("The maker's link from one accelerator to the next.")
    ),
    Field(
        "interconnect_gb_s",
        _("Link bandwidth"),
        "GB/s",
        "links",
        _("What all links of one accelerator carry together; makers usually count both directions."),
        higher_is_better=True,
        plausible=(1, 1e6),
        usual=("direction=both", "direction=one", ""),
    ),
    _text("pcie", _("Host link"), "links", _("PCI Express generation and width.")),
    Field(
        "tdp_w",
        _("Board power"),
        "W",
        "power",
        _("The power the maker says board and cooling are made for; the limit of a card in a machine can differ."),
        higher_is_better=False,
        plausible=(1, 30000),
        is_headline=True,
        usual=("", "scope=chip", "scope=gpu", "scope=board", "scope=module", "scope=limit", "load=peak"),
    ),
    Field(
        "power_w",
        _("Power, observed"),
        "W",
        "power",
        _("Power read or estimated by others where the maker publishes none."),
        higher_is_better=None,
        plausible=(1, 1000),
    ),
    _text("process_node", _("Process"), "silicon", _("The production process, as its foundry calls it.")),
    Field("transistors", _("Transistors"), "billion", "silicon", _("Transistors on the chip."), plausible=(0.5, 10000)),
    Field("die_area_mm2", _("Die area"), "mm2", "silicon", _("Area of the silicon."), plausible=(20, 50000)),
    _text(
        "compute_capability",
        _("Compute capability"),
        "software",
        _("NVIDIA's number for what kernels may use; other makers' compilers have target names."),
    ),
    _text("metal_gpu_family", _("Metal GPU family"), "software", _("Apple's number for what Metal shaders may use.")),
    _text("instruction_set", _("CPU instruction set"), "software", _("What the CPU on the same chip understands.")),
    _text("soc_identifier", _("Chip identifier"), "software", _("Apple's own number for the chip.")),
    _text("min_macos", _("Oldest macOS"), "software", _("The first major release of macOS that runs on it.")),
    _text("reported_name", _("Reported as"), "software", _("A name that software on the machine reports for it.")),
    _text("nvml_name", _("NVML name"), "software", _("The name the NVIDIA driver reports for the card.")),
    _text("macs_shipped_in", _("Macs"), "machines", _("Macs that are sold with this chip.")),
)

FIELDS: dict[str, Field] = {field.name: field for field in _ALL}
POSITION: dict[str, int] = {field.name: position for position, field in enumerate(_ALL)}
HEADLINES: tuple[Field, ...] = tuple(field for field in _ALL if field.is_headline)


def grouped(names: Iterable[str]) -> list[tuple[Group, list[Field]]]:
    """The fields with these names under their groups, both in registry order; empty groups are left out."""
    wanted = set(names)
    return [
        (group, fields)
        for group in GROUPS
        if (fields := [field for field in _ALL if field.group == group.name and field.name in wanted])
    ]


def amount_of(field: Field, value: str, unit: str) -> float | None:
    """A printed value in base units; None for text. Raises ValueError, in words, when the two do not fit the field."""
    if field.is_text:
        if unit:
            raise ValueError(f"{field.name} is text and has no unit, not {unit!r}")
        if field.is_date and not _is_date(value):
            raise ValueError(f"{field.name} is written 2022, 2022-10 or 2022-10-13, not {value!r}")
        return None
    if not unit:
        raise ValueError(f"{field.name} needs a unit, such as {field.unit}")
    try:
        number = float(value if value.isascii() and "_" not in value else "")  # Python reads ١２ and 1_000, nobody else
    except ValueError:
        raise ValueError(f"{field.name} is a number, not {value!r}") from None
    return _checked_amount(field, number, unit)


def _is_date(text: str) -> bool:
    """A year, a month or a day, as precise as the source says."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        return False
    return True


def _checked_amount(field: Field, number: float, unit: str) -> float:
    try:
        amount = to_si(number, unit)
        scale = to_si(1.0, field.unit)
    except KeyError as error:
        raise ValueError(str(error)) from None
    if unit_named(unit).si != unit_named(field.unit).si:
        raise ValueError(f"{field.name} is measured in {field.unit}; {unit} measures something else")
    if amount < 0:
        raise ValueError(f"{field.name} cannot be negative")
    if not field.is_plausible(amount / scale):
        least, most = field.plausible or (0, 0)
        raise ValueError(f"{field.name} lies between {least:g} and {most:g} {field.unit}; {number:g} {unit} does not")
    return amount
