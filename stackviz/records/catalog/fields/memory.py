"""Memory and caches."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog import formulas
from stackviz.records.catalog.fields.field import APPLE, SOC, Field

__all__ = ["FIELDS"]

FIELDS = (
    Field(
        name="memory_gb",
        group="memory",
        title=_("Memory"),
        unit="GB",
        meaning=_("Memory of the accelerator; on a system on chip it is shared with the CPU."),
        higher_is_better=True,
        plausible=(0.008, 20000),
        is_headline=True,
        usual=("", "scope=gpu", "scope=on-chip"),
        glossary="gb-gib",
    ),
    Field(
        name="memory_gb_max",
        group="memory",
        title=_("Memory, largest model"),
        unit="GB",
        meaning=_("The largest memory the chip is sold with."),
        higher_is_better=True,
        plausible=(1, 2000),
        glossary="gb-gib",
        formula=formulas.LARGEST_MEMORY,
        only=APPLE,
    ),
    Field(
        name="memory_type",
        group="memory",
        title=_("Memory type"),
        meaning=_("Type of memory chips, with their data rate where known."),
        glossary="memory-types",
    ),
    Field(
        name="memory_bus_bits",
        group="memory",
        title=_("Memory bus"),
        unit="bit",
        meaning=_("Width of the memory interface, in bits."),
        higher_is_better=True,
        plausible=(32, 16384),
    ),
    Field(
        name="memory_bandwidth_gb_s",
        group="memory",
        title=_("Memory bandwidth"),
        unit="GB/s",
        meaning=_("Maximum bytes per second that memory delivers; limits how fast model weights can be read."),
        higher_is_better=True,
        plausible=(5, 3e7),
        is_headline=True,
        usual=("", "scope=gpu", "scope=on-chip"),
        glossary="bandwidth",
        formula=formulas.BANDWIDTH,
    ),
    Field(
        name="l2_cache_mb",
        group="memory",
        title=_("Last shared cache of the GPU (L2)"),
        unit="MB",
        meaning=_("Cache in front of memory that all compute units share."),
        higher_is_better=True,
        plausible=(0.1, 50000),
        glossary="cache",
    ),
    Field(
        name="infinity_cache_mb",
        group="memory",
        title=_("Infinity Cache"),
        unit="MB",
        meaning=_("AMD's last cache in front of memory, behind the L2; all dies of the GPU share it."),
        higher_is_better=True,
        plausible=(1, 10000),
        glossary="cache",
        only=frozenset({"amd"}),
    ),
    Field(
        name="system_level_cache_mb",
        group="memory",
        title=_("System level cache"),
        unit="MB",
        meaning=_("Cache in front of memory that the CPU, GPU and Neural Engine of a system on chip share."),
        higher_is_better=True,
        plausible=(1, 1000),
        glossary="cache",
        only=SOC,
    ),
    Field(
        name="gpu_memory_limit_mb",
        group="memory",
        title=_("Memory the GPU may use"),
        unit="MB",
        meaning=_(
            "How much of the shared memory the system lets the GPU use by default (recommendedMaxWorkingSetSize)."
        ),
        higher_is_better=True,
        plausible=(1000, 1e6),
        glossary="unified-memory",
        only=APPLE,
    ),
)
