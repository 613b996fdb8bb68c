"""What software sees."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import APPLE, NVIDIA, SOC, Field

FIELDS = (
    Field(
        name="compute_capability",
        group="software",
        title=_("Compute capability"),
        meaning=_(
            "NVIDIA's version number for the features that kernels can use; other vendors' compilers have target names."
        ),
        glossary="compute-capability",
        never=APPLE,
    ),
    Field(
        name="metal_gpu_family",
        group="software",
        title=_("Metal GPU family"),
        meaning=_("Apple's version number for the features that Metal shaders can use."),
        only=APPLE,
    ),
    Field(
        name="instruction_set",
        group="software",
        title=_("CPU instruction set"),
        meaning=_("Instruction set of the CPU on the same chip."),
        only=SOC,
    ),
    Field(
        name="soc_identifier",
        group="software",
        title=_("Chip identifier"),
        meaning=_("Apple's own identifier for the chip."),
        only=APPLE,
    ),
    Field(
        name="min_macos",
        group="software",
        title=_("Oldest macOS"),
        meaning=_("The first major release of macOS that runs on it."),
        only=APPLE,
    ),
    Field(
        name="reported_name",
        group="software",
        title=_("Reported as"),
        meaning=_("A name that software on the machine reports for it."),
    ),
    Field(
        name="nvml_name",
        group="software",
        title=_("NVML name"),
        meaning=_("The name the NVIDIA driver reports for the card."),
        only=NVIDIA,
    ),
)
