"""`conv`: convolutions and whole blocks of ResNet-50, forward, in the channels-last layout."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stackviz.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    float_type,
    gettext_noop,
    positive,
    relative_error,
    uniform_as,
)

__all__ = ["CONV"]

_TOLERANCE = {"fp32": 1e-3, "fp16": 2e-2, "bf16": 5e-2}  # of the largest number of an image: sums of up to 4608 terms


class _Layer(NamedTuple):
    """Channels in and out, pixels of a side of the output, side of the kernel, stride."""

    inputs: int
    outputs: int
    side: int
    kernel: int
    stride: int = 1


def _bottleneck(width: int, side: int) -> tuple[_Layer, ...]:
    """1x1 to a quarter of the channels, 3x3, 1x1 back: He et al., arXiv:1512.03385, figure 5 and table 1."""
    return _Layer(4 * width, width, side, 1), _Layer(width, width, side, 3), _Layer(width, 4 * width, side, 1)


# Names -> layers, one after the other; those of more than one are a block with its ReLUs and its shortcut.
_OPERATIONS: Mapping[str, tuple[_Layer, ...]] = {
    "conv7x7-64": (_Layer(3, 64, 112, 7, 2),),
    "conv3x3-64": (_Layer(64, 64, 56, 3),),
    "conv3x3-256": (_Layer(256, 256, 14, 3),),
    "conv1x1-1024": (_Layer(256, 1024, 14, 1),),
    "block-64": _bottleneck(64, 56),
    "block-128": _bottleneck(128, 28),
    "block-256": _bottleneck(256, 14),
    "block-512": _bottleneck(512, 7),
}
_QUICK = ("conv3x3-256", "block-256")


def _case(op: str, dtype: str, batch: int) -> Params:
    return {"op": op, "dtype": dtype, "batch": batch}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if quick:
        return [_case(op, "fp32", 8) if kind == "cpu" else _case(op, "bf16", 256) for op in _QUICK]
    types, batches = (("fp32", "bf16"), (1, 8)) if kind == "cpu" else (("bf16",), (1, 32, 256))
    return [_case(op, dtype, batch) for dtype in types for batch in batches for op in _OPERATIONS]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    layers, dtype = _OPERATIONS[str(params["op"])], str(params["dtype"])

    def random(*shape: int) -> Any:  # noqa: ANN401
        return uniform_as(torch, device, shape, dtype).contiguous(memory_format=torch.channels_last)

    images = random(int(params["batch"]), layers[0].inputs, *[layers[0].side * layers[0].stride] * 2)
    weights = [
        random(each.outputs, each.inputs, each.kernel, each.kernel) * (3 / (each.inputs * each.kernel**2)) ** 0.5
        for each in layers
    ]
    newest: list[Any] = []

    def run() -> None:
        newest[:] = [_forward(torch, layers, weights, images)]

    def check() -> str | None:
        """The first image again, in float64 on the CPU."""
        expected = _forward(torch, layers, [each.cpu().double() for each in weights], images[:1].cpu().double())
        off = relative_error(newest[0][:1], expected)
        return None if off < _TOLERANCE[dtype] else f"the convolution is wrong: off by {off:.2g} of its largest value"

    return Prepared(run=run, output=images, check=check, conditions={"inputs": "uniform"})


def _forward(torch: Any, layers: tuple[_Layer, ...], weights: list[Any], images: Any) -> Any:  # noqa: ANN401
    functional, x = torch.nn.functional, images
    for number, (layer, weight) in enumerate(zip(layers, weights, strict=True), 1):
        x = functional.conv2d(x, weight, stride=layer.stride, padding=layer.kernel // 2)
        if number < len(layers):
            x = functional.relu(x)
    return functional.relu(x + images) if len(layers) > 1 else x


def _counted(params: AnyParams) -> tuple[float, tuple[_Layer, ...]] | None:
    """(images, layers); None: not known."""
    layers, batch = _OPERATIONS.get(str(params.get("op"))), positive(params, "batch")
    return (batch, layers) if layers and batch else None


def _operations(params: AnyParams) -> float | None:
    counted = _counted(params)
    if counted is None:
        return None
    batch, layers = counted
    return batch * sum(2.0 * each.side**2 * each.kernel**2 * each.inputs * each.outputs for each in layers)


def _bytes_moved(params: AnyParams) -> float | None:
    """Images and weights read once, the last output written: what lies between may stay in caches."""
    counted, item_bytes = _counted(params), FLOAT_BYTES.get(str(params.get("dtype")))
    if counted is None or item_bytes is None:
        return None
    batch, layers = counted
    first, last = layers[0], layers[-1]
    images = first.inputs * (first.side * first.stride) ** 2 + last.outputs * last.side**2
    return item_bytes * (batch * images + sum(each.kernel**2 * each.inputs * each.outputs for each in layers))


def _smaller(params: Params) -> tuple[Params, float] | None:
    return ({**params, "batch": 1}, float(params["batch"])) if int(params["batch"]) > 1 else None


def _script(params: Params) -> tuple[str, ...]:
    layers = _OPERATIONS[str(params["op"])]
    first = layers[0]
    side = first.side * first.stride
    kind = f"torch.{float_type(params['dtype'])}, memory_format=torch.channels_last"
    shapes = [(each.outputs, each.inputs, each.kernel, each.kernel) for each in layers]
    made = (
        f"r = lambda *s: torch.empty(s, device=device).uniform_(-1, 1).to({kind}); "
        f"x = r({params['batch']}, {first.inputs}, {side}, {side}); F = torch.nn.functional"
    )
    if len(layers) == 1:
        call = f"F.conv2d(x, w, stride={first.stride}, padding={first.kernel // 2})"
        return made, f"w = r{shapes[0]} * {(3 / (first.inputs * first.kernel**2)) ** 0.5:.4f}", f"run = lambda: {call}"
    scaled = "r(*s) * (3 / (s[1] * s[2] ** 2)) ** 0.5"
    return (
        made,
        f"a, b, c = ({scaled} for s in {shapes})",
        "run = lambda: F.relu(F.conv2d(F.relu(F.conv2d(F.relu(F.conv2d(x, a)), b, padding=1)), c) + x)",
    )


CONV = Benchmark(
    key="conv",
    version=1,
    title=gettext_noop("Convolutions and blocks of ResNet-50"),
    measures=gettext_noop("Operations per second of convolutions of ResNet-50, alone and as whole blocks, forward."),
    runs=gettext_noop(
        "`conv2d` without bias, in the channels-last layout; a block is 1x1, ReLU, 3x3, ReLU, 1x1, and the shortcut "
        "added before the last ReLU, its batch norms folded into the weights."
    ),
    sizes="conv7x7-64, conv3x3-64, conv3x3-256, conv1x1-1024, block-64, -128, -256, -512; bf16, fp32; batch 1 to 256",
    order=60,
    cases=_cases,
    light=_case("conv3x3-256", "fp32", 8),
    prepare=_prepare,
    working_set_bytes=lambda params: 4 * int(_bytes_moved(params) or 0),
    smaller=_smaller,
    unit="FLOP/s",
    work=_operations,
    formula="operations / s",
    source="a multiplication and an addition for each weight at each pixel of the output; layers of He et al., "
    "arXiv:1512.03385, table 1",
    operations=_operations,
    operations_formula="batch·Σ 2·side²·kernel²·channels in·channels out",
    bytes_moved=_bytes_moved,
    bytes_formula="item·(batch·(first input + last output) + weights)",
    script=_script,
)
