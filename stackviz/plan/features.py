"""What the tables call a generation's features, in words for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

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
