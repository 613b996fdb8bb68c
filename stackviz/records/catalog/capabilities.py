"""Which number formats the matrix units of an NVIDIA chip take, by its compute capability.

The one place that knows. Source: NVIDIA, CUDA C++ Programming Guide, chapter Compute Capabilities, table "Tensor Core
input data types per compute capability" (docs.nvidia.com/cuda/cuda-c-programming-guide). Formats that later chips
dropped again, such as int4, are not here: of them only published rates tell.
"""

from collections.abc import Mapping

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
