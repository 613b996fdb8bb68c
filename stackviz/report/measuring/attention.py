"""`attention`: scaled dot products of queries, keys and values, forward and backward, by each of torch's back ends."""

from typing import Any

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Conditions,
    Params,
    Prepared,
    Unavailable,
    float_type,
    gettext_noop,
    note_error,
    positive,
    relative_error,
    uniform_as,
)

__all__ = ["ATTENTION"]

_BACKENDS = {
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
    "math": "MATH",
}
# Those that a device has; "auto" is what torch chooses.
_BACKENDS_OF = {
    "cuda": ("auto", "flash", "efficient", "cudnn", "math"),
    "xpu": ("auto", "math"),
    "mps": ("auto", "math"),
    "cpu": ("auto", "flash", "math"),
}
_DIRECTIONS = ("forward", "backward")
_TOKENS = 16384  # of all sequences: so the matrices of every length take the same memory
_MOST_TOKENS_OF_MATH = 2048  # it stores all products of queries and keys
# Products of queries with keys and with values; backward all of them again, and three for the gradients: FlashAttention
# counts 2.5 times the forward pass (Dao, arXiv:2307.08691, section 4.1).
_PRODUCTS = {"forward": 2.0, "backward": 5.0}
# Forward: queries, keys, values read, output written; backward: these and the output's gradient read, three written.
_ARRAYS = {"forward": 4, "backward": 8}
_TOLERANCE = 0.05  # of the largest of one row of output: 16-bit inputs and weights that add up to 1 stay well below


def _case(direction: str, backend: str, dtype: str, length: int, **shape: int) -> Params:
    sizes = {"batch": _TOKENS // length, "heads": 32, "head_dim": 128} | shape
    return {"direction": direction, "dtype": dtype, "backend": backend, "sequence": length, "mask": "causal", **sizes}


def _small(direction: str, backend: str = "auto", dtype: str = "fp32") -> Params:
    return _case(direction, backend, dtype, 1024, batch=1, heads=16, head_dim=64)


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if kind == "cpu":
        if quick:
            return [_small(direction) for direction in _DIRECTIONS]
        choices = [(direction, backend) for direction in _DIRECTIONS for backend in _BACKENDS_OF[kind]]
        return [_small(*choice, dtype) for choice in choices for dtype in ("fp32", "bf16")]
    if quick:
        return [_case(direction, "auto", "bf16", 4096) for direction in _DIRECTIONS]
    return [
        _case(direction, backend, "bf16", length)
        for direction in _DIRECTIONS
        for backend in _BACKENDS_OF[kind]
        for length in (512, 2048, 4096, 16384)
        if backend != "math" or length <= _MOST_TOKENS_OF_MATH
    ]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Gradients need tensors made outside of inference mode, which measuring is in."""
    with torch.inference_mode(mode=False):
        return _prepared(torch, device, params)


def _prepared(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    shape = tuple(int(params[name]) for name in ("batch", "heads", "sequence", "head_dim"))
    queries, keys, values, gradient = (
        uniform_as(torch, device, shape, str(params["dtype"])) for _ in range(_ARRAYS["forward"])
    )
    given = (queries, keys, values)
    output = torch.empty_like(queries)
    newest: list[Any] = []

    def attend() -> Any:  # noqa: ANN401
        product = torch.nn.functional.scaled_dot_product_attention
        if params["backend"] == "auto":
            return product(*given, is_causal=True)
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, _BACKENDS[str(params["backend"])])):
            return product(*given, is_causal=True)

    try:
        attend()
    except RuntimeError as error:
        if "No available kernel" not in str(error):
            raise
        raise Unavailable("torch has no kernel of this back end for this device and these inputs") from error
    if params["direction"] == "forward":

        def run() -> None:
            newest[:] = [attend()]
    else:
        for each in given:
            each.requires_grad_()
        with torch.enable_grad():
            forward = attend()

        def run() -> None:
            newest[:] = torch.autograd.grad(forward, given, gradient, retain_graph=True)

    conditions: Conditions = {"inputs": "uniform"}

    def check() -> str | None:
        off = note_error(conditions, _error(torch, given, gradient, newest, str(params["direction"])))
        return None if off < _TOLERANCE else f"attention is wrong: off by {off:.2g} of the largest value"

    return Prepared(run=run, output=output, check=check, conditions=conditions)


def _error(torch: Any, given: Any, gradient: Any, newest: Any, direction: str) -> float:  # noqa: ANN401
    """The output, or the gradient of the values, of one head again, in float64 on the CPU."""
    with torch.inference_mode(mode=False), torch.enable_grad():
        again = [each[0, 0].detach().cpu().to(torch.float64).requires_grad_() for each in given]
        scores = again[0] @ again[1].t() / again[0].shape[-1] ** 0.5
        hidden = torch.ones_like(scores).triu(1).bool()
        expected = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ again[2]
        if direction == "backward":
            (expected,) = torch.autograd.grad(expected, again[2], gradient[0, 0].cpu().to(torch.float64))
        return relative_error(newest[-1][0, 0], expected.detach())


def _sizes(params: AnyParams) -> tuple[float, float] | None:
    """(operations of one product of all queries with all keys, numbers in one array); None: not known."""
    batch, heads, length, width = (positive(params, name) for name in ("batch", "heads", "sequence", "head_dim"))
    if not (batch and heads and length and width) or params.get("direction") not in _PRODUCTS:
        return None
    seen = length * (length + 1) / 2 if params.get("mask") == "causal" else length**2
    return 2 * batch * heads * width * seen, batch * heads * width * length


def _operations(params: AnyParams) -> float | None:
    sizes = _sizes(params)
    return None if sizes is None else _PRODUCTS[str(params["direction"])] * sizes[0]


def _bytes_moved(params: AnyParams) -> float | None:
    sizes, item_bytes = _sizes(params), FLOAT_BYTES.get(str(params.get("dtype")))
    return None if sizes is None or item_bytes is None else _ARRAYS[str(params["direction"])] * sizes[1] * item_bytes


def _working_set_bytes(params: Params) -> int:
    """With the forward pass before the backward one; `math` stores the products of queries and keys, four times."""
    moved = 2 * int(_bytes_moved(params) or 0)
    if params["backend"] != "math":
        return moved
    pairs = int(params["batch"]) * int(params["heads"]) * int(params["sequence"]) ** 2
    return moved + 4 * pairs * FLOAT_BYTES["fp32"]


def _smaller(params: Params) -> tuple[Params, float] | None:
    trial = {**params, "sequence": 256, "batch": 1}
    return trial, (_operations(params) or 0) / (_operations(trial) or 1)


def _script(params: Params) -> tuple[str, ...]:
    shape = ", ".join(str(params[name]) for name in ("batch", "heads", "sequence", "head_dim"))
    kind = float_type(params["dtype"])
    made = f"torch.empty({shape}, device=device).uniform_(-1, 1).to(torch.{kind})"
    call = "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"
    chosen = _BACKENDS.get(str(params["backend"]))
    forced = (
        "from torch.nn.attention import SDPBackend, sdpa_kernel; "
        f"chosen = sdpa_kernel(SDPBackend.{chosen}); chosen.__enter__(); "
        if chosen
        else ""
    )
    if params["direction"] == "forward":
        return f'q, k, v = ({made} for _ in "qkv")', f"{forced}run = lambda: {call}"
    return (
        f'q, k, v, g = ({made} for _ in "qkvg"); [x.requires_grad_() for x in (q, k, v)]',
        f"{forced}out = {call}",
        "run = lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True)",
    )


ATTENTION = Benchmark(
    key="attention",
    version=1,
    title=gettext_noop("Attention"),
    measures=gettext_noop("Operations per second of causal attention, forward or backward, by each back end of torch."),
    runs=gettext_noop(
        "`scaled_dot_product_attention` of uniform random numbers in [-1, 1), causal; backward: the gradients of "
        "queries, keys and values alone. `auto` is the back end that torch chooses."
    ),
    sizes="auto, flash, efficient, cudnn, math as the device has them; bf16, fp32; 512 to 16384 tokens",
    order=50,
    cases=_cases,
    light=_small("forward"),
    prepare=_prepare,
    working_set_bytes=_working_set_bytes,
    smaller=_smaller,
    is_long=lambda _kind, params: params["backend"] != "auto" and int(params["sequence"]) > _MOST_TOKENS_OF_MATH,
    unit="FLOP/s",
    work=_operations,
    formula="operations / s",
    source="as FlashAttention counts: Dao, arXiv:2307.08691, section 4.1; of a causal pass only what is not masked, "
    "and 2.5 times as much backward",
    operations=_operations,
    operations_formula="forward: 2·batch·heads·head dim·sequence·(sequence + 1); backward: 2.5 times that",
    bytes_moved=_bytes_moved,
    bytes_formula="item·arrays·batch·heads·sequence·head dim; arrays: forward 4, backward 8",
    script=_script,
)
