"""`memory-copy`: a large array copied within the memory of a device, B = A."""

from typing import Any

from stackviz.report.measuring.benchmark import (
    MIB,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    gettext_noop,
    positive,
    uniform,
)

__all__ = ["MEMORY_COPY"]

_QUICK_BYTES = (256 * MIB, 1024 * MIB)
_FULL_BYTES = (256 * MIB, 1024 * MIB, 4096 * MIB)


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """A quick run on a processor has the smallest only: its random numbers take longer than its copies."""
    sizes = _FULL_BYTES if not quick else _QUICK_BYTES[:1] if kind == "cpu" else _QUICK_BYTES
    return [{"bytes": size} for size in sizes]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Random 4-byte numbers; `bytes` are read and as many written."""
    source = uniform(torch, device, (int(params["bytes"]) // 4,), torch.float32)
    target = torch.empty_like(source)
    return Prepared(
        run=lambda: target.copy_(source),
        output=target,
        check=lambda: None if _same_ends(torch, source, target) else "the copy differs from its source",
        conditions={"inputs": "uniform"},
    )


def _same_ends(torch: Any, source: Any, target: Any) -> bool:  # noqa: ANN401
    return bool(torch.equal(source[:1000], target[:1000]) and torch.equal(source[-1000:], target[-1000:]))


def _work(params: AnyParams) -> float | None:
    return 2.0 * positive(params, "bytes") or None


MEMORY_COPY = Benchmark(
    key="memory-copy",
    version=1,
    title=gettext_noop("Memory copy"),
    measures=gettext_noop(
        "Bytes per second read and written while a large array is copied within the memory of a device."
    ),
    runs=gettext_noop("B = A, random 4-byte numbers; `bytes` are read and as many written"),
    sizes="256 MiB, 1 GiB, 4 GiB, where at least twice that is four times the last-level cache",
    order=20,
    cases=_cases,
    light={"bytes": 256 * MIB},
    prepare=_prepare,
    working_set_bytes=lambda params: 2 * int(params["bytes"]),
    must_exceed_cache=True,
    is_long=lambda _kind, params: int(params["bytes"]) > 1024 * MIB,
    unit="B/s",
    work=_work,
    formula="2·bytes / s",
    source="each byte is read once and written once, as STREAM counts Copy: McCalpin, cs.virginia.edu/stream/ref.html",
    bounds={"": ("memory_bandwidth_gb_s",)},
    bytes_moved=_work,
    bytes_formula="2·bytes",
    script=lambda params: (
        f"a = torch.empty({int(params['bytes']) // 4}, device=device).uniform_(-1, 1)",
        "b = torch.empty_like(a)",
        "run = lambda: b.copy_(a)",
    ),
)
