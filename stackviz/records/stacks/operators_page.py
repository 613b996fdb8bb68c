"""The pages of the operators: execution paths side by side, with fallbacks and failures. No queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.draw.diagrams.layers import Layer
from stackviz.records.stacks.operators import DEVICES, EVERY, MODES, Operator, OperatorStep, operators, steps_of

DEVICE_TITLES = {"cuda": "CUDA", "mps": "MPS", "cpu": "CPU"}  # names: the same in every language
MODE_TITLES: Mapping[str, Promise] = {
    "eager": _("Eager: operators run one at a time"),
    "compiled": _("Compiled: torch.compile optimizes the whole graph"),
}
SIDE_BY_SIDE = ("cuda", "mps")
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
class Stretch:
    """Consecutive steps in one layer."""

    layer: Layer
    steps: tuple[OperatorStep, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """The path on one device; `shared`: the steps common to all operators there. Empty where none is documented."""

    device: str
    title: str
    stretches: tuple[Stretch, ...]
    shared: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """Eager or compiled: the paths on the two GPUs side by side, and that on the CPU."""

    key: str
    title: str | Promise
    ways: tuple[Way, ...]
    cpu: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRow:
    """An operator in the list. `to_cpu`, `missing`: numbers of its steps on MPS that fall back or fail."""

    operator: Operator
    url: str
    on_cuda: tuple[str, ...]
    on_mps: tuple[str, ...]
    to_cpu: int
    missing: int


@dataclass(frozen=True, slots=True)
class OperatorPage:
    """One operator. `detours`: every step that falls back or fails, with the title of its device."""

    operator: Operator
    modes: tuple[Mode, ...]
    detours: tuple[tuple[str, OperatorStep], ...]
    others: tuple[tuple[str, str, bool], ...]  # name, address, whether it is this one
    timed: tuple[tuple[str | Promise, str], ...]  # what was timed or is worked out, its address


def operator_page(slug: str) -> OperatorPage | None:
    """The page of an operator; None if there is none of this slug."""
    operator = operators().get(slug)
    if operator is None:
        return None
    modes = tuple(
        Mode(
            mode,
            MODE_TITLES[mode],
            tuple(_way(slug, device, mode) for device in SIDE_BY_SIDE),
            _way(slug, "cpu", mode),
        )
        for mode in MODES
    )
    others = tuple((other.local_name, _address(other.slug), other.slug == slug) for other in operators().values())
    return OperatorPage(operator, modes, tuple(_detours(slug)), others, _timed(slug))


def _timed(slug: str) -> tuple[tuple[str | Promise, str], ...]:
    """What was timed of it, and what can be worked out."""
    rankings = tuple(
        (title, reverse("benchmarks:benchmark", args=[benchmark]) + (f"?{query}" if query else ""))
        for benchmark, title, query in TIMED_IN.get(slug, ())
    )
    if slug not in CALCULATED_IN:
        return rankings
    calculation, title = CALCULATED_IN[slug]
    return (*rankings, (title, reverse("learn:try", args=[calculation])))


def operators_with(component: str) -> tuple[tuple[str, str, str], ...]:
    """(name, address, devices) of the operators that run this component on their way, in the order of the page."""
    devices = {
        slug: [
            DEVICE_TITLES[device]
            for device in DEVICES
            if any(step.component == component for mode in MODES for step in steps_of(slug, device, mode))
        ]
        for slug in operators()
    }
    return tuple(
        (operators()[slug].name, _address(slug), ", ".join(titles)) for slug, titles in devices.items() if titles
    )


def operator_rows() -> list[OperatorRow]:
    """All operators, with the library kernels of each."""
    rows = []
    for operator in operators().values():
        detours = [step.outcome for device, step in _detours(operator.slug) if step.device == "mps"]
        rows.append(
            OperatorRow(
                operator=operator,
                url=_address(operator.slug),
                on_cuda=_ends_in(operator.slug, "cuda"),
                on_mps=_ends_in(operator.slug, "mps"),
                to_cpu=detours.count("cpu"),
                missing=detours.count("missing"),
            )
        )
    return rows


def _address(slug: str) -> str:
    return reverse("stacks:operator", args=[slug])


def _way(operator: str, device: str, mode: str) -> Way:
    steps = steps_of(operator, device, mode)
    return Way(device, DEVICE_TITLES[device], _stretches(steps), _stretches(steps_of(EVERY, device, mode)))


def _stretches(steps: Sequence[OperatorStep]) -> tuple[Stretch, ...]:
    return tuple(Stretch(layer, tuple(group)) for layer, group in groupby(steps, key=lambda step: step.layer))


def _detours(operator: str) -> list[tuple[str, OperatorStep]]:
    return [
        (DEVICE_TITLES[device], step)
        for device in DEVICES
        for mode in MODES
        for step in steps_of(operator, device, mode)
        if step.outcome
    ]


def _ends_in(operator: str, device: str) -> tuple[str, ...]:
    """Names of the library steps in eager mode."""
    steps = steps_of(operator, device, "eager")
    return tuple(step.named for step in steps if step.layer == Layer.LIBRARY and step.named)
