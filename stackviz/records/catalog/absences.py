"""Why an accelerator cannot have a field, in words: rules, each with what proves it and where that stands.

A rule holds for a sheet that publishes its proof: a value of another field, whose source is the source of the words.
What a vendor could publish and does not is no absence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from stackviz.base.light import light_dataclass
from stackviz.records.catalog.fields import DENSE, FIELDS, Words
from stackviz.records.catalog.models import Accelerator, SpecValue

GUIDE_TITLE = "NVIDIA: CUDA C++ Programming Guide, Compute Capabilities"
GUIDE_URL = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities"

# Those whose chips have matrix units. 7.5 is beside them: GeForce GTX 16 and T1000 have it without matrix units.
KNOWN = ("7.0", "7.2", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")
MIXED = "7.5"

# Field of the rate -> the first compute capability that has it, and those after it do.
LEAST: Mapping[str, str] = {
    "fp64_tensor_tflops": "8.0",
    "tf32_tensor_tflops": "8.0",
    "fp16_tensor_tflops": "7.0",
    "bf16_tensor_tflops": "8.0",
    "fp8_tensor_tflops": "8.9",
    "fp4_tensor_tflops": "10.0",
    "int8_tensor_tops": "7.2",
}
# Chips for computing centres have fp64 in their matrix units, those for desks and devices do not.
_ONLY: Mapping[str, tuple[str, ...]] = {"fp64_tensor_tflops": ("8.0", "9.0", "10.0")}
# Without a published capability the architecture decides, if all its capabilities agree.
_OF_ARCHITECTURE: Mapping[str, tuple[str, ...]] = {
    "Volta": ("7.0", "7.2"),
    "Ampere": ("8.0", "8.6", "8.7"),
    "Ada Lovelace": ("8.9",),
    "Hopper": ("9.0",),
    "Blackwell": ("10.0", "11.0", "12.0", "12.1"),
    "Blackwell Ultra": ("10.3",),
}


def capabilities_with(field: str) -> tuple[str, ...]:
    """The compute capabilities whose every chip has this rate, `MIXED` left out; none for an unlisted field."""
    if field not in LEAST:
        return ()
    return tuple(
        capability for capability in _ONLY.get(field, KNOWN) if not is_lower_capability(capability, LEAST[field])
    )


def is_mixed(field: str) -> bool:
    """Whether chips of the capability `MIXED` have this rate if they have matrix units at all."""
    return field in LEAST and field not in _ONLY and not is_lower_capability(MIXED, LEAST[field])


def architectures_with(field: str) -> tuple[str, ...]:
    """The architectures whose every chip has this rate."""
    having = frozenset(capabilities_with(field))
    return tuple(name for name, capabilities in _OF_ARCHITECTURE.items() if having.issuperset(capabilities))


def lacks(field: str, capability: str) -> bool:
    """Whether a chip of this compute capability cannot have the rate; not known of other makers' texts."""
    return field in LEAST and _parts(capability) != () and is_lower_capability(capability, LEAST[field])


def is_lower_capability(capability: str, least: str) -> bool:
    return _parts(capability) < _parts(least)


def _parts(capability: str) -> tuple[int, ...]:
    parts = capability.split(".")
    return tuple(map(int, parts)) if len(parts) == 2 and all(part.isdecimal() for part in parts) else ()


RowValues = Mapping[tuple[str, str], Sequence[SpecValue]]  # (field, condition) -> values, as of `spec_table`


@light_dataclass(slots=True, kw_only=True)
class Absence:
    """Why one accelerator cannot have a field, in the reader's language.

    `at_most`: the field whose dense rate bounds what runs on other units instead, "" where nothing does; then
    `at_most_words` say which units.
    """

    words: str
    source_title: str
    source_url: str
    at_most: str = ""
    at_most_words: str = ""

    def bounds(self, condition: str) -> bool:
        """Whether the bound holds under this condition: never where zeros are skipped."""
        return bool(self.at_most) and condition.startswith(DENSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsenceRule:
    """`fields` are absent where a sheet publishes `proof`: a field, then the values that prove it (none: any value).

    `vendor`: of whose accelerators alone, "" for all. `source`: (title, address) where the proof's own does not say it.
    `bounded`: of `fields`, those whose products ordinary cores compute at most at their fp32 rate.
    """

    fields: tuple[str, ...]
    proof: tuple[str, ...]
    words: Words
    vendor: str = ""
    source: tuple[str, str] = ("", "")
    bounded: frozenset[str] = frozenset()


_NEEDED = _("needs compute capability %(least)s, this is %(has)s")
_METAL = (
    "Apple: Metal Shading Language Specification",
    "https://developer.apple.com/metal/Metal-Shading-Language-Specification.pdf",
)

_GPUOPEN_CDNA = (
    "AMD GPUOpen: AMD matrix cores",
    "https://gpuopen.com/learn/amd-lab-notes/amd-lab-notes-matrix-cores-readme/",
)
_GPUOPEN_RDNA_3 = (
    "AMD GPUOpen: How to accelerate AI applications on RDNA 3 using WMMA",
    "https://gpuopen.com/learn/wmma_on_rdna3/",
)
_LLVM_GFX906 = ("LLVM: Syntax of gfx906 Instructions", "https://llvm.org/docs/AMDGPU/AMDGPUAsmGFX906.html")
_LLVM_GFX1011 = (
    "LLVM: Syntax of gfx1011 and gfx1012 Instructions",
    "https://llvm.org/docs/AMDGPU/AMDGPUAsmGFX1011.html",
)
_ANANDTECH_TU116 = (
    "AnandTech: The GeForce GTX 1660 Ti review, TU116",
    "https://www.anandtech.com/show/13973/nvidia-gtx-1660-ti-review-feat-evga-xc-gaming/2",
)

_FLOAT_MATRIX = (
    "tensor_cores",
    "tf32_tensor_tflops",
    "fp16_tensor_tflops",
    "bf16_tensor_tflops",
    "fp8_tensor_tflops",
    "fp4_tensor_tflops",
)
_INTEGER_MATRIX = ("int8_tensor_tops", "int4_tensor_tops")

RULES: tuple[AbsenceRule, ...] = (
    AbsenceRule(
        fields=(*_FLOAT_MATRIX, *_INTEGER_MATRIX),
        proof=("gpu_neural_accelerators", "no"),
        words=_("no matrix units in the GPU before A19 and M5"),
        bounded=frozenset({"tf32_tensor_tflops", "fp16_tensor_tflops", "bf16_tensor_tflops"}),
    ),
    AbsenceRule(
        fields=_FLOAT_MATRIX,
        proof=("architecture", "GCN 2", "GCN 3", "GCN 4", "GCN 5", "GCN 5.1"),
        words=_("no matrix units before CDNA"),
        vendor="amd",
        source=_GPUOPEN_CDNA,
    ),
    AbsenceRule(
        fields=_FLOAT_MATRIX,
        proof=("architecture", "RDNA", "RDNA 2"),
        words=_("no matrix units before RDNA 3"),
        vendor="amd",
        source=_GPUOPEN_RDNA_3,
    ),
    # Where ordinary cores have 8-bit dot products, their rate stands in the field, under the condition `engine=dp4a`.
    AbsenceRule(
        fields=_INTEGER_MATRIX,
        proof=("compute_capability", "gfx701", "gfx803", "gfx900"),
        words=_("neither matrix units nor integer dot products before gfx906"),
        vendor="amd",
        source=_LLVM_GFX906,
    ),
    AbsenceRule(
        fields=_INTEGER_MATRIX,
        proof=("compute_capability", "gfx1010"),
        words=_("neither matrix units nor integer dot products before gfx1011"),
        vendor="amd",
        source=_LLVM_GFX1011,
    ),
    AbsenceRule(
        fields=("tensor_cores", "fp16_tensor_tflops", *_INTEGER_MATRIX),
        proof=("chip", "TU116", "TU117"),
        words=_("Turing without matrix units: TU116 and TU117 have none"),
        vendor="nvidia",
        source=_ANANDTECH_TU116,
    ),
    AbsenceRule(
        fields=("memory_gb", "memory_gb_max", "memory_type", "memory_bus_bits", "memory_bandwidth_gb_s"),
        proof=("compute_capability", "gfx1103", "gfx1150", "gfx1151", "gfx1152"),
        words=_("uses the memory of the machine it is in"),
        vendor="amd",
    ),
    AbsenceRule(
        fields=("fp64_tflops", "fp64_tensor_tflops"),
        proof=("metal_gpu_family",),
        words=_("Metal has no fp64"),
        source=_METAL,
    ),
    AbsenceRule(
        fields=("launch_price_usd",),
        proof=("macs_shipped_in",),
        words=_("sold in Macs, not by itself"),
        vendor="apple",
    ),
    AbsenceRule(
        fields=("launch_price_usd",),
        proof=("machine_price_usd",),
        words=_("sold in whole machines, not by itself"),
        vendor="nvidia",
    ),
    AbsenceRule(
        fields=("form_factor", "pcie"),
        proof=("macs_shipped_in",),
        words=_("on the chip with the CPU, built into Macs"),
        vendor="apple",
    ),
)


def absences_of(item: Accelerator, values: RowValues) -> dict[str, Absence]:
    """Field -> why this accelerator cannot have it; of its published values the preferred ones are given."""
    by_field: dict[str, SpecValue] = {}
    for (name, _condition), of_row in values.items():
        by_field.setdefault(name, of_row[0])
    absences = _by_capability(by_field.get("compute_capability"))
    for rule in RULES:
        field, *proving = rule.proof
        proof = by_field.get(field)
        if proof is None or rule.vendor not in {"", item.vendor.slug} or (proving and proof.value not in proving):
            continue
        for name in rule.fields:
            absences[name] = _absence(rule, proof, is_bounded=name in rule.bounded)
    return {name: absence for name, absence in absences.items() if name not in by_field}


def _absence(rule: AbsenceRule, proof: SpecValue, *, is_bounded: bool) -> Absence:
    title, url = rule.source
    if not url and proof.source:
        title, url = proof.source.title, proof.source.url
    if not is_bounded:
        return Absence(words=str(rule.words), source_title=title, source_url=url)
    return Absence(
        words=str(rule.words),
        source_title=title,
        source_url=url,
        at_most="fp32_tflops",
        at_most_words=str(_("at most, on the ordinary cores")),
    )


def _by_capability(proof: SpecValue | None) -> dict[str, Absence]:
    """What a chip of this compute capability cannot have, as NVIDIA's guide lists them."""
    if proof is None:
        return {}
    return {
        name: Absence(
            words=str(_NEEDED) % {"least": least, "has": proof.value},
            source_title=GUIDE_TITLE,
            source_url=GUIDE_URL,
        )
        for name, least in LEAST.items()
        if name in FIELDS and lacks(name, proof.value)
    }
