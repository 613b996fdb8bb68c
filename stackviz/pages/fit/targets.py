"""The accelerators of the public catalogue as `/fit/` needs them: memory by configuration, bandwidth, rates."""

import re
import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import get_language

from stackviz.pages.fit.memory import CUDA_RUNTIME, METAL_RUNTIME
from stackviz.pages.fit.rates import RatedAccelerator
from stackviz.records.catalog.conditions import parse
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue

LimitRule = Literal["reported", "apple", "gddr-ecc", "card", "shared", "printed"]
GB, GIB = 10**9, 2**30
# recommendedMaxWorkingSetSize, from llama.cpp logs of eight Macs: 66.7 % up to 32 GB, 75 % from 48 GB on; macOS 26
# gives 78 %. 36 GB was not seen; tools take the smaller share for it.
APPLE_SMALL, APPLE_LARGE, APPLE_STEP_GB = 2 / 3, 3 / 4, 36
CARD_SHARE = 0.99  # cards report 0.05 to 0.7 % less than printed; the driver keeps a little more
ECC_SHARE = 15 / 16  # in-band ECC of GDDR: an RTX A6000 reports 46,068 of 49,152 MiB with it, a T4 15,360 of 16,384
SHARED_SHARE = 0.9  # of a board whose processor shares the memory; an assumption
PRINTED_SHARE = 0.97  # of other accelerators, whose GB are taken as decimal; an assumption
SOURCES: dict[LimitRule, tuple[str, str]] = {
    "apple": (
        "GPU-Benchmarks-on-LLM-Inference: device logs",
        "https://github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference/tree/aa72e0ec86c356c41f8281c9733e9a13c3675800",
    ),
    "gddr-ecc": (
        "NVIDIA: nvidia-smi documentation, ECC mode",
        "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    ),
}


@dataclass(frozen=True, kw_only=True)
class MemoryLimit:
    """`usable` bytes of one accelerator, of `printed` GB, by which rule. `runtime`: what its libraries take of it."""

    printed_gb: float
    usable: float
    rule: LimitRule
    share: float
    runtime: float

    @property
    def source(self) -> tuple[str, str]:
        """Title and address of where the rule is from; empty for an assumption."""
        return SOURCES.get(self.rule, ("", ""))

    @property
    def is_unified(self) -> bool:
        """Whether a processor shares the memory."""
        return self.rule in ("reported", "apple", "shared")


def memory_limit(
    *, vendor: str, kind: str, printed_gb: float, reported: float | None = None, has_inband_ecc: bool = False
) -> MemoryLimit:
    """The limit of an accelerator. `reported`: bytes a machine of this configuration says its GPU may use."""
    runtime = METAL_RUNTIME if vendor == "apple" else CUDA_RUNTIME
    size = printed_gb * GIB
    rule: LimitRule
    if vendor == "apple" and reported:
        return MemoryLimit(
            printed_gb=printed_gb, usable=reported, rule="reported", share=reported / size, runtime=runtime
        )
    if vendor == "apple":
        rule, share = "apple", APPLE_SMALL if printed_gb <= APPLE_STEP_GB else APPLE_LARGE
    elif kind == "gpu":
        rule, share = ("gddr-ecc", CARD_SHARE * ECC_SHARE) if has_inband_ecc else ("card", CARD_SHARE)
    elif kind == "soc":
        rule, share, size = "shared", SHARED_SHARE, printed_gb * GB
    else:
        rule, share, size = "printed", PRINTED_SHARE, printed_gb * GB
    return MemoryLimit(printed_gb=printed_gb, usable=size * share, rule=rule, share=share, runtime=runtime)


_ON_CHIP = "scope=on-chip"  # static memory inside a chip, which is no place for a model
_SIXTEEN_BIT = ("fp16_tensor_tflops", "bf16_tensor_tflops")
# Architectures whose int8 rate is of dot products in the vector units, not of matrix units.
_WITHOUT_MATRIX_UNITS = frozenset({"Pascal", "Maxwell", "Kepler"})
_APPLE_GENERATION = re.compile(r"\bM\d+\b")


@dataclass(frozen=True, kw_only=True)
class FitTarget:
    """One public accelerator. `limits`: of each memory configuration it is sold with, the smallest first."""

    slug: str
    name: str
    vendor_name: str
    kind: str
    url: str
    rated: RatedAccelerator
    limits: tuple[MemoryLimit, ...]

    @property
    def sizes(self) -> tuple[float, ...]:
        """The GB of each memory configuration, the smallest first."""
        return tuple(limit.printed_gb for limit in self.limits)


def fit_targets(catalogue: PublicCatalogue) -> Mapping[str, FitTarget]:
    """All public accelerators by slug, in the order of the catalogue; once for each edition."""
    key = "fit targets", get_language()
    return catalogue.cached(key) or catalogue.keep(key, _targets(catalogue))


def _targets(catalogue: PublicCatalogue) -> Mapping[str, FitTarget]:
    sheets = [_Sheet(catalogue, item) for item in catalogue.accelerators]
    ratios: dict[str, list[float]] = defaultdict(list)
    for sheet in sheets:
        if sheet.matrix and sheet.vector:
            ratios[sheet.family].append(sheet.matrix / sheet.vector)
    usual = {family: statistics.median(of_family) for family, of_family in ratios.items() if family}
    return {sheet.item.slug: sheet.target(usual) for sheet in sheets}


class _Sheet:
    """The figures of one accelerator."""

    def __init__(self, catalogue: PublicCatalogue, item: Accelerator) -> None:
        self.item = item
        self._values = {field: catalogue.preferred(item.pk, field) for field in _FIELDS}
        self.family = _family(item, self._text("architecture"))
        self.vector = self._largest("fp32_tflops")
        self.matrix = self._matrix()

    def target(self, usual: Mapping[str, float]) -> FitTarget:
        item = self.item
        return FitTarget(
            slug=item.slug,
            name=item.name,
            vendor_name=item.vendor.name,
            kind=item.kind,
            url=item.get_absolute_url(),
            rated=RatedAccelerator(
                slug=item.slug,
                vendor=item.vendor.slug,
                family=self.family,
                bandwidth=self._largest("memory_bandwidth_gb_s"),
                vector_flops=self.vector,
                matrix_flops=self._matrix_or_likely(usual),
            ),
            limits=self._limits(),
        )

    def _matrix(self) -> float | None:
        """The dense rate of the fastest 16-bit path: of matrix units, half their int8 rate, or what Apple's GPUs do."""
        if self.item.vendor.slug == "apple" or self.family in _WITHOUT_MATRIX_UNITS:
            return self.vector
        rates = [rate for field in _SIXTEEN_BIT if (rate := self._largest(field))]
        int8 = self._largest("int8_tensor_tops")
        return max([*rates, *([int8 / 2] if int8 else [])], default=None)

    def _matrix_or_likely(self, usual: Mapping[str, float]) -> float | None:
        """Where none is published: as many times the fp32 rate as others of the family have, else what vectors do."""
        if self.matrix:
            return self.matrix
        if self.vector and self.family in usual:
            return self.vector * usual[self.family]
        return max(filter(None, (self._largest("fp16_tflops"), self.vector)), default=None)

    def _limits(self) -> tuple[MemoryLimit, ...]:
        vendor, kind = self.item.vendor.slug, self.item.kind
        reported = {
            _configuration(value): value.amount for value in self._values["gpu_memory_limit_mb"] if value.amount
        }
        sizes = {value.amount / GB for value in self._usable("memory_gb") if value.amount}
        sizes = sizes or {value.amount / GB for value in self._usable("memory_gb_max") if value.amount}
        return tuple(
            memory_limit(
                vendor=vendor,
                kind=kind,
                printed_gb=size,
                reported=reported.get(f"{size:g} GB"),
                has_inband_ecc=self._has_inband_ecc(),
            )
            for size in sorted(sizes)
        )

    def _has_inband_ecc(self) -> bool:
        """Professional NVIDIA cards with GDDR come with ECC, or can have it switched on."""
        is_consumer = any(name_part in self.item.name for name_part in ("GeForce", "TITAN", "Titan"))
        is_nvidia = self.item.vendor.slug == "nvidia" and not is_consumer
        return is_nvidia and self._text("memory_type").upper().startswith("GDDR")

    def _usable(self, field: str) -> list[SpecValue]:
        return [value for value in self._values[field] if _ON_CHIP not in value.condition]

    def _largest(self, field: str) -> float | None:
        """The largest dense figure, in the base unit."""
        values = [value for value in self._usable(field) if value.amount and "sparsity=sparse" not in value.condition]
        return max((value.amount or 0.0 for value in values), default=None)

    def _text(self, field: str) -> str:
        return next((value.value for value in self._values[field]), "")


_FIELDS = (
    "architecture", "memory_type", "memory_gb", "memory_gb_max", "gpu_memory_limit_mb", "memory_bandwidth_gb_s",
    "fp32_tflops", "fp16_tflops", *_SIXTEEN_BIT, "int8_tensor_tops",
)  # fmt: skip


def _family(item: Accelerator, architecture: str) -> str:
    """Its architecture; Apple names none, so the generation of the chip."""
    if item.vendor.slug == "apple":
        generation = _APPLE_GENERATION.search(item.name)
        return generation[0] if generation else ""
    return architecture


def _configuration(value: SpecValue) -> str:
    return parse(value.condition).get("configuration", "")
