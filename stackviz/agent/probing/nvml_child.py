"""NVML, asked in a process of its own: one that hangs or crashes in the driver leaves what it has answered so far."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stackviz.agent.children import Ended, answer_in_file, run_child
from stackviz.agent.probing.documents import document_of, reading_of
from stackviz.agent.probing.nvidia_card import read_card
from stackviz.agent.probing.nvml_topology import read_nvml_topology
from stackviz.report.format import LIMITS
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import CardLost, NoNvml, Nvml, open_nvml, version_of_library
from stackviz.report.importers import CardReading, Reading

__all__ = ["NvmlAnswer", "ask_nvml_apart", "ask_nvml_here", "main"]

HandBack = Callable[["NvmlAnswer"], None]


@dataclass
class NvmlAnswer:
    """What NVML told. `missing`: why that is not all of it; None where it answered to the end."""

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
    """The instances a card is cut into, as cards of their own, numbered after the whole cards."""
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
