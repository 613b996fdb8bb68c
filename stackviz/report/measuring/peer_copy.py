"""`peer-copy`: an array copied from the memory of one card to that of another: the matrix of a machine's links."""

from typing import Any

from stackviz.report.measuring.benchmark import (
    LINK_RATES,
    MIB,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    gettext_noop,
    positive,
    uniform,
)

__all__ = ["PEER_COPY"]

_MOST_CARDS = 16
_SIZES = (MIB, 256 * MIB, 1024 * MIB)
_STANDARD_SIZE = 256 * MIB
_CHECKED = 1000  # numbers at either end


def _case(number: int, size: int) -> Params:
    return {"to": number, "cards": 2, "bytes": size}


_LIGHT = _case(1, _STANDARD_SIZE)


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """On a processor one, which says why nothing is measured."""
    if kind != "cuda":
        return [_LIGHT] if kind == "cpu" and not quick else []
    sizes = (_STANDARD_SIZE,) if quick else _SIZES
    return [_case(number, size) for number in range(_MOST_CARDS) for size in sizes]


def _is_long(_kind: str, params: Params) -> bool:
    """240 pairs of 16 cards take long enough with one size."""
    return params["bytes"] != _STANDARD_SIZE


def _devices_used(device: str, params: Params) -> tuple[str, ...]:
    return (device,) if device == "cpu" else (device, f"cuda:{params['to']}")


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Copies are put on the queue of the card that sends; the clock waits for both."""
    _, peer = _devices_used(device, params)
    source = uniform(torch, device, (int(params["bytes"]) // 4,), torch.float32)
    target = torch.empty_like(source, device=peer)

    def check() -> str | None:
        ends = [(source[part].cpu(), target[part].cpu()) for part in (slice(_CHECKED), slice(-_CHECKED, None))]
        return None if all(torch.equal(*pair) for pair in ends) else "the copy differs from its source"

    return Prepared(
        run=lambda: target.copy_(source, non_blocking=True),
        output=source,
        check=check,
        conditions={"inputs": "uniform", "peer_access": bool(torch.cuda.can_device_access_peer(device, peer))},
        wait=lambda: [torch.cuda.synchronize(name) for name in (device, peer)],
    )


def _work(params: AnyParams) -> float | None:
    return positive(params, "bytes") or None


def _script(params: Params) -> tuple[str, ...]:
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
    cases=_cases,
    light=_LIGHT,
    prepare=_prepare,
    devices_used=_devices_used,
    working_set_bytes=lambda params: int(params["bytes"]),
    not_on={"cpu": gettext_noop("Not applicable: it takes several cards.")},
    is_long=_is_long,
    unit="B/s",
    plausible=LINK_RATES,
    work=_work,
    formula="bytes / s",
    source="each byte crosses the link once. No published figure bounds it: vendors state the links of a card all "
    "together, and how many of them lead to one other card is a matter of the machine",
    bounded_by=lambda _params: (),
    bytes_moved=_work,
    bytes_formula="bytes",
    script=_script,
    compared=lambda params: {name: value for name, value in params.items() if name != "to"},
    on_several_cards=True,
)
