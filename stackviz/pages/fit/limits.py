"""How much of its printed memory a model may use. Pure: no Django.

"24 GB" of a graphics card are 24 GiB: an RTX 4090 reports 24,564 MiB, an H200 of "141 GB" 143,771 MiB. Where memory is
shared with the processor, the system keeps a part; where it protects itself, so does the memory.
"""

from dataclasses import dataclass
from typing import Literal

from stackviz.pages.fit.memory import CUDA_RUNTIME, METAL_RUNTIME

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
