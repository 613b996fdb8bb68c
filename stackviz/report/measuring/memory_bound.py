"""`memory-bound`: operators that compute little for each number they read: softmax, layer norm, GELU, a sum."""

from collections.abc import Mapping
from typing import Any

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    beyond_caches,
    float_type,
    gettext_noop,
    positive,
    relative_error,
    repeated_uniform,
)

__all__ = ["MEMORY_BOUND"]

_TOLERANCE = 0.02  # of the largest number of a row: 16-bit outputs are rounded to 1/256

# Operator -> what a run calls, as a program writes it: x and y are arrays, F is torch.nn.functional.
_CALLS: Mapping[str, str] = {
    "softmax": "F.softmax(x, -1)",
    "layer-norm": "F.layer_norm(x, x.shape[-1:])",
    "gelu": "F.gelu(x)",
    "add": "x + y",
}
_ARRAYS = {"softmax": 2, "layer-norm": 2, "gelu": 2, "add": 3}


def _case(op: str, dtype: str, rows: int, columns: int) -> Params:
    return {"op": op, "dtype": dtype, "rows": rows, "columns": columns}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if kind == "cpu":
        chosen = [("fp32", op) for op in ("softmax", "layer-norm")]
        if not quick:
            chosen = [(dtype, op) for dtype in ("fp32", "bf16") for op in _CALLS]
        return [_case(op, dtype, 8192, 4096) for dtype, op in chosen]
    sizes = ((32768, 8192),) if quick else ((4096, 4096), (32768, 8192))
    return [_case(op, "bf16", *size) for size in sizes for op in _CALLS]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """A run makes its output anew, as models do."""
    op, shape = str(params["op"]), (int(params["rows"]), int(params["columns"]))
    kind = getattr(torch, float_type(params["dtype"]))
    x = repeated_uniform(torch, device, shape[0] * shape[1]).view(shape).to(kind)
    y = x.flip(0) if op == "add" else x
    newest: list[Any] = []

    def run() -> None:
        newest[:] = [_operator(torch, op, x, y)]

    def check() -> str | None:
        """The last row again, in float64 on the CPU."""
        expected = _operator(torch, op, x[-1:].cpu().double(), y[-1:].cpu().double())
        off = relative_error(newest[0][-1:], expected)
        return None if off < _TOLERANCE else f"{op} is wrong: off by {off:.2g} of the largest value"

    return Prepared(run=run, output=x, check=check, conditions={"inputs": "uniform"})


def _operator(torch: Any, op: str, x: Any, y: Any) -> Any:  # noqa: ANN401
    functional = torch.nn.functional
    if op == "softmax":
        return functional.softmax(x, -1)
    if op == "layer-norm":
        return functional.layer_norm(x, x.shape[-1:])
    return functional.gelu(x) if op == "gelu" else x + y


def _bytes_moved(params: AnyParams) -> float | None:
    numbers = positive(params, "rows") * positive(params, "columns")
    item_bytes = FLOAT_BYTES.get(str(params.get("dtype")), 0)
    return _ARRAYS.get(str(params.get("op")), 0) * numbers * item_bytes or None


def _script(params: Params) -> tuple[str, ...]:
    made = f"x = torch.empty({params['rows']}, {params['columns']}, device=device).uniform_(-1, 1)"
    return (
        f"F, x = torch.nn.functional, {made[4:]}.to(torch.{float_type(params['dtype'])})",
        "y = x.flip(0)",
        f"run = lambda: {_CALLS[str(params['op'])]}",
    )


MEMORY_BOUND = Benchmark(
    key="memory-bound",
    version=1,
    title=gettext_noop("Operators bound by memory"),
    measures=gettext_noop("Bytes per second that softmax, layer norm, GELU and the sum of two arrays move."),
    runs=gettext_noop(
        "One call of `softmax`, `layer_norm`, `gelu` or `x + y` on uniform random numbers in [-1, 1), by rows; the "
        "output is made anew each time, as in a model."
    ),
    sizes="softmax, layer-norm, gelu, add; bf16, fp32; 4096 x 4096, 8192 x 4096, 32768 x 8192",
    order=24,
    cases=_cases,
    light=_case("softmax", "fp32", 8192, 4096),
    prepare=_prepare,
    working_set_bytes=lambda params: int(_bytes_moved(params) or 0),
    extra_bytes=lambda params: 4 * int(params["rows"]) * int(params["columns"]),
    unit="B/s",
    work=_bytes_moved,
    formula="bytes / s",
    source="inputs are read once and the output is written once, which is the least: an operator that reads twice "
    "reaches a smaller rate. On a processor new memory for the output costs time too, and counts",
    bounded_by=beyond_caches(_bytes_moved),
    bytes_moved=_bytes_moved,
    bytes_formula="item·arrays·rows·columns; arrays: 2, add 3",
    script=_script,
)
