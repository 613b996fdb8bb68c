"""A module that stands in for `pynvml`: cards are dicts of function name -> answer or error code.

    install(monkeypatch, cards=[healthy_card(), healthy_card(nvmlDeviceGetPowerUsage=Error(3))])

Answers are NVML's own: milliwatts, megahertz, bytes, structures with the fields the binding has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

INVALID_ARGUMENT = 2
NOT_SUPPORTED, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND, GPU_IS_LOST, MISMATCH = 3, 9, 12, 13, 15, 18

Card = dict[str, Any]


@dataclass(frozen=True)
class Error:
    """Stands where an answer would: the call raises NVMLError with this code."""

    code: int


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


def healthy_card(**changes: Any) -> Card:
    """An H100 SXM5 80GB that tells everything. A change to None takes the function out of the binding."""
    card: Card = {
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetUUID": "GPU-6f1c1d2e-1111-2222-3333-444455556666",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=85520809984, used=526385152, free=84994424832),
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
        "nvmlDeviceGetArchitecture": 9,
        "nvmlDeviceGetVbiosVersion": "96.00.89.00.01",
        "nvmlDeviceGetPciInfo": SimpleNamespace(
            busId=b"00000000:18:00.0", pciDeviceId=0x233010DE, pciSubSystemId=0x16C110DE
        ),
        "nvmlDeviceGetEnforcedPowerLimit": 700000,
        "nvmlDeviceGetPowerManagementDefaultLimit": 700000,
        "nvmlDeviceGetPowerManagementLimitConstraints": [200000, 700000],
        "nvmlDeviceGetMaxClockInfo": {1: 1980, 2: 2619},
        "nvmlDeviceGetCurrPcieLinkGeneration": 5,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetMaxPcieLinkGeneration": 5,
        "nvmlDeviceGetMaxPcieLinkWidth": 16,
        "nvmlDeviceGetMigMode": [0, 0],
        "nvmlDeviceGetEccMode": [1, 1],
        "nvmlDeviceGetTotalEccErrors": {0: 3, 1: 0},  # corrected, uncorrected
        "nvmlDeviceGetRemappedRows": [0, 0, 0, 0],  # corrected, uncorrected, pending, failed
        "nvmlDeviceGetRetiredPagesPendingStatus": Error(NOT_SUPPORTED),
        "nvmlDeviceGetDisplayMode": 0,
        "nvmlDeviceGetPersistenceMode": 1,
        "nvmlDeviceGetComputeMode": 0,
        "nvmlDeviceGetVirtualizationMode": 0,
        "nvmlDeviceGetAddressingMode": 1,
        "nvmlDeviceGetDriverModel": Error(NOT_SUPPORTED),
        "nvmlDeviceGetNumGpuCores": 16896,
        "nvmlDeviceGetMemoryBusWidth": 5120,
        "nvmlDeviceGetNvLinkState": dict.fromkeys(range(18), 1),
        "nvmlDeviceGetNvLinkVersion": 4,
        "nvmlDeviceGetComputeRunningProcesses": [],
        "nvmlDeviceGetTemperatureThreshold": 87,
        "nvmlDeviceGetFieldValues": [SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=45))],
        "nvmlDeviceGetAttributes_v2": Error(INVALID_ARGUMENT),
        "nvmlDeviceGetPowerUsage": 118432,
        "nvmlDeviceGetTemperature": 34,
        "nvmlDeviceGetClockInfo": {1: 345, 2: 2619},
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=7, memory=1),
        "nvmlDeviceGetCurrentClocksEventReasons": 0x5,
        "nvmlDeviceGetMaxMigDeviceCount": 0,
    }
    return card | changes


def lost_after(card: Card, calls: int) -> Card:
    """The card stops answering after so many answers."""
    return card | {"answers_left": calls}


def module(
    cards: list[Card],
    init: Error | None = None,
    driver: Any = "560.35.03",
    cuda: Any = 12060,
    library: Any = "12.560.35.03",
) -> ModuleType:
    """A `pynvml` with these cards. A handle is the card itself; its instances stand under "instances"."""
    fake = ModuleType("pynvml")
    fake.NVMLError = NVMLError  # type: ignore[attr-defined]
    fake.NVML_CLOCK_SM, fake.NVML_CLOCK_MEM = 1, 2  # type: ignore[attr-defined]
    fake.NVML_FI_DEV_MEMORY_TEMP = 82  # type: ignore[attr-defined]
    fake.calls = []  # type: ignore[attr-defined]

    def answer(value: Any) -> Any:
        if isinstance(value, Error):
            raise NVMLError(value.code)
        return value

    system: dict[str, Callable[..., Any]] = {
        "nvmlInit": lambda: answer(init),
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetNVMLVersion": lambda: answer(library),
        "nvmlSystemGetDriverVersion": lambda: answer(driver),
        "nvmlSystemGetCudaDriverVersion_v2": lambda: answer(cuda),
        "nvmlDeviceGetCount": lambda: len(cards),
        "nvmlDeviceGetHandleByIndex": lambda number: answer(cards[number].get("handle", cards[number])),
        "nvmlDeviceGetMigDeviceHandleByIndex": lambda card, number: answer(card["instances"][number]),
    }
    for name, call in system.items():
        setattr(fake, name, call)
    for name in {name for card in cards for name in card if name.startswith("nvmlDeviceGet")}:
        if all(card.get(name) is not None for card in cards if name in card):
            setattr(fake, name, _asks(name, answer))
    return fake


def _asks(name: str, answer: Callable[[Any], Any]) -> Callable[..., Any]:
    def ask(card: Card, *arguments: Any) -> Any:
        if "answers_left" in card:
            card["answers_left"] -= 1
            if card["answers_left"] < 0:
                raise NVMLError(GPU_IS_LOST)
        value = answer(card.get(name, Error(NOT_SUPPORTED)))
        return answer(value.get(arguments[0], Error(INVALID_ARGUMENT))) if isinstance(value, dict) else value

    return ask
