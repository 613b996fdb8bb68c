"""The NVIDIA probe: driver, CUDA and cards, from NVML; from `nvidia-smi -q -x` where NVML cannot be used."""

import re

from stackviz.agent.probing.nvidia_card import read_card
from stackviz.facts import questions_of
from stackviz.facts.asking import MissingFact, Surroundings
from stackviz.facts.nvidia import loaded_module, pci_devices
from stackviz.facts.nvml import CardLost, NoNvml, Nvml, open_nvml, version_of_library
from stackviz.importers import CardReading, Reading
from stackviz.importers.nvidia_smi_xml import read_nvidia_smi_xml
from stackviz.wire import LIMITS

__all__ = ["probe_nvidia"]

_GRAPHICS_CLASSES = ("0x0300", "0x0302")  # with a display, and without


def probe_nvidia(around: Surroundings) -> Reading:
    reading = Reading(kind="nvidia")
    if around.system == "Darwin":
        for name in ("nvidia.driver_version", "cuda.driver_api_version", *questions_of("nvidia").names):
            reading.sheet.mark_missing(name, "not_applicable", "macOS has no NVIDIA driver")
        return reading
    try:
        with open_nvml() as nvml:
            _read_with_nvml(nvml, reading)
            reading.sheet.mark_missing("nvidia.nvml_error", "not_applicable", "NVML answers")
    except MissingFact as missing:
        _read_with_nvidia_smi(around, reading, missing)
    _read_nvml_version(reading)
    _read_driver_file(around, reading)
    _read_toolkit(around, reading)
    is_there = bool(reading.cards) or "nvidia.driver_version" in reading.facts or _has_device_on_bus(around)
    _ask_driver(around, reading, is_there=is_there)
    return reading


def _ask_driver(around: Surroundings, reading: Reading, *, is_there: bool) -> None:
    """The setup of the driver; skipped if there is no sign of NVIDIA."""
    questions = questions_of("nvidia")
    if is_there:
        questions.ask(around, reading.sheet)
        return
    for name in questions.names:
        reading.sheet.mark_missing(name, "not_applicable", "no sign of an NVIDIA card or driver")


# ---- NVML -----------------------------------------------------------------------------------------------------------


def _read_with_nvml(nvml: Nvml, reading: Reading) -> None:
    _read_driver(nvml, reading)
    count = int(nvml.ask("nvmlDeviceGetCount"))
    reading.sheet.state("nvidia.card_count", count)
    lost = 0
    for number in range(min(count, LIMITS.cards)):
        try:
            handle = nvml.ask("nvmlDeviceGetHandleByIndex", number)
            name = str(nvml.ask("nvmlDeviceGetName", handle))  # without a name there is nothing to match or to show
        except MissingFact as missing:
            lost += isinstance(missing, CardLost)
            reading.problem(f"card {number}: {missing.detail or missing.reason}")
            continue
        reading.cards.append(read_card(nvml, handle, number, name).card())
    reading.sheet.state("nvidia.cards_lost", lost)
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


# ---- without NVML ---------------------------------------------------------------------------------------------------


def _read_with_nvidia_smi(around: Surroundings, reading: Reading, no_nvml: MissingFact) -> None:
    try:
        text = around.run("nvidia-smi", "-q", "-x", timeout_s=30)
    except MissingFact as no_smi:
        _note_no_driver(around, reading, no_nvml, no_smi)
        _note_error(reading, no_nvml, no_smi)
        return
    answer = read_nvidia_smi_xml(text)
    reading.sheet, reading.cards, reading.software = answer.sheet, answer.cards, answer.software
    for problem in answer.problems:
        reading.problem(f"nvidia-smi: {problem}")
    _note_error(reading, no_nvml)


def _note_error(reading: Reading, no_nvml: MissingFact, no_smi: MissingFact | None = None) -> None:
    """How it failed, in NVML's words, or in those of nvidia-smi; nothing failed where neither is installed."""
    if isinstance(no_nvml, NoNvml) and no_nvml.error_text:
        reading.sheet.state("nvidia.nvml_error", no_nvml.error_text)
    elif no_smi is None:
        reading.sheet.mark_missing("nvidia.nvml_error", "not_applicable", "nvidia-smi answers")
    elif no_smi.reason == "not_installed":
        reading.sheet.mark_missing("nvidia.nvml_error", "not_applicable", "there is no NVML that could fail")
    else:
        reading.sheet.state("nvidia.nvml_error", no_smi.detail)


def _read_nvml_version(reading: Reading) -> None:
    try:
        reading.sheet.state("nvidia.nvml_version", version_of_library())
    except MissingFact as missing:
        why = reading.absent.get("nvidia.driver_version", missing)  # the same, where nothing of NVIDIA is there
        reading.sheet.mark_missing("nvidia.nvml_version", why.reason, why.detail)


def _note_no_driver(around: Surroundings, reading: Reading, no_nvml: MissingFact, no_smi: MissingFact) -> None:
    """Neither way works. An NVIDIA device on the bus makes that a fault; without one there is simply no such card."""
    if no_smi.reason == "not_installed":
        reason, detail = no_nvml.reason, no_nvml.detail
        if reason == "not_installed":
            detail = f"{detail}; neither is nvidia-smi"
    else:
        reason, detail = no_smi.reason, no_smi.detail
    if _has_device_on_bus(around):
        reason, detail = "failed", f"an NVIDIA device is on the PCI bus, and: {detail}"
        reading.problem(detail)
    for name in ("nvidia.driver_version", "cuda.driver_api_version"):
        reading.sheet.mark_missing(name, reason, detail)


def _has_device_on_bus(around: Surroundings) -> bool:
    return pci_devices(around, *_GRAPHICS_CLASSES) > 0


def _read_driver_file(around: Surroundings, reading: Reading) -> None:
    """/proc/driver/nvidia/version states which kernel module is loaded, even when NVML cannot talk to it."""
    loaded = loaded_module(around)
    if loaded:
        version, is_open = loaded
        reading.sheet.state("nvidia.driver_version", version)
        reading.sheet.state("nvidia.driver_kind", "open" if is_open else "proprietary")
        if not any(software.component == "nvidia-driver" for software in reading.software):
            reading.add_software("nvidia-driver", version, "/proc/driver/nvidia/version")
        return
    models = {str(card.facts["driver_model"]) for card in reading.cards if "driver_model" in card.facts}
    if len(models) == 1:
        reading.sheet.state("nvidia.driver_kind", models.pop())
    elif "nvidia.driver_version" in reading.facts:
        reading.sheet.mark_missing("nvidia.driver_kind", "not_reported", "/proc/driver/nvidia/version does not say")
    else:
        why = reading.absent["nvidia.driver_version"]
        reading.sheet.mark_missing("nvidia.driver_kind", why.reason, why.detail)


def _read_toolkit(around: Surroundings, reading: Reading) -> None:
    try:
        match = re.search(r"release ([\d.]+), V([\d.]+)", around.run("nvcc", "--version"))
    except MissingFact as missing:
        reading.sheet.mark_missing("cuda.toolkit_version", missing.reason, missing.detail)
        return
    if match:
        reading.sheet.state("cuda.toolkit_version", match[2])
        reading.add_software("cuda-toolkit", match[2], "nvcc --version")
    else:
        reading.sheet.mark_missing("cuda.toolkit_version", "not_reported", "nvcc prints no release")
