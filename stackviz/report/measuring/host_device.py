"""`host-device`: an array copied between the memory of the host, pageable or pinned, and that of an accelerator."""

from typing import Any

from stackviz.report.measuring.benchmark import (
    KIB,
    MIB,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    RateBound,
    gettext_noop,
    positive,
    uniform,
)

__all__ = ["HOST_DEVICE"]

_SIZES = (64 * KIB, MIB, 16 * MIB, 256 * MIB, 1024 * MIB)
_QUICK_SIZE = 256 * MIB
_DIRECTIONS = ("to-device", "to-host")
_CHECKED = 1000  # numbers at either end


def _case(direction: str, memory: str, size: int) -> Params:
    return {"direction": direction, "memory": memory, "bytes": size}


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """On a processor one, which says why nothing is measured."""
    if kind == "cpu":
        return [_case(_DIRECTIONS[0], "pageable", _QUICK_SIZE)]
    sizes = (_QUICK_SIZE,) if quick else _SIZES
    return [
        _case(direction, memory, size)
        for direction in _DIRECTIONS
        for memory in ("pageable", "pinned")
        for size in sizes
    ]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Copies from and to pinned memory are put on the queue; the clock waits for the last of them."""
    host = uniform(torch, "cpu", (int(params["bytes"]) // 4,), torch.float32)
    is_pinned = params["memory"] == "pinned"
    if is_pinned:
        host = host.pin_memory()
    other = host.to(device).neg_()
    source, target = (host, other) if params["direction"] == "to-device" else (other, host)

    def check() -> str | None:
        ends = [(source[part].cpu(), target[part].cpu()) for part in (slice(_CHECKED), slice(-_CHECKED, None))]
        return None if all(torch.equal(*pair) for pair in ends) else "the copy differs from its source"

    return Prepared(
        run=lambda: target.copy_(source, non_blocking=is_pinned),
        output=other,
        check=check,
        conditions={"inputs": "uniform"},
    )


def _work(params: AnyParams) -> float | None:
    return positive(params, "bytes") or None if params.get("direction") in _DIRECTIONS else None


def _bounds(params: AnyParams) -> tuple[RateBound, ...]:
    return (RateBound(("pcie",)),) if _work(params) else ()


def _script(params: Params) -> tuple[str, ...]:
    pinned = params["memory"] == "pinned"
    pin = ".pin_memory()" if pinned else ""
    source, target = ("host", "other") if params["direction"] == "to-device" else ("other", "host")
    return (
        f"host = torch.empty({int(params['bytes']) // 4}).uniform_(-1, 1){pin}",
        "other = host.to(device).neg_()",
        f"run = lambda: {target}.copy_({source}, non_blocking={pinned})",
    )


HOST_DEVICE = Benchmark(
    key="host-device",
    version=1,
    title=gettext_noop("Copies between host and accelerator"),
    measures=gettext_noop("Bytes per second copied from the host's memory to the accelerator's, and back."),
    runs=gettext_noop(
        "One copy of 4-byte numbers. `pageable` is ordinary memory of the host, `pinned` is locked, so that the "
        "accelerator fetches it by itself."
    ),
    sizes="to-device, to-host; pageable, pinned; 64 KiB, 1 MiB, 16 MiB, 256 MiB, 1 GiB; not on a processor",
    order=26,
    cases=_cases,
    light=_case("to-device", "pageable", _QUICK_SIZE),
    prepare=_prepare,
    working_set_bytes=lambda params: int(params["bytes"]),
    not_on={"cpu": gettext_noop("Not applicable: a processor has no link to itself; `memory-copy` copies there.")},
    unit="B/s",
    work=_work,
    formula="bytes / s",
    source="each byte crosses the link once. The bound is the link that the card states: lanes times bytes per second "
    "of its PCI Express generation, after encoding (PCI Express Base Specification)",
    bounded_by=_bounds,
    bytes_moved=_work,
    bytes_formula="bytes",
    script=_script,
)
