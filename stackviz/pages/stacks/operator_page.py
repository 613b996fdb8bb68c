"""The pages of operators: execution paths on CUDA, MPS and further devices, with fallbacks and failures. No queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.draw.colours import hue_of
from stackviz.draw.diagrams.layers import Layer
from stackviz.records.stacks.operators import (
    COMPLETE,
    DEVICES,
    EVERY,
    MODES,
    Operator,
    OperatorStep,
    operators,
    steps_of,
)

DEVICE_VENDORS = {"cuda": "nvidia", "mps": "apple", "rocm": "amd", "xpu": "intel", "mlx": "apple"}
# Names: the same in every language.
DEVICE_TITLES = {"cuda": "CUDA", "mps": "MPS", "cpu": "CPU", "rocm": "ROCm", "xpu": "XPU", "mlx": "MLX"}
MODE_TITLES: Mapping[str, Promise] = {
    "eager": _("Eager: operators run one at a time"),
    "compiled": _("Compiled: torch.compile optimizes the whole graph"),
}
TIMED: Promise = _("Time of one call on PyTorch MPS, PyTorch CUDA and MLX, by shape")

# Operator -> rankings in which it was timed: benchmark and parameters, as addresses of /benchmarks/ have them.
TIMED_IN: Mapping[str, tuple[tuple[str, Promise, str], ...]] = {
    "matmul": (("operator-time", TIMED, "op=MatMul"), ("gemm", _("Matrix products by size and number format"), "")),
    "linear": (("operator-time", TIMED, "op=Linear"),),
    "conv2d": (("operator-time", TIMED, "op=Conv2d"),),
    "attention": (
        ("operator-time", TIMED, "op=ScaledDotProductAttention"),
        ("attention", _("Attention kernels by sequence length"), ""),
    ),
    "softmax": (("operator-time", TIMED, "op=Softmax"),),
    "layer-norm": (("operator-time", TIMED, "op=LayerNorm"),),
    "all-reduce": (("nccl-allreduce", _("All-reduce between GPUs"), ""),),
}

# Operator -> the calculation of its least time, and its title.
CALCULATED_IN: Mapping[str, tuple[str, Promise]] = {
    "matmul": ("gemm-time", _("Time of a matrix product")),
    "linear": ("gemm-time", _("Time of a matrix product")),
}


@dataclass(frozen=True, slots=True)
class OperatorPath:
    """The steps of an operator on one device."""

    operator: str
    device: str
    mode: str

    @property
    def title(self) -> str:
        return DEVICE_TITLES[self.device]

    @property
    def css(self) -> str:
        return hue_of(DEVICE_VENDORS[self.device]).css

    @property
    def layers(self) -> list[tuple[Layer, list[OperatorStep]]]:
        """Consecutive steps in one layer; empty where no path is documented."""
        steps = steps_of(self.operator, self.device, self.mode)
        return [(layer, list(group)) for layer, group in groupby(steps, key=lambda step: step.layer)]

    @property
    def shared(self) -> "OperatorPath":
        """The steps common to all operators on this device."""
        return OperatorPath(EVERY, self.device, self.mode)


def modes_of(operator: str) -> list[tuple[str, Promise, list[OperatorPath], OperatorPath]]:
    """(mode, title, the paths on GPUs, that on the CPU); ROCm, XPU and MLX where one is documented."""
    return [
        (
            mode,
            title,
            [
                OperatorPath(operator, gpu, mode)
                for gpu in DEVICES
                if gpu != "cpu" and (gpu in COMPLETE or steps_of(operator, gpu, mode))
            ],
            OperatorPath(operator, "cpu", mode),
        )
        for mode, title in MODE_TITLES.items()
    ]


def detours_of(operator: str) -> list[tuple[str, OperatorStep]]:
    """Every step that falls back or fails, with the title of its device."""
    return [
        (DEVICE_TITLES[device], step)
        for device in DEVICES
        for mode in MODES
        for step in steps_of(operator, device, mode)
        if step.outcome
    ]


def timings_of(operator: str) -> list[tuple[Promise, str]]:
    """(title, address) of the rankings in which an operator was timed, and of the calculation of its least time."""
    timings = [
        (title, reverse("benchmarks:benchmark", args=[benchmark]) + (f"?{query}" if query else ""))
        for benchmark, title, query in TIMED_IN.get(operator, ())
    ]
    if operator in CALCULATED_IN:
        calculation, title = CALCULATED_IN[operator]
        timings.append((title, reverse("learn:try", args=[calculation])))
    return timings


def operators_with(component: str) -> list[tuple[Operator, str]]:
    """(operator, devices) of the operators whose path runs through this component, in the order of the list."""
    devices = {
        operator: [
            DEVICE_TITLES[device]
            for device in DEVICES
            if any(step.component == component for mode in MODES for step in steps_of(slug, device, mode))
        ]
        for slug, operator in operators().items()
    }
    return [(operator, ", ".join(titles)) for operator, titles in devices.items() if titles]


def operator_rows() -> list[tuple[Operator, tuple[str, ...], tuple[str, ...], int, int]]:
    """(operator, library kernels on CUDA, on MPS, steps on MPS that run on the CPU, that fail) of all operators."""
    rows = []
    for slug, operator in operators().items():
        outcomes = [step.outcome for _title, step in detours_of(slug) if step.device == "mps"]
        kernels = (_library_kernels(slug, "cuda"), _library_kernels(slug, "mps"))
        rows.append((operator, *kernels, outcomes.count("cpu"), outcomes.count("missing")))
    return rows


def _library_kernels(operator: str, device: str) -> tuple[str, ...]:
    """The names of the library steps in eager mode."""
    steps = steps_of(operator, device, "eager")
    return tuple(step.named for step in steps if step.layer == Layer.LIBRARY and step.named)
