"""nccl-tests and nvbandwidth: transfers between cards, and between a card and the host. Other tools run them."""

from collections.abc import Callable
from typing import Any

from stackviz.report.measuring.benchmark import LINK_RATES, AnyParams, Benchmark, RateBound, gettext_noop, positive

__all__ = ["BUS_FACTORS", "NCCL_TESTS", "NVBANDWIDTH", "PROGRAMS", "TYPES", "bus_bytes"]

PROGRAMS = {
    "all-reduce": "all_reduce_perf", "all-gather": "all_gather_perf", "reduce-scatter": "reduce_scatter_perf",
    "all-to-all": "alltoall_perf", "gather": "gather_perf", "scatter": "scatter_perf", "broadcast": "broadcast_perf",
    "reduce": "reduce_perf", "send-receive": "sendrecv_perf",
}  # fmt: skip
"""Operation -> the program of nccl-tests that runs it."""

TYPES = {
    "fp32": "float", "fp16": "half", "fp64": "double", "bf16": "bfloat16", "fp8": "f8e4m3", "fp8-e5m2": "f8e5m2",
}  # fmt: skip
"""Types that nccl-tests calls otherwise."""

BUS_FACTORS: dict[str, Callable[[float], float]] = {
    "all-reduce": lambda cards: 2 * (cards - 1) / cards,
    "all-gather": lambda cards: (cards - 1) / cards,
    "reduce-scatter": lambda cards: (cards - 1) / cards,
    "all-to-all": lambda cards: (cards - 1) / cards,
    "gather": lambda cards: (cards - 1) / cards,
    "scatter": lambda cards: (cards - 1) / cards,
    "broadcast": lambda _cards: 1.0,
    "reduce": lambda _cards: 1.0,
    "send-receive": lambda _cards: 1.0,
}
"""Operation -> how much of its bytes crosses the links of each card, for so many cards: NVIDIA/nccl-tests,
doc/PERFORMANCE.md and the GetBw of each test in src/."""


def bus_bytes(params: AnyParams) -> float | None:
    """Bytes that each card sends at least; None if the parameters do not say, or a card is alone."""
    factor, cards, size = BUS_FACTORS.get(str(params.get("op"))), positive(params, "cards"), positive(params, "bytes")
    return size * factor(cards) if factor and size and cards >= 2 else None


NCCL_TESTS = Benchmark(
    key="nccl-tests",
    version=1,
    title="nccl-tests",
    measures=gettext_noop(
        "Bytes per second that each card sends to the others in a collective, as nccl-tests times it."
    ),
    order=32,
    unit="B/s",
    plausible=LINK_RATES,
    work=bus_bytes,
    formula="bytes x factor / s",
    source="the bus bandwidth of NVIDIA/nccl-tests, doc/PERFORMANCE.md: the factor is 2 (n - 1) / n for all-reduce on "
    "n cards, (n - 1) / n for all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for broadcast, reduce and "
    "send-receive. No published figure bounds it: where a switch adds up, less crosses the links than that",
    bounded_by=lambda _params: (),
    setting_names_it=True,
    on_several_cards=True,
)


_SHOWN_ONLY = frozenset({"row", "column"})  # which pair of cards it was: all pairs of a machine are ranked together


def _bounds(params: AnyParams) -> tuple[RateBound, ...]:
    """The link to the host, one way, for what crosses it: a test of both ways states one of them. For a copy inside a
    card its memory, which it reads and writes."""
    test = str(params.get("test", ""))
    if test == "device_local_copy":
        return (RateBound(("memory_bandwidth_gb_s",), 2.0),)
    return (RateBound(("pcie",)),) if "host" in test and "latency" not in test else ()


def _compared(params: AnyParams) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name not in _SHOWN_ONLY}


NVBANDWIDTH = Benchmark(
    key="nvbandwidth",
    version=1,
    title="nvbandwidth",
    measures=gettext_noop(
        "Bytes per second copied between cards, and between a card and the host, as nvbandwidth prints."
    ),
    order=31,
    unit="B/s",
    sample_unit="B/s",
    plausible=LINK_RATES,
    work=lambda params: 1.0 if params.get("test") else None,
    formula="bytes / s",
    source="as nvbandwidth prints it, the median of its repeats: NVIDIA/nvbandwidth, README.md. What crosses PCI "
    "Express is bounded by lanes times bytes per second of the generation, after encoding",
    bounded_by=_bounds,
    compared=_compared,
    setting_names_it=True,
    on_several_cards=True,
)
