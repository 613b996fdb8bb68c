"""What is stated of one card, and how NVML is asked for it. What has no question here other tools and probes state."""

from pathlib import Path

from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import CardLost, NvmlCard, throttle_bits, throttle_words
from stackviz.report.format.facts.table import CardFactTable

__all__ = ["CARD_FACTS"]

CARD_FACTS = CardFactTable(order=10, probe="nvidia")


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
_SLOWDOWN = 1  # NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
_SINCE_THE_DRIVER_WAS_LOADED = 0  # NVML_VOLATILE_ECC
_SINCE_IT_WAS_MADE = 1  # NVML_AGGREGATE_ECC
_MOST_NVLINKS = 36  # NVML_NVLINK_MAX_LINKS
_FABRIC_STATES = {1: "not-started", 2: "in-progress", 3: "completed"}
_OUR_OWN = "stackviz.agent."  # stands in the command line of each process of the agent that may use a card


def _remap_pending(card: NvmlCard) -> bool:
    """Rows since Ampere; before, whole pages are retired."""
    try:
        return bool(card.part("nvmlDeviceGetRemappedRows", 2))
    except CardLost:
        raise
    except MissingFact as no_rows:
        try:
            return bool(card.ask("nvmlDeviceGetRetiredPagesPendingStatus"))
        except CardLost:
            raise
        except MissingFact:
            raise no_rows from None


def _links(card: NvmlCard) -> list[bool]:
    """Whether each link is up. NVML answers "invalid argument" past the last link a card has."""
    links = [bool(card.ask("nvmlDeviceGetNvLinkState", 0))]
    for link in range(1, _MOST_NVLINKS):
        try:
            links.append(bool(card.ask("nvmlDeviceGetNvLinkState", link)))
        except CardLost:
            raise
        except MissingFact:
            break
    return links


def _is_our_own(process_id: int) -> bool:
    """Whether this is a process of the agent: the torch probe may open the card at the same time."""
    try:
        return _OUR_OWN in Path(f"/proc/{process_id}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return False


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@CARD_FACTS.text("compute_capability", "9.0", command="nvidia-smi --query-gpu=index,name,compute_cap --format=csv")
def compute_capability(card: NvmlCard) -> str | None:
    return "{}.{}".format(*card.ask("nvmlDeviceGetCudaComputeCapability"))


@CARD_FACTS.text("architecture", "the vendor's architecture name: Hopper")
def architecture(card: NvmlCard) -> str | None:
    return _architecture(card.ask("nvmlDeviceGetArchitecture"))


@CARD_FACTS.text("driver_version", "driver of this card")
def driver_version(card: NvmlCard) -> str | None:
    return str(card.nvml.ask("nvmlSystemGetDriverVersion"))


@CARD_FACTS.text("vbios_version", "firmware version")
def vbios_version(card: NvmlCard) -> str | None:
    return str(card.ask("nvmlDeviceGetVbiosVersion"))


@CARD_FACTS.text("pci_bus_id", "00000000:18:00.0")
def pci_bus_id(card: NvmlCard) -> str | None:
    return _text(card.ask("nvmlDeviceGetPciInfo").busId)


@CARD_FACTS.text("pci_device_id", "device and vendor: 0x233010DE")
def pci_device_id(card: NvmlCard) -> str | None:
    return f"0x{card.ask('nvmlDeviceGetPciInfo').pciDeviceId:08X}"


@CARD_FACTS.text("pci_subsystem_id", "board: 0x16C110DE")
def pci_subsystem_id(card: NvmlCard) -> str | None:
    return f"0x{card.ask('nvmlDeviceGetPciInfo').pciSubSystemId:08X}"


@CARD_FACTS.text("addressing_mode", "HMM, ATS or none: how the card sees main memory")
def addressing_mode(card: NvmlCard) -> str | None:
    return _ADDRESSING.get(int(card.ask("nvmlDeviceGetAddressingMode")))


CARD_FACTS.truth("unified_memory", "the card computes in the machine's main memory and has none of its own")


@CARD_FACTS.truth(
    "persistence_mode",
    "the driver stays loaded between users",
    command="nvidia-smi --query-gpu=index,persistence_mode --format=csv",
)
def persistence_mode(card: NvmlCard) -> bool:
    return bool(card.ask("nvmlDeviceGetPersistenceMode"))


@CARD_FACTS.truth("ecc", "error correction of the memory is on")
def ecc(card: NvmlCard) -> bool:
    return bool(card.part("nvmlDeviceGetEccMode", 0))


@CARD_FACTS.truth("ecc_pending", "error correction of the memory will be on after the next reset")
def ecc_pending(card: NvmlCard) -> bool:
    return bool(card.part("nvmlDeviceGetEccMode", 1))


@CARD_FACTS.count("ecc_corrected", "memory errors corrected since the driver was loaded", least=0)
def ecc_corrected(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetTotalEccErrors", 0, _SINCE_THE_DRIVER_WAS_LOADED))


@CARD_FACTS.count(
    "ecc_uncorrected",
    "memory errors that could not be corrected since the driver was loaded",
    least=0,
    command="nvidia-smi -q -d ECC",
)
def ecc_uncorrected(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetTotalEccErrors", 1, _SINCE_THE_DRIVER_WAS_LOADED))


@CARD_FACTS.count("ecc_corrected_ever", "memory errors corrected in the life of the card", least=0)
def ecc_corrected_ever(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetTotalEccErrors", 0, _SINCE_IT_WAS_MADE))


@CARD_FACTS.count(
    "ecc_uncorrected_ever",
    "memory errors that could not be corrected in the life of the card",
    least=0,
    command="nvidia-smi -q -d ECC",
)
def ecc_uncorrected_ever(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetTotalEccErrors", 1, _SINCE_IT_WAS_MADE))


@CARD_FACTS.count("remapped_rows", "rows of memory that were replaced by spare ones", least=0)
def remapped_rows(card: NvmlCard) -> int:
    return int(card.part("nvmlDeviceGetRemappedRows", 0)) + int(card.part("nvmlDeviceGetRemappedRows", 1))


@CARD_FACTS.truth(
    "remap_pending",
    "rows of memory wait for a reset to be replaced (pages to be retired, on older cards)",
    command="nvidia-smi -q -d ROW_REMAPPER",
)
def remap_pending(card: NvmlCard) -> bool:
    return _remap_pending(card)


@CARD_FACTS.truth("remap_failed", "a row of memory could not be replaced", command="nvidia-smi -q -d ROW_REMAPPER")
def remap_failed(card: NvmlCard) -> bool:
    return bool(card.part("nvmlDeviceGetRemappedRows", 3))


@CARD_FACTS.text(
    "throttle_reasons",
    "why the clock is throttled, space separated, in NVML's words; none if it is not",
    command="nvidia-smi -q -d PERFORMANCE",
)
def throttle_reasons(card: NvmlCard) -> str | None:
    return throttle_words(throttle_bits(card.nvml, card.handle))


@CARD_FACTS.number(
    "busy_ratio", "share of the last moments in which the card worked", unit="1", command="nvidia-smi -q"
)
def busy_ratio(card: NvmlCard) -> float:
    return float(card.part("nvmlDeviceGetUtilizationRates", "gpu") / 100)


@CARD_FACTS.number("temperature_c", "temperature of the card", unit="°C", least=None)
def temperature_c(card: NvmlCard) -> float:
    return int(card.ask("nvmlDeviceGetTemperature", 0))


@CARD_FACTS.number("memory_temperature_c", "temperature of the card's memory", unit="°C", least=None)
def memory_temperature_c(card: NvmlCard) -> int:
    return card.nvml.field(card.handle, "NVML_FI_DEV_MEMORY_TEMP")


@CARD_FACTS.number("slowdown_temperature_c", "temperature from which on the card lowers its clocks", unit="°C")
def slowdown_temperature_c(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetTemperatureThreshold", _SLOWDOWN))


@CARD_FACTS.number("sm_clock_hz", "clock of the multiprocessors when it was read", unit="Hz")
def sm_clock_hz(card: NvmlCard) -> float:
    return card.clock_hz("nvmlDeviceGetClockInfo", "NVML_CLOCK_SM")


@CARD_FACTS.number("memory_clock_hz", "clock of the memory when it was read", unit="Hz")
def memory_clock_hz(card: NvmlCard) -> float:
    return card.clock_hz("nvmlDeviceGetClockInfo", "NVML_CLOCK_MEM")


@CARD_FACTS.number("power_w", "power drawn by the card", unit="W")
def power_w(card: NvmlCard) -> float:
    return card.watts("nvmlDeviceGetPowerUsage")


@CARD_FACTS.size("memory_used_bytes", "device memory in use, by all", least=0)
def memory_used_bytes(card: NvmlCard) -> int:
    return int(card.part("nvmlDeviceGetMemoryInfo", "used"))


@CARD_FACTS.truth("display_attached", "a display is connected")
def display_attached(card: NvmlCard) -> bool:
    return bool(card.ask("nvmlDeviceGetDisplayMode"))


@CARD_FACTS.text("mig_mode", "enabled or disabled: the card is split into instances")
def mig_mode(card: NvmlCard) -> str | None:
    return {0: "disabled", 1: "enabled"}.get(card.part("nvmlDeviceGetMigMode", 0))


@CARD_FACTS.text("mig_pending", "mode after the next reset: enabled or disabled")
def mig_pending(card: NvmlCard) -> str | None:
    return {0: "disabled", 1: "enabled"}.get(card.part("nvmlDeviceGetMigMode", 1))


CARD_FACTS.text("mig_profile", "of an instance: 1g.10gb")


CARD_FACTS.integer("mig_parent_index", "of an instance: index of the card it is cut from", least=0)


@CARD_FACTS.text("virtualization_mode", "none, pass-through, vgpu, host-vgpu")
def virtualization_mode(card: NvmlCard) -> str | None:
    return _VIRTUALIZATION.get(card.ask("nvmlDeviceGetVirtualizationMode"))


@CARD_FACTS.text(
    "compute_mode",
    "default, exclusive-process, prohibited",
    command="nvidia-smi --query-gpu=index,name,compute_mode --format=csv",
)
def compute_mode(card: NvmlCard) -> str | None:
    return _COMPUTE_MODES.get(card.ask("nvmlDeviceGetComputeMode"))


@CARD_FACTS.text("driver_model", "WDDM, TCC or MCDM, on Windows")
def driver_model(card: NvmlCard) -> str | None:
    return {0: "WDDM", 1: "TCC", 2: "MCDM"}.get(card.part("nvmlDeviceGetDriverModel", 0))


@CARD_FACTS.count("cuda_cores", "FP32 lanes as the driver counts them")
def cuda_cores(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetNumGpuCores"))


CARD_FACTS.count("gpu_cores", "GPU cores as Apple counts them")


@CARD_FACTS.count("multiprocessors", "streaming multiprocessors or compute units; of an instance: its share")
def multiprocessors(card: NvmlCard) -> int:
    """NVML tells it of instances only; of whole cards torch does."""
    return int(card.part("nvmlDeviceGetAttributes_v2", "multiprocessorCount"))


@CARD_FACTS.count("memory_bus_bits", "width of the memory bus")
def memory_bus_bits(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetMemoryBusWidth"))


CARD_FACTS.size("memory_reserved_bytes", "memory the driver keeps for itself", least=0)


@CARD_FACTS.number("power_limit_w", "power limit in force", unit="W", least=1, command="nvidia-smi -q -d POWER")
def power_limit_w(card: NvmlCard) -> float:
    return card.watts("nvmlDeviceGetEnforcedPowerLimit")


@CARD_FACTS.number(
    "power_default_limit_w", "power limit from the factory", unit="W", least=1, command="nvidia-smi -q -d POWER"
)
def power_default_limit_w(card: NvmlCard) -> float:
    return card.watts("nvmlDeviceGetPowerManagementDefaultLimit")


@CARD_FACTS.number("power_max_limit_w", "highest power limit that can be set", unit="W", least=1)
def power_max_limit_w(card: NvmlCard) -> float:
    return float(card.part("nvmlDeviceGetPowerManagementLimitConstraints", 1) / 1000)


@CARD_FACTS.number("sm_clock_max_hz", "highest clock of the multiprocessors", unit="Hz", least=1)
def sm_clock_max_hz(card: NvmlCard) -> float:
    return card.clock_hz("nvmlDeviceGetMaxClockInfo", "NVML_CLOCK_SM")


@CARD_FACTS.number("memory_clock_max_hz", "highest memory clock as the driver states it", unit="Hz", least=1)
def memory_clock_max_hz(card: NvmlCard) -> float:
    return card.clock_hz("nvmlDeviceGetMaxClockInfo", "NVML_CLOCK_MEM")


@CARD_FACTS.count("pcie_generation", "PCI Express generation of the link in use now (drops when idle)")
def pcie_generation(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetCurrPcieLinkGeneration"))


@CARD_FACTS.count("pcie_width", "lanes of the link in use now", command="nvidia-smi -q")
def pcie_width(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetCurrPcieLinkWidth"))


@CARD_FACTS.count("pcie_generation_max", "highest generation this card reaches in this slot")
def pcie_generation_max(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetMaxPcieLinkGeneration"))


@CARD_FACTS.count("pcie_width_max", "most lanes this card reaches in this slot", command="nvidia-smi -q")
def pcie_width_max(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetMaxPcieLinkWidth"))


@CARD_FACTS.count("nvlink_links", "NVLink links that are up", least=0)
def nvlink_links(card: NvmlCard) -> int:
    return sum(_links(card))


@CARD_FACTS.count(
    "nvlink_links_down",
    "NVLink links that the card has and that are not up; where a bridge is missing, by design",
    least=0,
)
def nvlink_links_down(card: NvmlCard) -> int:
    links = _links(card)
    return len(links) - sum(links)


@CARD_FACTS.count("nvlink_version", "version of NVLink as the driver counts it")
def nvlink_version(card: NvmlCard) -> int:
    return int(card.ask("nvmlDeviceGetNvLinkVersion", 0))


@CARD_FACTS.text(
    "fabric_state",
    "whether the card has joined the fabric of NVSwitches: completed, in-progress, not-started, failed",
    command="nvidia-smi -q",
)
def fabric_state(card: NvmlCard) -> str | None:
    state, status = card.nvml.fabric_state(card.handle)
    if state == 0:
        raise MissingFact("not_supported", "the card is on no fabric")
    return "failed" if status else _FABRIC_STATES.get(state)


@CARD_FACTS.count(
    "compute_processes", "processes that compute on the card, the agent's own left out", least=0, command="nvidia-smi"
)
def compute_processes(card: NvmlCard) -> int:
    processes = {int(process.pid) for process in card.ask("nvmlDeviceGetComputeRunningProcesses")}
    return sum(not _is_our_own(process_id) for process_id in processes)


CARD_FACTS.text("metal_family", "Metal support as macOS words it")


CARD_FACTS.text("gfx_target", "what kernels for an AMD card are built for: gfx942", command="rocminfo")


CARD_FACTS.text("registry_class", "class in the IORegistry: AGXAcceleratorG15X")


CARD_FACTS.size("recommended_max_memory_bytes", "largest working set that the vendor recommends on this card")
