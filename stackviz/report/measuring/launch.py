"""`launch`: how long it takes to put an operator with next to no work on the queue, and to wait for it."""

from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, Params, Prepared, gettext_noop

__all__ = ["LAUNCH"]

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
