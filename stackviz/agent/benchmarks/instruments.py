"""What a device tells while it is measured: conditions, counters that only grow, and who else uses it."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from stackviz.agent.benchmarks.conditions import (
    Readings,
    SmiReadings,
    Values,
    card_conditions,
    nvml_handle,
    processor_conditions,
    read_nothing,
    smi_name,
)
from stackviz.agent.benchmarks.devices import AnyDevice, Device
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import Nvml, open_nvml

__all__ = ["Instruments", "Sampler", "instruments_of", "joined_readings"]

Counters = Callable[[], dict[str, float]]
Others = Callable[[float], dict[str, Any]]


def _no_counters() -> dict[str, float]:
    return {}


def _no_others(_since: float) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Instruments:
    """`every_s`: how often `read` is called while blocks are timed; the first time sooner. `counters`: `energy_j` and
    seconds of throttling by name, since the driver was loaded. `others(since)`: what other processes did on the card
    since that time of time.time().
    """

    read: Readings = read_nothing
    every_s: float = 1.0
    counters: Counters = _no_counters
    others: Others = _no_others

    def energy_j(self) -> float | None:
        """The energy counter now; None where there is none."""
        return self.counters().get("energy_j")


def instruments_of(device: AnyDevice, stack: ExitStack) -> Instruments:
    """`stack` ends what was opened for them."""
    if device.kind in {"cpu", "mps", "mlx"}:  # of an Apple chip only the load is told
        return Instruments(read=processor_conditions, every_s=0.5)
    if not isinstance(device, Device) or device.kind != "cuda" or device.is_hip:
        return Instruments()
    with suppress(MissingFact):
        nvml = stack.enter_context(open_nvml())
        handle = nvml_handle(nvml, device)
        return Instruments(
            read=lambda: card_conditions(nvml, handle),
            every_s=0.02,
            counters=lambda: card_counters(nvml, handle),
            others=lambda since: others_on_card(nvml, handle, since),
        )
    return Instruments(read=SmiReadings(smi_name(device)))


# ---- counters of NVIDIA cards ----------------------------------------------------------------------------------------

_THROTTLED = {
    "throttled.power_s": "NVML_FI_DEV_PERF_POLICY_POWER",
    "throttled.thermal_s": "NVML_FI_DEV_PERF_POLICY_THERMAL",
    "throttled.sync_boost_s": "NVML_FI_DEV_PERF_POLICY_SYNC_BOOST",
    "throttled.board_limit_s": "NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT",
    "throttled.reliability_s": "NVML_FI_DEV_PERF_POLICY_RELIABILITY",
    "throttled.sw_thermal_s": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN",
    "throttled.hw_thermal_s": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN",
    "throttled.hw_power_brake_s": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN",
}
"""Nanoseconds since the driver was loaded: NVML API reference, field value enumerations."""


def card_counters(nvml: Nvml, handle: object) -> dict[str, float]:
    """What cannot be read is left out."""
    counters: dict[str, float] = {}
    with suppress(MissingFact):
        counters["energy_j"] = nvml.ask("nvmlDeviceGetTotalEnergyConsumption", handle) / 1e3
    for name, field in _THROTTLED.items():
        with suppress(MissingFact):
            counters[name] = nvml.long_field(handle, field) / 1e9
    return counters


def others_on_card(nvml: Nvml, handle: object, since: float) -> dict[str, Any]:
    """`card_programs`: names of other processes that compute on the card; `card_ratio`: the share of it that they used,
    left out where the driver does not tell it by process.

    Where our own process is not listed (a container that numbers processes otherwise), nobody can tell which is ours.
    """
    others: dict[str, Any] = {}
    ours = os.getpid()
    with suppress(MissingFact):
        there = {int(process.pid) for process in nvml.ask("nvmlDeviceGetComputeRunningProcesses", handle)}
        if not there or ours in there:
            others["card_programs"] = sorted({_program(pid) for pid in there - {ours}})
            others["card_ratio"] = _share_of_others(nvml, handle, since, ours) if there - {ours} else 0.0
    return others


def _share_of_others(nvml: Nvml, handle: object, since: float, ours: int) -> float | None:
    """Return the mean use of the multiprocessors by each process since then; None where it is not reported."""
    try:
        samples = nvml.ask("nvmlDeviceGetProcessUtilization", handle, int(since * 1e6))
    except MissingFact:
        return None
    by_process: dict[int, list[int]] = {}
    for sample in samples:
        if sample.pid != ours and sample.pid and 0 <= sample.smUtil <= 100:
            by_process.setdefault(int(sample.pid), []).append(int(sample.smUtil))
    return min(1.0, sum(sum(shares) / len(shares) for shares in by_process.values()) / 100)


def _program(pid: int) -> str:
    with suppress(OSError), Path(f"/proc/{pid}/comm").open(encoding="utf-8", errors="replace") as file:
        return file.read(64).strip() or "?"
    return "unknown"


# ---- sampling --------------------------------------------------------------------------------------------------------

_FIRST_S = 0.01


class Sampler:
    """Reads the conditions again and again in a thread while it is entered: between blocks a device is idle,
    and what it says then is not what it says at work.
    """

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.readings: list[Values] = []

    def __enter__(self) -> "Sampler":
        self._before, self._since = self._instruments.counters(), time.time()
        if self._instruments.read is not read_nothing:
            self._thread.start()
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._is_over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _sample(self) -> None:
        wait_s = _FIRST_S
        while not self._is_over.wait(wait_s):
            with suppress(Exception):  # a driver that stops answering costs the readings, not the figures
                self.readings.append(self._instruments.read())
            wait_s = self._instruments.every_s

    def spent(self) -> dict[str, float]:
        """How far each counter moved since the beginning."""
        now = self._instruments.counters()
        return {name: max(0.0, now[name] - value) for name, value in self._before.items() if name in now}

    def others(self) -> dict[str, Any]:
        return self._instruments.others(self._since)


def joined_readings(readings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of several readings the mean, of temperatures the highest, of words each one once."""
    joined: dict[str, Any] = {}
    for name in dict.fromkeys(name for reading in readings for name in reading):
        values = [reading[name] for reading in readings if name in reading]
        if name.endswith("temperature_c"):
            joined[name] = max(values)
        elif all(isinstance(value, str) for value in values):
            words = sorted({reason for value in values for reason in value.split()} - {"none"})
            joined[name] = " ".join(words) or "none"
        else:
            mean = sum(values) / len(values)
            joined[name] = round(mean) if all(isinstance(value, int) for value in values) else mean
    return joined
