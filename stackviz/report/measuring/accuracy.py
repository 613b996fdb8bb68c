"""`accuracy`: how many bits of an operator's output are right, against the same operator in float64.

What is measured is no time: a sample is the figure of new random inputs.
"""

import math
from collections.abc import Callable
from typing import Any

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    float_type,
    gettext_noop,
    relative_error,
    uniform_as,
)

__all__ = ["ACCURACY"]

_SHAPE = _ROWS, _COLUMNS = 64, 4096
_OF_FLOAT64 = 53  # bits of a number of float64: nobody can tell more
_RIGHT_BITS = 3.0  # bf16 has 8, of which sums of 4096 numbers leave more than these

Operator = Callable[[Any, Any], Any]


def _product(torch: Any, x: Any) -> Any:  # noqa: ANN401 - torch has no types here
    return torch.mm(x, x.t())


def _sum(_torch: Any, x: Any) -> Any:  # noqa: ANN401
    return x.sum(-1)


def _softmax(torch: Any, x: Any) -> Any:  # noqa: ANN401
    return torch.softmax(x, -1)


def _layer_norm(torch: Any, x: Any) -> Any:  # noqa: ANN401
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _gelu(torch: Any, x: Any) -> Any:  # noqa: ANN401
    return torch.nn.functional.gelu(x)


def _exp(torch: Any, x: Any) -> Any:  # noqa: ANN401
    return torch.exp(x)


_OPERATORS: dict[str, Operator] = {
    "product": _product,
    "sum": _sum,
    "softmax": _softmax,
    "layer-norm": _layer_norm,
    "gelu": _gelu,
    "exp": _exp,
}
_QUICK_OPERATORS = ("product", "softmax")


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    types = ("fp32", "bf16") if quick else tuple(FLOAT_BYTES)
    operators = _QUICK_OPERATORS if quick else tuple(_OPERATORS)
    cases = [_case(operator, dtype) for operator in operators for dtype in types]
    return [*cases, _case("product", "tf32")] if kind == "cuda" else cases


def _case(operator: str, dtype: str) -> Params:
    return {"op": operator, "dtype": dtype}


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """A run is the operator on the device; a figure makes new inputs, and computes them again in float64 on the CPU."""
    dtype, operator = str(params["dtype"]), _OPERATORS[str(params["op"])]
    torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
    made_as = "fp32" if dtype == "tf32" else dtype
    given = uniform_as(torch, device, _SHAPE, made_as)
    figures: list[float] = []

    def figure() -> float:
        numbers = uniform_as(torch, device, _SHAPE, made_as)
        expected = operator(torch, numbers.cpu().double())
        figures.append(_right_bits(relative_error(operator(torch, numbers), expected)))
        return figures[-1]

    def check() -> str | None:
        worst = min(figures, default=_OF_FLOAT64)
        return None if worst >= _RIGHT_BITS else f"only {worst:.2g} bits are right"

    return Prepared(
        run=lambda: operator(torch, given),
        output=given,
        check=check,
        conditions={"inputs": "uniform", "tf32": dtype == "tf32"},
        figure=figure,
    )


def _right_bits(off: float) -> float:
    """0 for what is wrong altogether, NaN too; in 1/10,000 bit."""
    if off == 0:
        return float(_OF_FLOAT64)
    return round(min(float(_OF_FLOAT64), -math.log2(off)), 4) if 0 < off < 1 else 0.0


def _script(params: Params) -> tuple[str, ...]:
    precision = 'torch.set_float32_matmul_precision("high"); ' if params["dtype"] == "tf32" else ""
    made_as = "fp32" if params["dtype"] == "tf32" else params["dtype"]
    operator = {
        "product": "torch.mm(x, x.t())",
        "sum": "x.sum(-1)",
        "softmax": "torch.softmax(x, -1)",
        "layer-norm": "torch.nn.functional.layer_norm(x, x.shape[-1:])",
        "gelu": "torch.nn.functional.gelu(x)",
        "exp": "torch.exp(x)",
    }[str(params["op"])]
    return (
        f"{precision}operator = lambda x: {operator}",
        f"x = torch.empty({_ROWS}, {_COLUMNS}, device=device).uniform_(-1, 1).to(torch.{float_type(made_as)})",
        "expected = operator(x.cpu().double())",
        "off = (operator(x).cpu().double() - expected).abs().max() / expected.abs().max()",
        "print(min(53.0, -float(torch.log2(off))), 'bit')",
    )


def _work(params: AnyParams) -> float | None:
    return 1.0 if params.get("op") in _OPERATORS else None


ACCURACY = Benchmark(
    key="accuracy",
    version=1,
    title=gettext_noop("Accuracy"),
    measures=gettext_noop("Bits of an operator's output that are right, against the same operator in float64."),
    runs=gettext_noop(
        "`product` of 64 rows of 4096 numbers with themselves, their `sum`, `softmax`, `layer-norm`, `gelu`, `exp`; "
        "uniform random numbers in [-1, 1), new for each sample. The largest error counts, as a part of the largest "
        "number: a bit more halves it. bf16 holds 8 bits of a number, fp16 11, fp32 24."
    ),
    sizes="product, sum, softmax, layer-norm, gelu, exp; fp32, tf32, fp16, bf16 as the device has them; 64 x 4096",
    order=88,
    cases=_cases,
    light=_case("product", "fp32"),
    prepare=_prepare,
    working_set_bytes=lambda _params: 2 * _ROWS * _COLUMNS * 4,
    unit="bit",
    sample_unit="bit",
    plausible=(1e-3, float(_OF_FLOAT64)),
    work=_work,
    formula="-log2 (largest error / largest number)",
    source="the maximum norm of the error relative to that of the result: Higham, Accuracy and Stability of Numerical "
    "Algorithms, 2nd edition (2002), section 1.2. No published figure bounds it",
    bounded_by=lambda _params: (),
    script=_script,
)
