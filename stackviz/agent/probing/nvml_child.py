"""Ask NVML in a separate process: one that hangs or crashes in the driver leaves what it has answered so far.

Reads the driver, each card and MIG instance, and how the cards are linked, in the words of `nvidia-smi topo -m`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from stackviz.agent.children import Ended, answer_in_file, run_child
from stackviz.agent.probing.child import document_of, reading_of
from stackviz.report.format import LIMITS, Scalar, hashed_uuid
from stackviz.report.format.facts import card_questions, reading_questions
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import CardLost, NoNvml, Nvml, NvmlCard, open_nvml, version_of_library
from stackviz.report.format.facts.table import Question
from stackviz.report.importers import CardReading, Reading

__all__ = ["NvmlAnswer", "ask_nvml_apart", "ask_nvml_here", "main"]

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


def read_card(nvml: Nvml, handle: object, index: int, name: str) -> CardReading:
    """All facts of one card. If the card is lost midway, facts read before stay and the rest are marked as missing."""
    card = CardReading(index=index, kind="gpu", vendor="nvidia", reported_name=name)
    questions = _questions()
    nvml_card = NvmlCard(nvml, handle)
    for number, (fact, question) in enumerate(questions.items()):
        try:
            value = question(nvml_card)
        except CardLost as lost:
            for rest in list(questions)[number:]:
                card.sheet.mark_missing(rest, lost.reason, lost.detail)
            break
        except MissingFact as missing:
            card.sheet.mark_missing(fact, missing.reason, missing.detail)
        except Exception as error:  # noqa: BLE001 - a binding's bug must not cost the card
            card.sheet.mark_missing(fact, "failed", f"{type(error).__name__}: {error}")
        else:
            _take(card, fact, value)
    if card.memory_bytes is None:
        _note_unified_memory(card)
    return card


def _take(card: CardReading, fact: str, value: Scalar | None) -> None:
    if fact == "memory_bytes":
        card.memory_bytes = int(value) if value else None
        if not value:
            card.sheet.mark_missing(fact, "not_reported", "NVML says 0")
    elif fact == "uuid_hash":
        card.uuid_hash = str(value)
    elif fact in card.sheet.table:
        card.sheet.state(fact, value)
        if value is None:
            card.sheet.mark_missing(fact, "not_reported")
    # else: a reading that was only tried; conditions hold its values


def _note_unified_memory(card: CardReading) -> None:
    """GB10, Jetson: NVML does not tell a memory size, because the card computes in the machine's memory."""
    why = card.sheet.absent.get("memory_bytes")
    if why and why.reason == "not_supported":
        card.sheet.state("unified_memory", value=True)


def _questions() -> dict[str, Question[NvmlCard]]:
    """The questions to a card, its identity first; each reading is tried once to find those it does not support."""
    return {
        "uuid_hash": lambda card: hashed_uuid(card.ask("nvmlDeviceGetUUID")),
        "memory_bytes": lambda card: int(card.part("nvmlDeviceGetMemoryInfo", "total")),
        **card_questions(),
        **reading_questions(),
    }


HandBack = Callable[["NvmlAnswer"], None]


@dataclass
class NvmlAnswer:
    """What NVML answered. `missing`: why that is not everything; None where it answered to the end."""

    reading: Reading = field(default_factory=lambda: Reading(kind="nvml"))
    missing: MissingFact | None = None

    @property
    def is_late(self) -> bool:
        return self.missing is not None and self.missing.reason == "timeout"


def ask_nvml_apart(within_s: float) -> NvmlAnswer:
    return _answer_of(run_child("stackviz.agent.probing.nvml_child", {}, within_s))


def _answer_of(ended: Ended) -> NvmlAnswer:
    last: Any = ended.lines[-1] if ended.lines else None
    answer = NvmlAnswer()
    if last is not None:
        answer.reading = reading_of(last["reading"], kind="nvml")
        answer.missing = NoNvml(*last["missing"]) if last["missing"] else None
    if ended.state != "ok" or last is None:
        words = f"NVML does not answer: {ended.detail or 'it ended without a word'}"
        answer.missing = NoNvml("timeout" if ended.state == "timeout" else "failed", words, words)
    return answer


def main() -> None:
    with answer_in_file() as (_given, hand_back):
        ask_nvml_here(lambda answer: hand_back(_document(answer)))


def _document(answer: NvmlAnswer) -> dict[str, object]:
    missing = answer.missing
    why = [missing.reason, missing.detail, getattr(missing, "error_text", None)] if missing else None
    return {"reading": document_of(answer.reading), "missing": why}


def ask_nvml_here(hand_back: HandBack = lambda _answer: None) -> NvmlAnswer:
    """Ask in this process. `hand_back` gets the answer as it grows."""
    answer = NvmlAnswer()
    try:
        with open_nvml() as nvml:
            _read_machine(nvml, answer, hand_back)
    except MissingFact as missing:
        answer.missing = missing
    _read_version(answer.reading)
    hand_back(answer)
    return answer


def _read_machine(nvml: Nvml, answer: NvmlAnswer, hand_back: HandBack) -> None:
    reading = answer.reading
    _read_driver(nvml, reading)
    count = int(nvml.ask("nvmlDeviceGetCount"))
    reading.sheet.state("nvidia.card_count", count)
    hand_back(answer)
    lost, handles = 0, dict[int, object]()
    for number in range(min(count, LIMITS.cards)):
        try:
            handle = nvml.ask("nvmlDeviceGetHandleByIndex", number)
            name = str(nvml.ask("nvmlDeviceGetName", handle))  # without a name there is nothing to match or to show
        except MissingFact as missing:
            lost += isinstance(missing, CardLost)
            reading.problem(f"card {number}: {missing.detail or missing.reason}")
            continue
        handles[number] = handle
        reading.cards.append(read_card(nvml, handle, number, name).card())
        hand_back(answer)
    reading.sheet.state("nvidia.cards_lost", lost)
    read_nvml_topology(nvml, handles, count, reading)
    for card in tuple(reading.cards):
        if card.facts.get("mig_mode") == "enabled":
            _read_instances(nvml, card.index, reading)


def _read_driver(nvml: Nvml, reading: Reading) -> None:
    try:
        driver = nvml.ask("nvmlSystemGetDriverVersion")
    except MissingFact as missing:
        reading.sheet.mark_missing("nvidia.driver_version", missing.reason, missing.detail)
    else:
        reading.sheet.state("nvidia.driver_version", driver)
        reading.add_software("nvidia-driver", driver, "nvml")
    try:
        number = nvml.first("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion", arguments=())
    except MissingFact as missing:
        reading.sheet.mark_missing("cuda.driver_api_version", missing.reason, missing.detail)
    else:
        version = f"{number // 1000}.{number % 1000 // 10}"  # 12040 is 12.4
        reading.sheet.state("cuda.driver_api_version", version)
        reading.add_software("cuda-driver-api", version, "nvml")


def _read_instances(nvml: Nvml, parent_index: int, reading: Reading) -> None:
    """Read the instances of a card as separate cards, numbered after the whole cards."""
    handle = nvml.ask("nvmlDeviceGetHandleByIndex", parent_index)
    try:
        most = int(nvml.ask("nvmlDeviceGetMaxMigDeviceCount", handle))
    except MissingFact as missing:
        reading.problem(f"card {parent_index}: its instances cannot be listed: {missing.detail or missing.reason}")
        return
    for number in range(most):
        try:
            instance = nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
            name = str(nvml.ask("nvmlDeviceGetName", instance))
        except MissingFact:
            continue  # a free place
        if len(reading.cards) < LIMITS.cards:
            reading.cards.append(_instance(nvml, instance, parent_index, name, reading).card())


def _instance(nvml: Nvml, handle: object, parent_index: int, name: str, reading: Reading) -> CardReading:
    card = read_card(nvml, handle, max(card.index for card in reading.cards) + 1, name)
    card.sheet.state("mig_parent_index", parent_index)
    profile = re.search(r"MIG (\d+g\.\d+gb\S*)", name)
    if profile:
        card.sheet.state("mig_profile", profile[1])
    card.sheet.facts.pop("unified_memory", None)
    return card


def _read_version(reading: Reading) -> None:
    try:
        reading.sheet.state("nvidia.nvml_version", version_of_library())
    except MissingFact as missing:
        why = reading.absent.get("nvidia.driver_version", missing)  # the same, where nothing of NVIDIA is there
        reading.sheet.mark_missing("nvidia.nvml_version", why.reason, why.detail)


if __name__ == "__main__":
    main()
