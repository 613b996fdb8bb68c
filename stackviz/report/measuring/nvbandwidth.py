"""nvbandwidth: copies between cards, and between a card and the host. Another tool runs it; it prints rates."""

from typing import Any

from stackviz.report.measuring.benchmark import LINK_RATES, AnyParams, Benchmark, RateBound, gettext_noop

__all__ = ["NVBANDWIDTH"]

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
