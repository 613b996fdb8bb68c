"""`host-device` and `peer-copy`: an array copied between the host and an accelerator, and between two cards."""

from typing import Any

from stackviz.report.measuring.benchmark import (
    KIB,
    LINK_RATES,
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

__all__ = ["HOST_DEVICE", "PEER_COPY"]

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


_MOST_CARDS = 16
_PEER_SIZES = (MIB, 256 * MIB, 1024 * MIB)
_STANDARD_SIZE = 256 * MIB
_LINK_ENDS = 1000  # numbers at either end


def _peer_case(number: int, size: int) -> Params:
    return {"to": number, "cards": 2, "bytes": size}


_LIGHT = _peer_case(1, _STANDARD_SIZE)


def _peer_cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """On a processor one, which says why nothing is measured."""
    if kind != "cuda":
        return [_LIGHT] if kind == "cpu" and not quick else []
    sizes = (_STANDARD_SIZE,) if quick else _PEER_SIZES
    return [_peer_case(number, size) for number in range(_MOST_CARDS) for size in sizes]


def _is_long(_kind: str, params: Params) -> bool:
    """240 pairs of 16 cards take long enough with one size."""
    return params["bytes"] != _STANDARD_SIZE


def _devices_used(device: str, params: Params) -> tuple[str, ...]:
    return (device,) if device == "cpu" else (device, f"cuda:{params['to']}")


def _prepare_peer(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Copies are put on the queue of the card that sends; the clock waits for both."""
    _, peer = _devices_used(device, params)
    source = uniform(torch, device, (int(params["bytes"]) // 4,), torch.float32)
    target = torch.empty_like(source, device=peer)

    def check() -> str | None:
        ends = [(source[part].cpu(), target[part].cpu()) for part in (slice(_LINK_ENDS), slice(-_LINK_ENDS, None))]
        return None if all(torch.equal(*pair) for pair in ends) else "the copy differs from its source"

    return Prepared(
        run=lambda: target.copy_(source, non_blocking=True),
        output=source,
        check=check,
        conditions={"inputs": "uniform", "peer_access": bool(torch.cuda.can_device_access_peer(device, peer))},
        wait=lambda: [torch.cuda.synchronize(name) for name in (device, peer)],
    )


def _peer_work(params: AnyParams) -> float | None:
    return positive(params, "bytes") or None


def _peer_script(params: Params) -> tuple[str, ...]:
    return (
        f"source = torch.empty({int(params['bytes']) // 4}, device=device).uniform_(-1, 1)",
        f'target = torch.empty_like(source, device="cuda:{params["to"]}")',
        "run = lambda: target.copy_(source, non_blocking=True)",
    )


PEER_COPY = Benchmark(
    key="peer-copy",
    version=1,
    title=gettext_noop("Copies between cards"),
    measures=gettext_noop("Bytes per second copied from the memory of one card to that of another."),
    runs=gettext_noop(
        "One copy of 4-byte numbers from each card to each other one. Where a card cannot reach the other's memory by "
        "itself, the copy takes the way through the host's memory, and the result says so."
    ),
    sizes="from each card to each other one of the first 16; 256 MiB, in a full suite 1 MiB and 1 GiB too; not on a "
    "processor",
    order=27,
    cases=_peer_cases,
    light=_LIGHT,
    prepare=_prepare_peer,
    devices_used=_devices_used,
    working_set_bytes=lambda params: int(params["bytes"]),
    not_on={"cpu": gettext_noop("Not applicable: it takes several cards.")},
    is_long=_is_long,
    unit="B/s",
    plausible=LINK_RATES,
    work=_peer_work,
    formula="bytes / s",
    source="each byte crosses the link once. No published figure bounds it: vendors state the links of a card all "
    "together, and how many of them lead to one other card is a matter of the machine",
    bounded_by=lambda _params: (),
    bytes_moved=_peer_work,
    bytes_formula="bytes",
    script=_peer_script,
    compared=lambda params: {name: value for name, value in params.items() if name != "to"},
    on_several_cards=True,
)
