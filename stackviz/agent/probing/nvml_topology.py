"""How the cards of a machine are linked, from NVML, in the words of `nvidia-smi topo -m`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from stackviz.report.format import LIMITS
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import CardLost, Nvml
from stackviz.report.importers import Reading

__all__ = ["read_nvml_topology"]

_LEVELS = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}  # nvmlGpuTopologyLevel_t
_MOST_LINKS = 36  # NVML_NVLINK_MAX_LINKS
_IS_CARD, _IS_SWITCH = 0, 2  # nvmlIntNvLinkDeviceType_t


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where the links of a card that are up lead: how many to switches, how many to each card by its bus id."""

    switches: int
    cards: Counter[str]
    bus_id: str


def read_nvml_topology(nvml: Nvml, handles: Mapping[int, object], count: int, reading: Reading) -> None:
    """`handles`: of the whole cards that answer, by index; `count`: how many the driver lists."""
    if count < 2:
        reading.sheet.mark_missing("nvidia.topology", "not_applicable", f"{count} card{'s' if count != 1 else ''}")
        return
    try:
        ends = {index: _ends(nvml, handle) for index, handle in handles.items()}
        links = [
            f"{first}-{second}:{_link(ends[first], ends[second]) or _level(nvml, handles[first], handles[second])}"
            for first, second in combinations(sorted(handles), 2)
        ]
    except MissingFact as missing:
        reading.sheet.mark_missing("nvidia.topology", missing.reason, missing.detail)
        return
    text = " ".join(links)
    if len(text) > LIMITS.string_chars:
        text = text[: text.rfind(" ", 0, LIMITS.string_chars)]
        reading.problem("more links than a report can have; the first were read")
    reading.sheet.state("nvidia.topology", text)
    reading.sheet.mark_missing("nvidia.topology", "not_reported", "one card answers")


def _ends(nvml: Nvml, handle: object) -> _Ends:
    switches, cards = 0, Counter[str]()
    for link in range(_MOST_LINKS):
        try:
            if not nvml.ask("nvmlDeviceGetNvLinkState", handle, link):
                continue
            kind = nvml.ask("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
            if kind == _IS_SWITCH:
                switches += 1
            elif kind == _IS_CARD:
                cards[_lower(nvml.ask("nvmlDeviceGetNvLinkRemotePciInfo", handle, link).busId)] += 1
        except CardLost:
            raise
        except MissingFact:
            break  # past the last link, or a card without any
    return _Ends(switches, cards, _lower(nvml.ask("nvmlDeviceGetPciInfo", handle).busId))


def _lower(bus_id: str | bytes) -> str:
    return (bus_id.decode("ascii", "replace") if isinstance(bus_id, bytes) else bus_id).lower()


def _link(first: _Ends, second: _Ends) -> str:
    """NVLink between two cards, "" where there is none: directly, or as far as both reach the switches."""
    count = first.cards[second.bus_id] or min(first.switches, second.switches)
    return f"NV{count}" if count else ""


def _level(nvml: Nvml, first: object, second: object) -> str:
    level = int(nvml.ask("nvmlDeviceGetTopologyCommonAncestor", first, second))
    if level not in _LEVELS:
        raise MissingFact("not_reported", f"NVML answers level {level}")
    return _LEVELS[level]
