"""All probes at once, each in its own process, joined into what one report says about the machine."""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from stackviz.agent.children import Ended, run_child
from stackviz.agent.probing.child import PROBES
from stackviz.report.format import FACTS, LIMITS
from stackviz.report.format.agent_texts import OTHER_SYSTEM
from stackviz.report.importers.reading import clean

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
    """Run the probes side by side. `report_end` hears of each that ended, in no order. Interrupted, it ends all."""
    names = list(probes)
    stop = threading.Event()

    def run(name: str) -> Ended:
        ended = run_child("stackviz.agent.probing.child", {"probe": name, "within_s": timeout_s}, timeout_s, stop=stop)
        report_end(name, ended)
        return ended

    with ThreadPoolExecutor(max_workers=len(names) or 1) as pool:
        try:
            return join(dict(zip(names, pool.map(run, names), strict=True)))
        except BaseException:
            stop.set()  # leaving the pool waits for its threads
            raise


def join(ended: Mapping[str, Ended]) -> Gathered:
    """Combine the output of the probes into one machine; if two state the same fact, the earlier one wins."""
    gathered = Gathered()
    ended = {name: _with_silence(end) for name, end in ended.items()}
    for name, end in ended.items():
        answer = _answer_of(end)
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


def _answer_of(end: Ended) -> Document | None:
    """The last it handed back: all it had to say, or what was known before something went wrong."""
    return end.lines[-1] if end.lines and isinstance(end.lines[-1], dict) else None


def _with_silence(end: Ended) -> Ended:
    """A process that ends well before it has answered all has failed: importing torch may end Python."""
    answer = _answer_of(end)
    if end.state != "ok" or (answer is not None and not answer.get("is_part")):
        return end
    return replace(end, state="failed", detail="ended without an answer")


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
    """Cards of a vendor that an earlier probe has listed are the same cards: torch lists them too, and knows more of
    one that both give the same UUID, or that is the only one of its vendor.
    """
    known = {card["vendor"] for card in cards}
    indices = {card["index"] for card in cards}
    for card in more:
        if card["vendor"] in known:
            if same := _same_card(card, cards, more):
                _complete(same, card)
            continue
        index = card["index"] if card["index"] not in indices else max(indices) + 1
        indices.add(index)
        cards.append({**card, "index": index})


def _same_card(card: Document, cards: list[Document], more: list[Document]) -> Document | None:
    ours, theirs = ([listed for listed in each if listed["vendor"] == card["vendor"]] for each in (cards, more))
    uuid = card.get("uuid_hash")
    same = next((listed for listed in ours if uuid and listed.get("uuid_hash") == uuid), None)
    if same or len(ours) != len(theirs):
        return same
    if (
        card["vendor"] != "nvidia"
    ):  # tools of AMD and Intel number cards as torch does, and write UUIDs in their own way
        return ours[theirs.index(card)]
    return ours[0] if len(ours) == 1 and not (uuid and ours[0].get("uuid_hash")) else None


def _complete(card: Document, by: Document) -> None:
    """Take what the second knows and the first does not; what is unknown to both keeps its reason.

    The UUID is torch's: by it a result finds its card, and earlier reports had no other.
    """
    card["uuid_hash"] = by.get("uuid_hash") or card.get("uuid_hash")
    card["facts"] = {**by.get("facts", {}), **card.get("facts", {})}
    card["absent"] = {name: why for name, why in card.get("absent", {}).items() if name not in card["facts"]}


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
_ON_MACS_ONLY = (
    "apple.",
    "os.build",
    "memory.gpu_limit_bytes",
    "machine.low_power_mode",
    "machine.high_power_mode",
    "machine.thermal_pressure",
)


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
            why = {"reason": "not_applicable", "detail": OTHER_SYSTEM.format(systems="macOS")}
        else:
            why = {"reason": "not_collected", "detail": None}
        gathered.absent[name] = why


def _fill_gpu_limit(gathered: Gathered) -> None:
    """Metal reports the default limit of a Mac's GPU through torch, sysctl a custom one: see the apple probe."""
    recommended = gathered.facts.get("mps.recommended_max_memory_bytes")
    if recommended:
        gathered.facts.setdefault("memory.gpu_limit_bytes", recommended)
