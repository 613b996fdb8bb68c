"""The accelerators of the public catalogue as `/fit/` needs them: memory by configuration, bandwidth, rates."""

import re
import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import get_language

from stackviz.pages.fit.limits import GB, MemoryLimit, memory_limit
from stackviz.pages.fit.rates import RatedAccelerator
from stackviz.records.catalog.conditions import parse
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue

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


def fit_targets(catalogue: PublicCatalogue) -> Mapping[str, FitTarget]:
    """All public accelerators by slug, in the order of the catalogue; once for each edition."""
    return catalogue.once(("fit targets", get_language()), lambda: _targets(catalogue))


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
