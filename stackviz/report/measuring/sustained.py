"""`sustained`: matrix products back to back for a minute or five: what is left of the rate when all is warm."""

from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, Params, Prepared, gettext_noop
from stackviz.report.measuring.gemm import GEMM

__all__ = ["SUSTAINED"]


def _case(dtype: str, size: int, seconds: int) -> Params:
    return {"dtype": dtype, "m": size, "n": size, "k": size, "seconds": seconds}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """A quick run has no minute to spare."""
    if quick:
        return []
    dtype, size = ("fp32", 2048) if kind == "cpu" else ("bf16", 8192)
    return [_case(dtype, size, seconds) for seconds in (60, 300)]


def _product(params: AnyParams) -> Params:
    return {name: value for name, value in params.items() if name != "seconds"}


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    return GEMM.prepare(torch, device, _product(params))


def _script(params: Params) -> tuple[str, ...]:
    made, output, run = GEMM.script(_product(params))
    return made, f"{output}; {run}"


SUSTAINED = Benchmark(
    key="sustained",
    version=1,
    title=gettext_noop("Sustained matrix product"),
    measures=gettext_noop("Operations per second of matrix products for a minute or five: the median of all seconds."),
    runs=gettext_noop(
        "C = A x B, square, uniform random numbers in [-1, 1), without a pause. A sample is one second; the first ones "
        "are faster where heat or power holds the clock back later."
    ),
    sizes="bf16 8192, on a processor fp32 2048; 60 s, and 300 s in a full suite; none in a quick one",
    order=90,
    cases=_cases,
    light=_case("fp32", 2048, 60),
    prepare=_prepare,
    working_set_bytes=lambda params: GEMM.working_set_bytes(_product(params)),
    extra_bytes=lambda params: GEMM.extra_bytes(_product(params)),
    lasts_s=lambda params: float(params["seconds"]),
    is_long=lambda _kind, params: int(params["seconds"]) > 60,
    unit="FLOP/s",
    integer_unit=GEMM.integer_unit,
    work=GEMM.work,
    formula=GEMM.formula,
    source=GEMM.source,
    bounds=GEMM.bounds,
    operations=GEMM.operations,
    operations_formula=GEMM.operations_formula,
    bytes_moved=lambda params: GEMM.bytes_moved(_product(params)),
    bytes_formula=GEMM.bytes_formula,
    script=_script,
)
