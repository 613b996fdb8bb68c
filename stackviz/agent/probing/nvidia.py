"""The NVIDIA probe: driver, CUDA and cards, from NVML; from `nvidia-smi -q -x` where NVML cannot be used."""

import re
from collections.abc import Callable

from stackviz.agent.probing.nvml_child import NvmlAnswer, ask_nvml_apart
from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.format.facts.nvidia import loaded_module, pci_devices
from stackviz.report.format.facts.nvml import NoNvml
from stackviz.report.importers import Reading
from stackviz.report.importers.nvidia_smi_xml import read_nvidia_smi_xml

__all__ = ["probe_nvidia"]

_GRAPHICS_CLASSES = ("0x0300", "0x0302")  # with a display, and without
_NVML_SHARE = 1 / 3  # of the time of the probe: eight cards take 2 s, more where the driver has to be loaded first
_SMI_SHARE = 1 / 2
_SMI_SHARE_AFTER_HANG = 1 / 4  # a driver that hangs hangs nvidia-smi too, as a rule


def probe_nvidia(
    around: Surroundings,
    hand_back: Callable[[Reading], None] = lambda _reading: None,
    ask_nvml: Callable[[float], NvmlAnswer] = ask_nvml_apart,
) -> Reading:
    """`hand_back` gets what is known before something is asked that may hang."""
    reading = Reading(kind="nvidia")
    if around.system == "Darwin":
        for name in ("nvidia.driver_version", "cuda.driver_api_version", *questions_of("nvidia").names):
            reading.sheet.mark_missing(name, "not_applicable", "macOS has no NVIDIA driver")
        return reading
    nvml = ask_nvml(around.within_s * _NVML_SHARE)
    if nvml.missing is None:
        _take(nvml.reading, reading)
        reading.sheet.mark_missing("nvidia.nvml_error", "not_applicable", "NVML answers")
    else:
        _read_with_nvidia_smi(around, reading, nvml)
    hand_back(reading)
    _read_driver_file(around, reading)
    _read_toolkit(around, reading)
    hand_back(reading)
    _ask_driver(around, reading, is_there=_is_there(around, reading))
    return reading


def _is_there(around: Surroundings, reading: Reading) -> bool:
    return (
        bool(reading.cards)
        or not reading.facts.keys().isdisjoint({"nvidia.driver_version", "nvidia.nvml_error"})
        or _has_device_on_bus(around)
    )


def _ask_driver(around: Surroundings, reading: Reading, *, is_there: bool) -> None:
    """The setup of the driver; skipped if there is no sign of NVIDIA."""
    questions = questions_of("nvidia")
    if is_there:
        questions.ask(around, reading.sheet)
        return
    for name in questions.names:
        reading.sheet.mark_missing(name, "not_applicable", "no sign of an NVIDIA card or driver")


# ---- without NVML ---------------------------------------------------------------------------------------------------


def _read_with_nvidia_smi(around: Surroundings, reading: Reading, nvml: NvmlAnswer) -> None:
    """Read the cards by nvidia-smi where NVML fails. Where both fail, take what NVML answered before it failed."""
    no_nvml = nvml.missing or MissingFact("failed")
    try:
        share = _SMI_SHARE_AFTER_HANG if nvml.is_late else _SMI_SHARE
        text = around.run("nvidia-smi", "-q", "-x", timeout_s=around.within_s * share)
    except MissingFact as no_smi:
        _take(nvml.reading, reading)
        _note_error(reading, no_nvml, no_smi)
        if not reading.cards:
            _note_no_driver(around, reading, no_nvml, no_smi)
    else:
        answer = read_nvidia_smi_xml(text)
        reading.sheet, reading.cards, reading.software = answer.sheet, answer.cards, answer.software
        for problem in answer.problems:
            reading.problem(f"nvidia-smi: {problem}")
        _note_error(reading, no_nvml)
    if "nvidia.nvml_version" in nvml.reading.facts:
        reading.sheet.state("nvidia.nvml_version", nvml.reading.facts["nvidia.nvml_version"])
    why = reading.absent.get("nvidia.driver_version", no_nvml)  # the same, where nothing of NVIDIA is there
    reading.sheet.mark_missing("nvidia.nvml_version", why.reason, why.detail)


def _take(answer: Reading, reading: Reading) -> None:
    reading.sheet, reading.cards, reading.software = answer.sheet, answer.cards, answer.software
    for problem in answer.problems:
        reading.problem(problem)


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
