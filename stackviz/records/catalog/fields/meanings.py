"""Fields of one meaning: what several vendors publish under names of their own, so that it can stand side by side.

A field joins a meaning in one line: a `Member`. Needs no database.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import Words


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A field of a meaning. `label`: its name in a cell; conditions that say what is counted stand without it.

    `conditions`: the only ones that answer in a picture of all accelerators, in this order; () are the usual ones.
    `kind`: members of one kind count the same thing, so that a factor between them is right; "" is the field's own.
    """

    field: str
    label: Words
    conditions: tuple[str, ...] = ()
    kind: str = ""

    @property
    def counts(self) -> str:
        return self.kind or self.field


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What these fields are all about. `members`: of each accelerator the first that is published answers."""

    name: str
    title: Words
    members: tuple[Member, ...]

    def member(self, field: str) -> Member:
        for member in self.members:
            if member.field == field:
                return member
        raise KeyError(field)


COMPUTE_RATE = Meaning(
    "compute-rate",
    _("bf16 matrix product"),
    (
        Member("bf16_tensor_tflops", _("bf16 tensor")),
        Member("fp16_tensor_tflops", _("fp16 tensor")),
        Member("fp16_tflops", _("fp16, not tensor"), kind="ordinary cores"),
        Member("fp32_tflops", _("fp32"), kind="ordinary cores"),
    ),
)

POWER = Meaning(
    "power",
    _("Power"),
    (
        Member("tdp_w", _("board"), ("", "scope=board", "scope=module", "scope=chip", "load=peak")),
        Member("power_w", _("observed"), ("engine=gpu", "engine=gpu; load=peak", "", "load=wall")),
    ),
)

PRICE = Meaning(
    "price", _("Price"), (Member("launch_price_usd", _("card")), Member("machine_price_usd", _("whole machine")))
)

# Those whose fields share a row of a comparison.
MEANINGS: tuple[Meaning, ...] = (
    Meaning("chip", _("Chip"), (Member("chip", _("die")), Member("soc_identifier", _("chip identifier")))),
    Meaning(
        "last-level-cache",
        _("Last-level cache"),
        (
            Member("infinity_cache_mb", _("Infinity Cache")),
            Member("system_level_cache_mb", _("system level cache")),
            Member("l2_cache_mb", _("L2")),
        ),
    ),
    Meaning("compute-units", _("Compute units"), (Member("sm_count", _("SM")), Member("gpu_cores", _("GPU cores")))),
    Meaning(
        "lanes",
        _("fp32 lanes"),
        (
            Member("cuda_cores", _("CUDA cores or stream processors"), kind="lanes"),
            Member("gpu_alus", _("GPU lanes"), kind="lanes"),
        ),
    ),
    Meaning(
        "matrix-units",
        _("Matrix units"),
        (
            Member("tensor_cores", _("matrix units")),
            Member("gpu_neural_accelerators", _("neural accelerators in the GPU")),
        ),
    ),
    Meaning(
        "clock", _("Clock"), (Member("boost_clock_mhz", _("boost clock")), Member("gpu_clock_mhz", _("GPU clock")))
    ),
    POWER,
    PRICE,
    Meaning(
        "feature-level",
        _("Version of what kernels can use"),
        (
            Member("compute_capability", _("compute capability")),
            Member("metal_gpu_family", _("Metal GPU family")),
        ),
    ),
)

# Field -> the meaning in whose row it stands.
MEANING_OF: dict[str, Meaning] = {member.field: meaning for meaning in MEANINGS for member in meaning.members}
