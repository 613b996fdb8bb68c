"""Clocks, power, temperature and what holds the clocks back, read once.

NVIDIA cards tell it through NVML, or through nvidia-smi where NVML has no binding; processors through /proc and /sys
on Linux. Macs tell it to root only, other cards to tools of their makers: there the readings are missing, and the card
says why.
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from stackviz.agent.benchmarks.devices import Device
from stackviz.report.format import hashed_uuid
from stackviz.report.format.facts import reading_questions
from stackviz.report.format.facts.asking import MissingFact, run_command
from stackviz.report.format.facts.nvml import CardLost, Nvml, NvmlCard, throttle_words

__all__ = [
    "Readings", "SmiReadings", "Values", "card_conditions", "nvml_handle", "processor_conditions", "read_nothing",
    "smi_name", "throttle_words",
]  # fmt: skip

Values = dict[str, float | str]
Readings = Callable[[], Values]
"""Reads the conditions now; what cannot be read is left out."""


def read_nothing() -> Values:
    return {}


# ---- NVIDIA cards ---------------------------------------------------------------------------------------------------


def nvml_handle(nvml: Nvml, device: Device) -> object:
    """The card that torch calls cuda:N: CUDA numbers cards by its own order and by CUDA_VISIBLE_DEVICES."""
    uuid = getattr(device.torch.cuda.get_device_properties(device.index), "uuid", None)
    count = int(nvml.ask("nvmlDeviceGetCount"))
    for number in range(count):
        with suppress(CardLost):  # the others answer
            handle: object = nvml.ask("nvmlDeviceGetHandleByIndex", number)
            if uuid and hashed_uuid(str(nvml.ask("nvmlDeviceGetUUID", handle))) == hashed_uuid(str(uuid)):
                return handle
    if count == 1:
        return nvml.ask("nvmlDeviceGetHandleByIndex", 0)
    raise MissingFact("not_reported", "cannot tell which card this is")


def card_conditions(nvml: Nvml, handle: object) -> Values:
    card = NvmlCard(nvml, handle)
    values: Values = {}
    for name, question in reading_questions().items():
        with suppress(MissingFact):
            value = question(card)
            if value is not None:
                values[name] = value
    return values


# ---- NVIDIA cards without NVML ---------------------------------------------------------------------------------------

_SMI_FIELDS: tuple[tuple[str, str, float], ...] = (
    # names of `nvidia-smi --help-query-gpu`; the factor makes it SI
    ("sm_clock_hz", "clocks.sm", 1e6),
    ("memory_clock_hz", "clocks.mem", 1e6),
    ("power_w", "power.draw", 1),
    ("power_limit_w", "enforced.power.limit", 1),
    ("temperature_c", "temperature.gpu", 1),
    ("busy_ratio", "utilization.gpu", 0.01),
    ("memory_used_bytes", "memory.used", 2**20),
)
_SMI_THROTTLE = (
    "clocks_event_reasons.active",
    "clocks_throttle_reasons.active",
)  # the name since driver 535, and before
_SMI_TIMEOUT_S = 10.0


def smi_name(device: Device) -> str:
    """How nvidia-smi takes this card: its UUID. Without one, the only card there is."""
    uuid = getattr(device.torch.cuda.get_device_properties(device.index), "uuid", None)
    return f"GPU-{uuid}" if uuid else ""


class SmiReadings:
    """Readings through `nvidia-smi --query-gpu`. A tool that fails once is not run again, to save time."""

    def __init__(self, card: str, run: Callable[[Sequence[str], float], str] = run_command) -> None:
        self._card = card
        self._run = run
        self._throttle = list(_SMI_THROTTLE)

    def __call__(self) -> Values:
        while self._throttle:
            try:
                return self._ask(self._throttle[0])
            except MissingFact:
                del self._throttle[0]
        return {}

    def _ask(self, throttle: str) -> Values:
        query = ",".join([*(field for _, field, _ in _SMI_FIELDS), throttle])
        which = [f"--id={self._card}"] if self._card else []
        output = self._run(
            ["nvidia-smi", *which, f"--query-gpu={query}", "--format=csv,noheader,nounits"], _SMI_TIMEOUT_S
        )
        rows = output.strip().splitlines()
        cells = [cell.strip() for cell in rows[0].split(",")] if len(rows) == 1 else []
        if len(cells) != len(_SMI_FIELDS) + 1:
            raise MissingFact("not_reported", "nvidia-smi reports a different number of cards")
        values: Values = {}
        for (name, _, factor), cell in zip(_SMI_FIELDS, cells[:-1], strict=True):
            with suppress(ValueError):  # [N/A], [Not Supported]
                values[name] = int(cell) * factor if name == "memory_used_bytes" else float(cell) * factor
        with suppress(ValueError):
            values["throttle_reasons"] = throttle_words(int(cells[-1], 16))
        return values


# ---- processors -----------------------------------------------------------------------------------------------------


def processor_conditions(root: Path = Path("/")) -> Values:
    values: Values = {}
    with suppress(OSError, AttributeError):  # Windows has none
        values["load_average_1m"] = round(os.getloadavg()[0], 2)
    with suppress(OSError):
        clocks = re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", (root / "proc/cpuinfo").read_text(), re.MULTILINE)
        if clocks:
            values["cpu_clock_hz"] = round(sum(map(float, clocks)) / len(clocks) * 1e6)
    temperature = _package_temperature_c(root)
    if temperature is not None:
        values["temperature_c"] = temperature
    return values


def _package_temperature_c(root: Path) -> float | None:
    """The sensor of the processor itself (coretemp, k10temp); boards have many others that mean something else."""
    for sensor in sorted((root / "sys/class/hwmon").glob("hwmon*")):
        with suppress(OSError, ValueError):
            if (sensor / "name").read_text().strip() in {"coretemp", "k10temp", "zenpower"}:
                return int((sensor / "temp1_input").read_text()) / 1000
    return None
