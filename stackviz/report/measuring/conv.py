"""`conv`: convolutions and blocks of ResNet-50, and the whole network, forward, in the channels-last layout."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Conditions,
    Params,
    Prepared,
    float_type,
    gettext_noop,
    note_error,
    positive,
    relative_error,
    uniform_as,
)

__all__ = ["CONV"]

# Of the largest number of an image: sums of up to 4608 terms. The whole network is off by 3e-3 in bf16.
_TOLERANCE = {"fp32": 1e-3, "fp16": 2e-2, "bf16": 5e-2}


class _Layer(NamedTuple):
    """Channels in and out, pixels of a side of the output, side of the kernel, stride."""

    inputs: int
    outputs: int
    side: int
    kernel: int
    stride: int = 1


class _Block(NamedTuple):
    """Layers one after the other with ReLUs between them. The input is added to the output, by way of `shortcut` where
    their shapes differ; a single layer is by itself."""

    layers: tuple[_Layer, ...]
    shortcut: _Layer | None = None

    @property
    def weighted(self) -> tuple[_Layer, ...]:
        return self.layers if self.shortcut is None else (self.shortcut, *self.layers)


def _bottleneck(width: int, side: int, inputs: int = 0, stride: int = 1) -> _Block:
    """1x1 to a quarter of the channels, 3x3, 1x1 back: He et al., arXiv:1512.03385, figure 5 and table 1.

    `inputs`: 0 for as many as outputs. The stride is that of the 3x3, as in torchvision's `resnet50`.
    """
    outputs = 4 * width
    layers = (
        _Layer(inputs or outputs, width, side * stride, 1),
        _Layer(width, width, side, 3, stride),
        _Layer(width, outputs, side, 1),
    )
    return _Block(layers, _Layer(inputs, outputs, side, 1, stride) if inputs else None)


_STEM = _Layer(3, 64, 112, 7, 2)
_HEAD = _Layer(2048, 1000, 1, 1)  # of the mean of all pixels


def _network() -> Iterator[_Block]:
    """Table 1: 3, 4, 6 and 3 bottlenecks behind the stem and a pool that leaves 56 x 56 pixels."""
    yield _Block((_STEM,))
    inputs = 64
    for width, side, count in ((64, 56, 3), (128, 28, 4), (256, 14, 6), (512, 7, 3)):
        yield _bottleneck(width, side, inputs, 1 if width == 64 else 2)
        yield from (_bottleneck(width, side) for _ in range(count - 1))
        inputs = 4 * width
    yield _Block((_HEAD,))


NETWORK = "resnet-50"
_OPERATIONS: Mapping[str, tuple[_Block, ...]] = {
    "conv7x7-64": (_Block((_STEM,)),),
    "conv3x3-64": (_Block((_Layer(64, 64, 56, 3),)),),
    "conv3x3-256": (_Block((_Layer(256, 256, 14, 3),)),),
    "conv1x1-1024": (_Block((_Layer(256, 1024, 14, 1),)),),
    "block-64": (_bottleneck(64, 56),),
    "block-128": (_bottleneck(128, 28),),
    "block-256": (_bottleneck(256, 14),),
    "block-512": (_bottleneck(512, 7),),
    NETWORK: tuple(_network()),
}
_QUICK = ("conv3x3-256", "block-256")


def _case(op: str, dtype: str, batch: int) -> Params:
    return {"op": op, "dtype": dtype, "batch": batch}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if quick:
        return [_case(op, "fp32", 8) if kind == "cpu" else _case(op, "bf16", 256) for op in _QUICK]
    types, batches = (("fp32", "bf16"), (1, 8)) if kind == "cpu" else (("bf16",), (1, 32, 256))
    return [_case(op, dtype, batch) for dtype in types for batch in batches for op in _OPERATIONS]


def _is_long(kind: str, params: Params) -> bool:
    """A processor takes seconds for eight images by the whole network, and for one in a type it has no units for."""
    return kind == "cpu" and params["op"] == NETWORK and (params["dtype"] != "fp32" or int(params["batch"]) > 1)


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    blocks, dtype = _OPERATIONS[str(params["op"])], str(params["dtype"])

    def random(*shape: int) -> Any:  # noqa: ANN401
        return uniform_as(torch, device, shape, dtype).contiguous(memory_format=torch.channels_last)

    first = blocks[0].layers[0]
    images = random(int(params["batch"]), first.inputs, *[first.side * first.stride] * 2)
    weights = [
        [
            random(each.outputs, each.inputs, each.kernel, each.kernel) * (3 / (each.inputs * each.kernel**2)) ** 0.5
            for each in block.weighted
        ]
        for block in blocks
    ]
    conditions: Conditions = {"inputs": "uniform"}
    newest: list[Any] = []

    def run() -> None:
        newest[:] = [_forward(torch, blocks, weights, images)]

    def check() -> str | None:
        """The first image again, in float64 on the CPU."""
        exact = [[each.cpu().double() for each in of_block] for of_block in weights]
        expected = _forward(torch, blocks, exact, images[:1].cpu().double())
        off = note_error(conditions, relative_error(newest[0][:1], expected))
        return None if off < _TOLERANCE[dtype] else f"the convolution is wrong: off by {off:.2g} of its largest value"

    return Prepared(run=run, output=images, check=check, conditions=conditions)


def _forward(torch: Any, blocks: tuple[_Block, ...], weights: list[list[Any]], images: Any) -> Any:  # noqa: ANN401
    """Between the blocks of the network there are its pool, behind the stem, and the mean of all pixels."""
    functional, x = torch.nn.functional, images
    is_network = len(blocks) > 1
    for block, of_block in zip(blocks, weights, strict=True):
        if block.layers[0] == _HEAD:
            x = x.mean((2, 3), keepdim=True)
        x = _forward_block(functional, block, of_block, x)
        if is_network and block.layers[0] == _STEM:
            x = functional.max_pool2d(functional.relu(x), 3, 2, 1)
    return x


def _forward_block(functional: Any, block: _Block, weights: list[Any], x: Any) -> Any:  # noqa: ANN401
    y = x
    for number, (layer, weight) in enumerate(zip(block.layers, weights[-len(block.layers) :], strict=True), 1):
        y = functional.conv2d(y, weight, stride=layer.stride, padding=layer.kernel // 2)
        if number < len(block.layers):
            y = functional.relu(y)
    if len(block.layers) == 1:
        return y
    if block.shortcut:
        x = functional.conv2d(x, weights[0], stride=block.shortcut.stride)
    return functional.relu(y + x)


def _counted(params: AnyParams) -> tuple[float, list[_Layer]] | None:
    """(images, layers with weights, the last of them that of the output); None: not known."""
    blocks, batch = _OPERATIONS.get(str(params.get("op"))), positive(params, "batch")
    if not (blocks and batch):
        return None
    return batch, [layer for block in blocks for layer in block.weighted]


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


def _working_set_bytes(params: Params) -> int:
    """What is between two layers lies in memory too: most behind the stem, twice, with the pool's output."""
    between = 3 * int(params["batch"]) * _STEM.outputs * _STEM.side**2 if params["op"] == NETWORK else 0
    return 4 * int(_bytes_moved(params) or 0) + between * FLOAT_BYTES[str(params["dtype"])]


def _smaller(params: Params) -> tuple[Params, float] | None:
    return ({**params, "batch": 1}, float(params["batch"])) if int(params["batch"]) > 1 else None


def _script(params: Params) -> tuple[str, ...]:
    if params["op"] == NETWORK:
        return _network_script(params)
    layers = _OPERATIONS[str(params["op"])][0].layers
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


def _network_script(params: Params) -> tuple[str, ...]:
    kind = f"torch.{float_type(params['dtype'])}, memory_format=torch.channels_last"
    return (
        f"r = lambda *s: torch.empty(s, device=device).uniform_(-1, 1).to({kind})",
        "w = lambda o, i, k: r(o, i, k, k) * (3 / (i * k**2)) ** 0.5",
        f"x, F = r({params['batch']}, 3, 224, 224), torch.nn.functional",
        "stem, head, blocks, i = w(64, 3, 7), w(1000, 2048, 1), [], 64",
        "for n, count in ((64, 3), (128, 4), (256, 6), (512, 3)):",
        "    for first in [True] + [False] * (count - 1):",
        "        shortcut = w(4 * n, i, 1) if first else None",
        "        blocks.append((w(n, i, 1), w(n, n, 3), w(4 * n, n, 1), shortcut, 2 if first and n > 64 else 1))",
        "        i = 4 * n",
        "def run():",
        "    y = F.max_pool2d(F.relu(F.conv2d(x, stem, stride=2, padding=3)), 3, 2, 1)",
        "    for a, b, c, shortcut, stride in blocks:",
        "        z = F.conv2d(F.relu(F.conv2d(F.relu(F.conv2d(y, a)), b, stride=stride, padding=1)), c)",
        "        y = F.relu(z + (y if shortcut is None else F.conv2d(y, shortcut, stride=stride)))",
        "    return F.conv2d(y.mean((2, 3), keepdim=True), head)",
    )


CONV = Benchmark(
    key="conv",
    version=1,
    title=gettext_noop("Convolutions and ResNet-50"),
    measures=gettext_noop(
        "Operations per second of convolutions of ResNet-50, alone, in whole blocks and as the whole network, forward."
    ),
    runs=gettext_noop(
        "`conv2d` without bias, in the channels-last layout; a block is 1x1, ReLU, 3x3, ReLU, 1x1, and the shortcut "
        "added before the last ReLU, its batch norms folded into the weights. `resnet-50` takes images of 224 x 224 "
        "through all 53 convolutions and the last layer; a run of batch N is N images."
    ),
    sizes="conv7x7-64, conv3x3-64, conv3x3-256, conv1x1-1024, block-64, -128, -256, -512, resnet-50; bf16, fp32; "
    "batch 1 to 256",
    order=60,
    cases=_cases,
    light=_case("conv3x3-256", "fp32", 8),
    prepare=_prepare,
    working_set_bytes=_working_set_bytes,
    smaller=_smaller,
    is_long=_is_long,
    unit="FLOP/s",
    work=_operations,
    formula="operations / s",
    source="a multiplication and an addition for each weight at each pixel of the output; layers of He et al., "
    "arXiv:1512.03385, table 1, with the stride of torchvision's resnet50",
    operations=_operations,
    operations_formula="batch·Σ 2·side²·kernel²·channels in·channels out",
    bytes_moved=_bytes_moved,
    bytes_formula="item·(batch·(first input + last output) + weights)",
    script=_script,
)
