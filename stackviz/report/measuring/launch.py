"""`launch`: the time to queue an operator with next to no work. `sustained`: the rate when all is warm."""

from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, Params, Prepared, gettext_noop
from stackviz.report.measuring.gemm import GEMM

__all__ = ["LAUNCH", "SUSTAINED"]

# What a run does beside handing over one operator.
_OPERATIONS = ("queued", "waited", "read")
_ADDED = 1.0


def _cases(kind: str, _quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """On a processor the operator is done when the call returns: there is nothing to wait for."""
    return [{"op": op} for op in _OPERATIONS if kind != "cpu" or op != "waited"]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    number, op = torch.zeros((1,), device=device), str(params["op"])
    backend = getattr(torch, device.partition(":")[0])

    def queue() -> object:
        return number.add_(_ADDED)

    def queue_and_wait() -> None:
        number.add_(_ADDED)
        backend.synchronize()

    def queue_and_read() -> object:
        return number.add_(_ADDED).item()

    return Prepared(
        run={"queued": queue, "waited": queue_and_wait, "read": queue_and_read}[op],
        output=number,
        check=lambda: None if float(number) > 0 else "nothing was added",
        conditions={"inputs": "uniform"},
    )


def _work(params: AnyParams) -> float | None:
    return 1.0 if params.get("op") in _OPERATIONS else None


def _script(params: Params) -> tuple[str, ...]:
    run = {"queued": "x.add_(1.0)", "waited": "(x.add_(1.0), wait())", "read": "x.add_(1.0).item()"}[str(params["op"])]
    return "x = torch.zeros(1, device=device)", f"run = lambda: {run}"


LAUNCH = Benchmark(
    key="launch",
    version=1,
    title=gettext_noop("Launch of an operator"),
    measures=gettext_noop(
        "Seconds that one call of an operator with next to no work takes: what small models wait for."
    ),
    runs=gettext_noop(
        "1 added to a single number in place. `queued`: handed over again and again; `waited`: and waited for each "
        "time; `read`: and its value read by the host each time."
    ),
    sizes="queued, waited, read; on a processor queued and read",
    order=28,
    cases=_cases,
    light={"op": "queued"},
    prepare=_prepare,
    working_set_bytes=lambda _params: 4,
    unit="s",
    work=_work,
    formula="s / call",
    source="the time of a block divided by its calls. Queued calls overlap with their execution, which takes less",
    script=_script,
)


def _sustained_case(dtype: str, size: int, seconds: int) -> Params:
    return {"dtype": dtype, "m": size, "n": size, "k": size, "seconds": seconds}


def _sustained_cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """A quick run has no minute to spare."""
    if quick:
        return []
    dtype, size = ("fp32", 2048) if kind == "cpu" else ("bf16", 8192)
    return [_sustained_case(dtype, size, seconds) for seconds in (60, 300)]


def _product(params: AnyParams) -> Params:
    return {name: value for name, value in params.items() if name != "seconds"}


def _prepare_sustained(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    return GEMM.prepare(torch, device, _product(params))


def _sustained_script(params: Params) -> tuple[str, ...]:
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
    cases=_sustained_cases,
    light=_sustained_case("fp32", 2048, 60),
    prepare=_prepare_sustained,
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
    script=_sustained_script,
)
