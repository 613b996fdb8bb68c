"""`collectives`: the cards of one machine exchange an array by NCCL, all at once, from one process."""

from collections.abc import Callable, Sequence
from typing import Any

from stackviz.report.measuring.benchmark import (
    LINK_RATES,
    MIB,
    Benchmark,
    Conditions,
    Params,
    Prepared,
    Unavailable,
    gettext_noop,
    note_error,
    relative_error,
    uniform,
)
from stackviz.report.measuring.nccl_tests import bus_bytes

__all__ = ["COLLECTIVES"]

_OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter")
_CARDS = (2, 4, 8, 16)
_SIZES = (MIB, 64 * MIB, 1024 * MIB)
_QUICK_SIZE = 64 * MIB
_ITEM_BYTES = 4
_CHECKED = 1000  # numbers of what the last card got
_TOLERANCE = 1e-5  # sums of at most 16 numbers, each rounded to fp32

Arrays = Sequence[Any]


def _case(operation: str, cards: int, size: int) -> Params:
    return {"op": operation, "dtype": "fp32", "cards": cards, "bytes": size}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """On a processor one, which says why nothing is measured."""
    if kind != "cuda":
        return [_LIGHT] if kind == "cpu" and not quick else []
    sizes = (_QUICK_SIZE,) if quick else _SIZES
    return [_case(operation, cards, size) for cards in _CARDS for operation in _OPERATIONS for size in sizes]


def _devices_used(device: str, params: Params) -> tuple[str, ...]:
    """The first cards of the machine, whichever of them is asked."""
    return (device,) if device == "cpu" else tuple(f"cuda:{number}" for number in range(int(params["cards"])))


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Each card has an array to send, and another one to receive. The clock waits for all of them."""
    operation, devices = str(params["op"]), _devices_used(device, params)
    if not hasattr(torch._C, "_nccl_all_reduce"):  # noqa: SLF001 - how torch.cuda.nccl calls it
        raise Unavailable("this torch has no NCCL")
    given, received = _sizes(operation, int(params["bytes"]) // _ITEM_BYTES, len(devices))
    inputs = [uniform(torch, name, (given,), torch.float32) for name in devices]
    outputs = [torch.empty((received,), device=name, dtype=torch.float32) for name in devices]
    conditions: Conditions = {"inputs": "uniform", "nccl_version": ".".join(map(str, torch.cuda.nccl.version()))}
    return Prepared(
        run=_run(torch.cuda.nccl, operation, inputs, outputs),
        output=outputs[0],
        check=lambda: _problem(note_error(conditions, _error(operation, inputs, outputs))),
        conditions=conditions,
        wait=lambda: [torch.cuda.synchronize(name) for name in devices],
    )


def _sizes(operation: str, whole: int, cards: int) -> tuple[int, int]:
    """Numbers that each card gives, and that each one gets."""
    part = whole // cards
    return part if operation == "all-gather" else whole, part if operation == "reduce-scatter" else whole


def _run(nccl: Any, operation: str, inputs: Arrays, outputs: Arrays) -> Callable[[], object]:  # noqa: ANN401
    exchange = {"all-reduce": nccl.all_reduce, "all-gather": nccl.all_gather, "reduce-scatter": nccl.reduce_scatter}
    return lambda: exchange[operation](inputs, outputs)


def _error(operation: str, inputs: Arrays, outputs: Arrays) -> float:
    """Of what the last card got from others, in float64: its first numbers, which the first card gave (all-gather), or
    its last ones, which are the sum of what all gave."""
    if operation == "all-gather":
        return relative_error(outputs[-1][:_CHECKED], inputs[0][:_CHECKED].cpu().double())
    first, *others = (each[-_CHECKED:].cpu().double() for each in inputs)
    return relative_error(outputs[-1][-_CHECKED:], sum(others, start=first))


def _problem(off: float) -> str | None:
    return None if off <= _TOLERANCE else f"the exchange is wrong: off by {off:.2g} of its largest value"


def _script(params: Params) -> tuple[str, ...]:
    operation, cards = str(params["op"]), int(params["cards"])
    given, received = _sizes(operation, int(params["bytes"]) // _ITEM_BYTES, cards)
    made = "([torch.empty(size, device=card).uniform_() for card in cards] for size in"
    return (
        f"cards = range({cards}); wait = lambda: [torch.cuda.synchronize(card) for card in cards]",
        f"inputs, outputs = {made} ({given}, {received}))",
        f"run = lambda: torch.cuda.nccl.{operation.replace('-', '_')}(inputs, outputs)",
    )


_LIGHT = _case("all-reduce", 2, _QUICK_SIZE)
COLLECTIVES = Benchmark(
    key="collectives",
    version=1,
    title=gettext_noop("Collectives"),
    measures=gettext_noop("Bytes per second that each card sends to the others while all of them exchange an array."),
    runs=gettext_noop(
        "One operation of NCCL on 4-byte numbers, by the first 2, 4, 8 or 16 cards of the machine at once: all-reduce "
        "sums the arrays of all cards, all-gather joins them, reduce-scatter leaves each card a part of the sum."
    ),
    sizes="all-reduce, all-gather, reduce-scatter; 2, 4, 8, 16 cards; 1 MiB, 64 MiB, 1 GiB; not on a processor",
    order=27,
    cases=_cases,
    light=_LIGHT,
    prepare=_prepare,
    devices_used=_devices_used,
    working_set_bytes=lambda params: 2 * int(params["bytes"]),
    not_on={"cpu": gettext_noop("Not applicable: it takes several cards.")},
    unit="B/s",
    plausible=LINK_RATES,
    work=bus_bytes,
    formula="bytes x factor / s",
    source="the bus bandwidth of NVIDIA/nccl-tests, doc/PERFORMANCE.md: `bytes` is the whole array, the factor is "
    "2 (n - 1) / n for all-reduce on n cards, (n - 1) / n for the others. No published figure bounds it: where a "
    "switch adds up, less crosses the links than that",
    bounded_by=lambda _params: (),
    bytes_moved=bus_bytes,
    bytes_formula="bytes x factor",
    script=_script,
    on_several_cards=True,
)
