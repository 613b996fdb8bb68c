"""`memory` and `memory-copy`: arrays read, written, copied, combined within the memory of a device."""

import math
from typing import Any

from stackviz.report.measuring.benchmark import (
    KIB,
    MIB,
    REPEATED_NUMBERS,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    beyond_caches,
    gettext_noop,
    positive,
    repeated_uniform,
    uniform,
)

__all__ = ["MEMORY", "MEMORY_COPY"]

# Operation -> arrays of `bytes` that one run touches.
_ARRAYS = {"read": 1, "write": 1, "copy": 2, "triad": 3}
_SIZES = (64 * KIB, MIB, 16 * MIB, 256 * MIB, 1024 * MIB, 4096 * MIB)
_QUICK_OPERATIONS = ("read", "write", "triad")  # `memory-copy` copies
_FACTOR, _WRITTEN = 1.5, 0.5
_CHECKED = 1000  # numbers at either end
_DEVIATIONS = 8.0  # of the sum of n numbers in [-1, 1), which has a standard deviation of sqrt(n / 3)


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    sizes = ((256 if kind == "cpu" else 1024) * MIB,) if quick else _SIZES
    return [{"op": op, "bytes": size} for op in (_QUICK_OPERATIONS if quick else _ARRAYS) for size in sizes]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    op, count = str(params["op"]), int(params["bytes"]) // 4
    a = repeated_uniform(torch, device, count)
    if op == "read":
        total = torch.full((), math.nan, device=device)
        return Prepared(
            run=lambda: torch.sum(a, dim=0, out=total),
            output=total,
            check=lambda: None if abs(float(total)) < _sum_limit(count) else "the sum is wrong",
            conditions={"inputs": "uniform"},
        )
    if op == "write":
        return Prepared(
            run=lambda: a.fill_(_WRITTEN),
            output=a,
            check=lambda: _wrong_ends(torch, a, torch.full_like(a[:_CHECKED], _WRITTEN), a[-_CHECKED:] * 0 + _WRITTEN),
            conditions={"inputs": "uniform"},
        )
    b = torch.zeros_like(a)
    if op == "copy":
        return Prepared(
            run=lambda: b.copy_(a),
            output=b,
            check=lambda: _wrong_ends(torch, b, a[:_CHECKED], a[-_CHECKED:]),
            conditions={"inputs": "uniform"},
        )
    c = a.flip(0)
    return Prepared(
        run=lambda: torch.add(a, c, alpha=_FACTOR, out=b),
        output=b,
        check=lambda: _wrong_ends(
            torch, b, a[:_CHECKED] + _FACTOR * c[:_CHECKED], a[-_CHECKED:] + _FACTOR * c[-_CHECKED:]
        ),
        conditions={"inputs": "uniform"},
    )


def _sum_limit(count: int) -> float:
    """Of numbers that are repeated the sum is repeated as often."""
    different = min(count, REPEATED_NUMBERS)
    return _DEVIATIONS * math.sqrt(different / 3) * count / different


def _wrong_ends(torch: Any, output: Any, first: Any, last: Any) -> str | None:  # noqa: ANN401
    is_right = torch.allclose(output[:_CHECKED], first) and torch.allclose(output[-_CHECKED:], last)
    return None if is_right else "the array that was written is wrong"


def _work(params: AnyParams) -> float | None:
    return _ARRAYS.get(str(params.get("op")), 0) * positive(params, "bytes") or None


def _script(params: Params) -> tuple[str, ...]:
    made = f"a = torch.empty({int(params['bytes']) // 4}, device=device).uniform_(-1, 1)"
    others, run = {
        "read": ("total = torch.empty((), device=device)", "torch.sum(a, dim=0, out=total)"),
        "write": ("", f"a.fill_({_WRITTEN})"),
        "copy": ("b = torch.empty_like(a)", "b.copy_(a)"),
        "triad": ("b, c = torch.empty_like(a), a.flip(0)", f"torch.add(a, c, alpha={_FACTOR}, out=b)"),
    }[str(params["op"])]
    return tuple(filter(None, [made, others, f"run = lambda: {run}"]))


MEMORY = Benchmark(
    key="memory",
    version=1,
    title=gettext_noop("Memory read, write and triad"),
    measures=gettext_noop(
        "Bytes per second while arrays of 64 KiB to 4 GiB are read, written, copied or combined: small ones stay in "
        "the caches, large ones show the memory."
    ),
    runs=gettext_noop(
        "4-byte numbers. read: their sum; write: each set to 0.5; copy: B = A; triad: B = A + 1.5·C, as STREAM has it"
    ),
    sizes="read, write, copy, triad; 64 KiB, 1 MiB, 16 MiB, 256 MiB, 1 GiB, 4 GiB an array",
    order=22,
    cases=_cases,
    light={"op": "read", "bytes": 256 * MIB},
    prepare=_prepare,
    working_set_bytes=lambda params: _ARRAYS[str(params["op"])] * int(params["bytes"]),
    is_long=lambda _kind, params: int(params["bytes"]) > 1024 * MIB,
    unit="B/s",
    work=_work,
    formula="arrays·bytes / s",
    source="each array counts once, as in STREAM: McCalpin, cs.virginia.edu/stream/ref.html. A processor that writes "
    "reads the lines first, unless it streams past its caches: that is not counted",
    bounded_by=beyond_caches(_work),
    bytes_moved=_work,
    bytes_formula="read, write: bytes; copy: 2·bytes; triad: 3·bytes",
    script=_script,
)


_QUICK_BYTES = (256 * MIB, 1024 * MIB)
_FULL_BYTES = (256 * MIB, 1024 * MIB, 4096 * MIB)


def _copy_cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """A quick run on a processor has the smallest only: its random numbers take longer than its copies."""
    sizes = _FULL_BYTES if not quick else _QUICK_BYTES[:1] if kind == "cpu" else _QUICK_BYTES
    return [{"bytes": size} for size in sizes]


def _prepare_copy(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
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


def _copy_work(params: AnyParams) -> float | None:
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
    cases=_copy_cases,
    light={"bytes": 256 * MIB},
    prepare=_prepare_copy,
    working_set_bytes=lambda params: 2 * int(params["bytes"]),
    must_exceed_cache=True,
    is_long=lambda _kind, params: int(params["bytes"]) > 1024 * MIB,
    unit="B/s",
    work=_copy_work,
    formula="2·bytes / s",
    source="each byte is read once and written once, as STREAM counts Copy: McCalpin, cs.virginia.edu/stream/ref.html",
    bounds={"": ("memory_bandwidth_gb_s",)},
    bytes_moved=_copy_work,
    bytes_formula="2·bytes",
    script=lambda params: (
        f"a = torch.empty({int(params['bytes']) // 4}, device=device).uniform_(-1, 1)",
        "b = torch.empty_like(a)",
        "run = lambda: b.copy_(a)",
    ),
)
