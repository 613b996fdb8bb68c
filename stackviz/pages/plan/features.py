"""What a card's generation has and lacks, as its vendor's tables say, in words for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.pages.plan.planned_machine import PlannedMachine
from stackviz.report.rules import Requirement, Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.known_cards import KnownCard, normalized

TITLES: dict[str, Promise] = {
    "async-copy": _("asynchronous copies into shared memory"),
    "bf16-arithmetic": _("bfloat16 arithmetic"),
    "mig": _("Multi-Instance GPU (MIG)"),
    "tensor-core-bf16": _("tensor cores for bfloat16"),
    "tensor-core-fp16": _("tensor cores for FP16"),
    "tensor-core-fp4": _("tensor cores for FP4"),
    "tensor-core-fp6": _("tensor cores for FP6"),
    "tensor-core-fp64": _("tensor cores for FP64"),
    "tensor-core-fp8": _("tensor cores for FP8"),
    "tensor-core-int4": _("tensor cores for INT4"),
    "tensor-core-int8": _("tensor cores for INT8"),
    "tensor-core-tf32": _("tensor cores for TF32"),
    "tensor-memory-accelerator": _("Tensor Memory Accelerator (TMA)"),
    "thread-block-cluster": _("thread block clusters"),
}


def feature_title(subject: str) -> str:
    """`tensor-core-bf16` -> tensor cores for bfloat16; one without a title keeps its name."""
    return str(TITLES.get(subject, subject.replace("-", " ")))


def features(machine: PlannedMachine, tables: Tables) -> list[Requirement]:
    """What the card's generation has and lacks (`values` "yes", "no"), by name; empty for a card without a capability.

    MIG is a feature of some cards of a generation: of those that NVIDIA lists.
    """
    card = machine.card
    if card is None or not card.compute_capability:
        return []
    has_mig = any(_is_named(row.version, card) for row in tables.rows("mig", "needs", "nvidia-driver"))
    rows = _features_of(tables, card.compute_capability)
    return [row for row in rows if row.subject != "mig" or row.values == "no" or has_mig]


@computed_once
def _features_of(tables: Tables, capability: str) -> tuple[Requirement, ...]:
    rows = (row for row in tables.requirements if row.component == "compute-capability" and row.relation == "offers")
    rows_of_card = (row for row in rows if row.version == capability and row.values in ("yes", "no"))
    return tuple(sorted(rows_of_card, key=lambda row: (row.subject, row.key)))


def _is_named(listed: str, card: KnownCard) -> bool:
    """Whether a vendor's list of products names this one: `B200/GB200`, `GB300 (DGX Station)`."""
    words = set(normalized(card.reported_name).split()) | set(card.accelerator.split("-"))
    return any(set(normalized(name).split()) <= words for name in listed.partition("(")[0].split("/"))
