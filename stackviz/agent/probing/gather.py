"""All probes at once, each in its own process, joined into what one report says about the machine."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from stackviz.agent.children import Ended, run_child
from stackviz.agent.probing.child import PROBES
from stackviz.importers.reading import clean
from stackviz.wire import FACTS, LIMITS

__all__ = ["PROBE_TIMEOUT_S", "Gathered", "gather", "join"]

PROBE_TIMEOUT_S = 60.0  # a cold import of torch from a network disk takes half of it
_NOT_ANSWERED = {"timeout": "timeout", "failed": "failed"}

Document = dict[str, Any]


@dataclass
class Gathered:
    """The output of the probes, in terms of the wire format."""

    facts: Document = field(default_factory=dict)
    absent: Document = field(default_factory=dict)
    cards: list[Document] = field(default_factory=list)
    software: list[Document] = field(default_factory=list)
    probes: list[Document] = field(default_factory=list)


def gather(
    timeout_s: float = PROBE_TIMEOUT_S,
    report_end: Callable[[str, Ended], None] = lambda _name, _ended: None,
    probes: Iterable[str] = tuple(PROBES),
) -> Gathered:
    """Run the probes side by side. `report_end` hears of each that ended, in no order."""
    names = list(probes)

    def run(name: str) -> Ended:
        ended = run_child("stackviz.agent.probing.child", {"probe": name}, timeout_s)
        report_end(name, ended)
        return ended

    with ThreadPoolExecutor(max_workers=len(names) or 1) as pool:
        return join(dict(zip(names, pool.map(run, names), strict=True)))


def join(ended: Mapping[str, Ended]) -> Gathered:
    """Combine the output of the probes into one machine; if two state the same fact, the earlier one wins."""
    gathered = Gathered()
    for name, end in ended.items():
        answer = end.lines[-1] if end.lines and isinstance(end.lines[-1], dict) else None
        gathered.probes.append(_probe_run(name, end, answer))
        if answer is None:
            continue
        for fact, value in answer["facts"].items():
            gathered.facts.setdefault(fact, value)
        for fact, why in answer["absent"].items():
            _mark_missing(gathered.absent, fact, why)
        _join_software(gathered.software, answer["software"])
        _join_cards(gathered.cards, answer["cards"])
    _fill_gpu_limit(gathered)
    _explain_silence(gathered, ended)
    gathered.absent = {name: why for name, why in gathered.absent.items() if name not in gathered.facts}
    return gathered


def _mark_missing(absent: Document, fact: str, why: Document) -> None:
    """A probe that failed on a fact takes precedence over one that the fact does not apply to."""
    if absent.get(fact, {}).get("reason", "not_applicable") == "not_applicable":
        absent[fact] = why


def _probe_run(name: str, end: Ended, answer: Document | None) -> Document:
    problems = answer["problems"] if answer else []
    state = "ok" if end.state == "ok" and answer else _NOT_ANSWERED.get(end.state, "failed")
    detail = "; ".join([*([end.detail] if end.detail else []), *problems])
    return {
        "probe": name,
        "state": state,
        "duration_s": round(end.duration_s, 3),
        "detail": clean(detail, LIMITS.string_chars) or None,
    }


def _join_software(software: list[Document], more: list[Document]) -> None:
    """A component found twice with one version is one; versions that differ stay side by side, as they are."""
    known = {(entry["component"], entry["version"]) for entry in software}
    software.extend(entry for entry in more if (entry["component"], entry["version"]) not in known)


def _join_cards(cards: list[Document], more: list[Document]) -> None:
    """Cards of a vendor that an earlier probe has listed are the same cards: torch lists them too."""
    known = {card["vendor"] for card in cards}
    indices = {card["index"] for card in cards}
    for card in more:
        if card["vendor"] in known:
            continue
        index = card["index"] if card["index"] not in indices else max(indices) + 1
        indices.add(index)
        cards.append({**card, "index": index})


# Who would have told of a fact: the longest beginning of its name counts.
_PROBE_BY_PREFIX = {
    "os.": "system",
    "env.": "system",
    "machine.": "system",
    "cpu.": "system",
    "memory.": "system",
    "python.": "python",
    "torch.": "torch",
    "cuda.": "torch",
    "cudnn.": "torch",
    "nccl.": "torch",
    "cudnn.libraries": "system",
    "rocm.version": "system",
    "pip.": "python",
    "flash_attn.": "packages",
    "onnxruntime.": "packages",
    "mps.": "torch",
    "xpu.": "torch",
    "nvidia.": "nvidia",
    "cuda.driver_api_version": "nvidia",
    "cuda.init_code": "nvidia",
    "cuda.libcuda_path": "nvidia",
    "cuda.toolkit_version": "nvidia",
    "apple.": "apple",
}
_ON_MACS_ONLY = ("apple.", "os.build", "memory.gpu_limit_bytes", "machine.low_power_mode")


def _explain_silence(gathered: Gathered, ended: Mapping[str, Ended]) -> None:
    """Give every unreported fact a reason: the probe that failed, or that it is not read here."""
    is_mac = gathered.facts.get("os.name") == "macOS"
    for name in FACTS.keys() - gathered.facts.keys() - gathered.absent.keys():
        prefix = max((start for start in _PROBE_BY_PREFIX if name.startswith(start)), key=len, default="")
        end = ended.get(_PROBE_BY_PREFIX.get(prefix, ""))
        why: Document
        if end is not None and end.state != "ok":
            why = {"reason": _NOT_ANSWERED[end.state], "detail": f"the {_PROBE_BY_PREFIX[prefix]} probe {end.detail}"}
        elif name.startswith(_ON_MACS_ONLY) and not is_mac:
            why = {"reason": "not_applicable", "detail": "asked on macOS only"}
        else:
            why = {"reason": "not_collected", "detail": None}
        gathered.absent[name] = why


def _fill_gpu_limit(gathered: Gathered) -> None:
    """Metal reports the default limit of a Mac's GPU through torch, sysctl a custom one: see the apple probe."""
    recommended = gathered.facts.get("mps.recommended_max_memory_bytes")
    if recommended:
        gathered.facts.setdefault("memory.gpu_limit_bytes", recommended)
