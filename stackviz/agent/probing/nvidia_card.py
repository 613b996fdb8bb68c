"""One NVIDIA card, asked through NVML: all it tells, and why it does not tell the rest.

Beside each fact stands the NVML function; units are NVML's (mW, MHz, bytes) and become SI here.
"""

from collections.abc import Callable
from typing import Any

from stackviz.agent.probing.nvml import CardLost, Nvml, throttle_bits, throttle_words
from stackviz.facts.asking import Missing
from stackviz.importers import CardReading
from stackviz.wire import Scalar, hashed_uuid

__all__ = ["card_questions", "read_card"]


def read_card(nvml: Nvml, handle: object, index: int, name: str) -> CardReading:
    """All that one card tells. A card lost half way keeps what it told and says so for the rest."""
    card = CardReading(index, "gpu", "nvidia", name)
    questions = card_questions(nvml, handle)
    for number, (fact, question) in enumerate(questions):
        try:
            value = question()
        except CardLost as lost:
            for rest, _ in questions[number:]:
                card.sheet.mark_missing(rest, lost.reason, lost.detail)
            break
        except Missing as missing:
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
        ("mig_pending", lambda: {0: "disabled", 1: "enabled"}.get(ask("nvmlDeviceGetMigMode")[1])),
        ("ecc", lambda: bool(ask("nvmlDeviceGetEccMode")[0])),
        ("ecc_pending", lambda: bool(ask("nvmlDeviceGetEccMode")[1])),
        ("ecc_corrected", lambda: int(ask("nvmlDeviceGetTotalEccErrors", 0, _SINCE_THE_DRIVER_WAS_LOADED))),
        ("ecc_uncorrected", lambda: int(ask("nvmlDeviceGetTotalEccErrors", 1, _SINCE_THE_DRIVER_WAS_LOADED))),
        ("remap_pending", lambda: _remap_pending(ask)),
        ("remap_failed", lambda: bool(ask("nvmlDeviceGetRemappedRows")[3])),
        ("display_attached", lambda: bool(ask("nvmlDeviceGetDisplayMode"))),
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
        ("busy_ratio", lambda: ask("nvmlDeviceGetUtilizationRates").gpu / 100),
        ("memory_used_bytes", lambda: int(ask("nvmlDeviceGetMemoryInfo").used)),
        ("throttle_reasons", lambda: throttle_words(throttle_bits(nvml, handle))),
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
_SINCE_THE_DRIVER_WAS_LOADED = 0  # NVML_VOLATILE_ECC
_MOST_NVLINKS = 18  # NVML_NVLINK_MAX_LINKS


def _remap_pending(ask: Callable[..., Any]) -> bool:
    """Rows since Ampere; before, whole pages are retired."""
    try:
        return bool(ask("nvmlDeviceGetRemappedRows")[2])
    except CardLost:
        raise
    except Missing as no_rows:
        try:
            return bool(ask("nvmlDeviceGetRetiredPagesPendingStatus"))
        except CardLost:
            raise
        except Missing:
            raise no_rows from None


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
