"""The NVIDIA probe: driver, CUDA and cards, from NVML; from `nvidia-smi -q -x` where NVML cannot be used.

Beside each reading stands the NVML function; units are NVML's (mW, MHz, bytes) and become SI here.
May import: importers, wire and the standard library.
"""

import re
from collections.abc import Callable
from typing import Any

from stackviz.agent.probing.asking import Missing, Surroundings
from stackviz.agent.probing.nvml import CardLost, Nvml, open_nvml
from stackviz.importers import CardReading, Reading
from stackviz.importers.nvidia_smi_xml import read_nvidia_smi_xml
from stackviz.wire import LIMITS, Scalar, hashed_uuid

__all__ = ["card_questions", "probe_nvidia"]

_NVIDIA_PCI_VENDOR = "0x10de"


def probe_nvidia(around: Surroundings) -> Reading:
    reading = Reading("nvidia")
    if around.system == "Darwin":
        for name in ("nvidia.driver_version", "cuda.driver_api_version"):
            reading.sheet.lack(name, "not_applicable", "macOS has no NVIDIA driver")
        return reading
    try:
        with open_nvml() as nvml:
            _read_with_nvml(nvml, reading)
    except Missing as missing:
        _read_with_nvidia_smi(around, reading, missing)
    _read_driver_file(around, reading)
    _read_toolkit(around, reading)
    return reading


# ---- NVML -----------------------------------------------------------------------------------------------------------


def _read_with_nvml(nvml: Nvml, reading: Reading) -> None:
    _ask_driver(nvml, reading)
    count = int(nvml.ask("nvmlDeviceGetCount"))
    reading.sheet.state("nvidia.card_count", count)
    lost = 0
    for number in range(min(count, LIMITS.cards)):
        try:
            handle = nvml.ask("nvmlDeviceGetHandleByIndex", number)
            name = str(nvml.ask("nvmlDeviceGetName", handle))  # without a name there is nothing to match or to show
        except Missing as missing:
            lost += isinstance(missing, CardLost)
            reading.problem(f"card {number}: {missing.detail or missing.reason}")
            continue
        reading.cards.append(read_card(nvml, handle, number, name).card())
    reading.sheet.state("nvidia.cards_lost", lost)
    for card in tuple(reading.cards):
        if card.facts.get("mig_mode") == "enabled":
            _read_instances(nvml, card.index, reading)


def _ask_driver(nvml: Nvml, reading: Reading) -> None:
    try:
        driver = nvml.ask("nvmlSystemGetDriverVersion")
    except Missing as missing:
        reading.sheet.lack("nvidia.driver_version", missing.reason, missing.detail)
    else:
        reading.sheet.state("nvidia.driver_version", driver)
        reading.found("nvidia-driver", driver, "nvml")
    try:
        number = nvml.first("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion", arguments=())
    except Missing as missing:
        reading.sheet.lack("cuda.driver_api_version", missing.reason, missing.detail)
    else:
        version = f"{number // 1000}.{number % 1000 // 10}"  # 12040 is 12.4
        reading.sheet.state("cuda.driver_api_version", version)
        reading.found("cuda-driver-api", version, "nvml")


def read_card(nvml: Nvml, handle: object, index: int, name: str) -> CardReading:
    """All that one card tells. A card lost half way keeps what it told and says so for the rest."""
    card = CardReading(index, "gpu", "nvidia", name)
    questions = card_questions(nvml, handle)
    for number, (fact, question) in enumerate(questions):
        try:
            value = question()
        except CardLost as lost:
            for rest, _ in questions[number:]:
                card.sheet.lack(rest, lost.reason, lost.detail)
            break
        except Missing as missing:
            card.sheet.lack(fact, missing.reason, missing.detail)
        except Exception as error:  # noqa: BLE001 - a binding's bug must not cost the card
            card.sheet.lack(fact, "failed", f"{type(error).__name__}: {error}")
        else:
            _take(card, fact, value)
    if card.memory_bytes is None:
        _note_unified_memory(card)
    return card


def _take(card: CardReading, fact: str, value: Scalar | None) -> None:
    if fact == "memory_bytes":
        card.memory_bytes = int(value) if value else None
        if not value:
            card.sheet.lack(fact, "not_reported", "NVML says 0")
    elif fact == "uuid_hash":
        card.uuid_hash = str(value)
    elif fact in card.sheet.table:
        card.sheet.state(fact, value)
        if value is None:
            card.sheet.lack(fact, "not_reported")
    # else: a reading that was only tried, to say what this card cannot tell; conditions hold its values


def _note_unified_memory(card: CardReading) -> None:
    """GB10, Jetson: NVML does not tell a memory size, because the card computes in the machine's memory."""
    why = card.sheet.absent.get("memory_bytes")
    if why and why.reason == "not_supported":
        card.sheet.state("unified_memory", value=True)


Question = Callable[[], Scalar | None]


def card_questions(nvml: Nvml, handle: object) -> list[tuple[str, Question]]:
    """What a card is asked, most telling first."""

    def ask(function: str, *more: object) -> Any:  # noqa: ANN401
        return nvml.ask(function, handle, *more)

    def watts(function: str) -> Question:
        return lambda: ask(function) / 1000

    def megahertz(function: str, clock: str) -> Question:
        return lambda: ask(function, nvml.number(clock)) * 1e6

    return [
        ("uuid_hash", lambda: hashed_uuid(ask("nvmlDeviceGetUUID"))),
        ("memory_bytes", lambda: int(ask("nvmlDeviceGetMemoryInfo").total)),
        ("compute_capability", lambda: "{}.{}".format(*ask("nvmlDeviceGetCudaComputeCapability"))),
        ("architecture", lambda: _architecture(ask("nvmlDeviceGetArchitecture"))),
        ("driver_version", lambda: str(nvml.ask("nvmlSystemGetDriverVersion"))),
        ("vbios_version", lambda: str(ask("nvmlDeviceGetVbiosVersion"))),
        ("pci_bus_id", lambda: _text(ask("nvmlDeviceGetPciInfo").busId)),
        ("pci_device_id", lambda: f"0x{ask('nvmlDeviceGetPciInfo').pciDeviceId:08X}"),
        ("pci_subsystem_id", lambda: f"0x{ask('nvmlDeviceGetPciInfo').pciSubSystemId:08X}"),
        ("power_limit_w", watts("nvmlDeviceGetEnforcedPowerLimit")),
        ("power_default_limit_w", watts("nvmlDeviceGetPowerManagementDefaultLimit")),
        ("power_max_limit_w", lambda: ask("nvmlDeviceGetPowerManagementLimitConstraints")[1] / 1000),
        ("sm_clock_max_hz", megahertz("nvmlDeviceGetMaxClockInfo", "NVML_CLOCK_SM")),
        ("memory_clock_max_hz", megahertz("nvmlDeviceGetMaxClockInfo", "NVML_CLOCK_MEM")),
        ("pcie_generation", lambda: int(ask("nvmlDeviceGetCurrPcieLinkGeneration"))),
        ("pcie_width", lambda: int(ask("nvmlDeviceGetCurrPcieLinkWidth"))),
        ("pcie_generation_max", lambda: int(ask("nvmlDeviceGetMaxPcieLinkGeneration"))),
        ("pcie_width_max", lambda: int(ask("nvmlDeviceGetMaxPcieLinkWidth"))),
        ("mig_mode", lambda: {0: "disabled", 1: "enabled"}.get(ask("nvmlDeviceGetMigMode")[0])),
        ("ecc", lambda: bool(ask("nvmlDeviceGetEccMode")[0])),
        ("persistence_mode", lambda: bool(ask("nvmlDeviceGetPersistenceMode"))),
        ("compute_mode", lambda: _COMPUTE_MODES.get(ask("nvmlDeviceGetComputeMode"))),
        ("virtualization_mode", lambda: _VIRTUALIZATION.get(ask("nvmlDeviceGetVirtualizationMode"))),
        ("addressing_mode", lambda: _ADDRESSING.get(int(ask("nvmlDeviceGetAddressingMode")))),
        ("driver_model", lambda: {0: "WDDM", 1: "TCC", 2: "MCDM"}.get(ask("nvmlDeviceGetDriverModel")[0])),
        ("cuda_cores", lambda: int(ask("nvmlDeviceGetNumGpuCores"))),
        ("memory_bus_bits", lambda: int(ask("nvmlDeviceGetMemoryBusWidth"))),
        ("nvlink_links", lambda: _links_up(ask)),
        # readings: tried once, so that the card says which of them its results will lack
        ("power_w", watts("nvmlDeviceGetPowerUsage")),
        ("temperature_c", lambda: int(ask("nvmlDeviceGetTemperature", 0))),
        ("sm_clock_hz", megahertz("nvmlDeviceGetClockInfo", "NVML_CLOCK_SM")),
        ("memory_clock_hz", megahertz("nvmlDeviceGetClockInfo", "NVML_CLOCK_MEM")),
    ]


def _architecture(number: int) -> str | None:
    names = {
        2: "Kepler",
        3: "Maxwell",
        4: "Pascal",
        5: "Volta",
        6: "Turing",
        7: "Ampere",
        8: "Ada Lovelace",
        9: "Hopper",
    }
    return (names | {10: "Blackwell", 13: "Rubin"}).get(number)


_COMPUTE_MODES = {0: "default", 1: "exclusive-thread", 2: "prohibited", 3: "exclusive-process"}
_VIRTUALIZATION = {0: "none", 1: "pass-through", 2: "vgpu", 3: "host-vgpu", 4: "host-vsga"}
_ADDRESSING = {0: "none", 1: "HMM", 2: "ATS"}
_MOST_NVLINKS = 18  # NVML_NVLINK_MAX_LINKS


def _links_up(ask: Callable[..., Any]) -> int:
    """Links in use. NVML answers "invalid argument" past the last link a card has."""
    up = int(ask("nvmlDeviceGetNvLinkState", 0))
    for link in range(1, _MOST_NVLINKS):
        try:
            up += int(ask("nvmlDeviceGetNvLinkState", link))
        except CardLost:
            raise
        except Missing:
            break
    return up


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _read_instances(nvml: Nvml, parent_index: int, reading: Reading) -> None:
    """The instances a card is cut into, as cards of their own, numbered after the whole cards."""
    handle = nvml.ask("nvmlDeviceGetHandleByIndex", parent_index)
    try:
        most = int(nvml.ask("nvmlDeviceGetMaxMigDeviceCount", handle))
    except Missing as missing:
        reading.problem(f"card {parent_index}: its instances cannot be listed: {missing.detail or missing.reason}")
        return
    for number in range(most):
        try:
            instance = nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
            name = str(nvml.ask("nvmlDeviceGetName", instance))
        except Missing:
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


def _read_with_nvidia_smi(around: Surroundings, reading: Reading, no_nvml: Missing) -> None:
    try:
        text = around.run("nvidia-smi", "-q", "-x", timeout_s=30)
    except Missing as no_smi:
        _note_no_driver(around, reading, no_nvml, no_smi)
        return
    told = read_nvidia_smi_xml(text)
    reading.sheet, reading.cards, reading.software = told.sheet, told.cards, told.software
    for problem in told.problems:
        reading.problem(f"nvidia-smi: {problem}")


def _note_no_driver(around: Surroundings, reading: Reading, no_nvml: Missing, no_smi: Missing) -> None:
    """Neither way works. An NVIDIA device on the bus makes that a fault; without one there is simply no such card."""
    if no_smi.reason == "not_installed":
        reason, detail = no_nvml.reason, no_nvml.detail
        if reason == "not_installed":
            detail = f"{detail}; nor is nvidia-smi"
    else:
        reason, detail = no_smi.reason, no_smi.detail
    if _has_device_on_bus(around):
        reason, detail = "failed", f"an NVIDIA device is on the PCI bus, and: {detail}"
        reading.problem(detail)
    for name in ("nvidia.driver_version", "cuda.driver_api_version"):
        reading.sheet.lack(name, reason, detail)


def _has_device_on_bus(around: Surroundings) -> bool:
    devices = around.path("/sys/bus/pci/devices")
    return devices.is_dir() and any(
        around.read(f"/sys/bus/pci/devices/{device.name}/vendor") == _NVIDIA_PCI_VENDOR
        and (around.read(f"/sys/bus/pci/devices/{device.name}/class") or "").startswith(("0x0300", "0x0302"))
        for device in devices.iterdir()
    )


def _read_driver_file(around: Surroundings, reading: Reading) -> None:
    """/proc/driver/nvidia/version tells which kernel module is loaded, even when NVML cannot talk to it."""
    text = around.read("/proc/driver/nvidia/version") or ""
    match = re.search(r"NVRM version: NVIDIA UNIX (Open )?.*?Kernel Module(?: for \S+)?\s+(\d+\.[\d.]+)", text)
    if match:
        reading.sheet.state("nvidia.driver_version", match[2])
        reading.sheet.state("nvidia.driver_kind", "open" if match[1] else "proprietary")
        if not any(software.component == "nvidia-driver" for software in reading.software):
            reading.found("nvidia-driver", match[2], "/proc/driver/nvidia/version")
        return
    models = {str(card.facts["driver_model"]) for card in reading.cards if "driver_model" in card.facts}
    if len(models) == 1:
        reading.sheet.state("nvidia.driver_kind", models.pop())
    elif "nvidia.driver_version" in reading.facts:
        reading.sheet.lack("nvidia.driver_kind", "not_reported", "/proc/driver/nvidia/version does not say")
    else:
        why = reading.absent["nvidia.driver_version"]
        reading.sheet.lack("nvidia.driver_kind", why.reason, why.detail)


def _read_toolkit(around: Surroundings, reading: Reading) -> None:
    try:
        match = re.search(r"release ([\d.]+), V([\d.]+)", around.run("nvcc", "--version"))
    except Missing as missing:
        reading.sheet.lack("cuda.toolkit_version", missing.reason, missing.detail)
        return
    if match:
        reading.sheet.state("cuda.toolkit_version", match[2])
        reading.found("cuda-toolkit", match[2], "nvcc --version")
    else:
        reading.sheet.lack("cuda.toolkit_version", "not_reported", "nvcc prints no release")
