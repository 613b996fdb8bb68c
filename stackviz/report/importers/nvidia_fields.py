"""What nvidia-smi tells about a card, in its three notations: one row for each fact.

XML (`-q -x`): the path of the element. Text (`-q`): the heading right above and the label, or the label alone.
CSV (`--query-gpu`): the column. "|" parts places tried in turn, because drivers moved some; "&" joins what is added up.
What each means: `nvidia-smi --help-query-gpu` and the manual of nvidia-smi.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from stackviz.report.format import Scalar
from stackviz.report.importers import nvidia_values as values
from stackviz.report.importers.reading import CardReading, clean

__all__ = ["Ask", "Notation", "active_reasons", "columns", "read_fields"]

Ask = Callable[[str], str | None]
"""What stands at a place of one card; None if there is no such place."""

Notation = Literal["xml", "text", "csv"]
_Places = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Field:
    fact: str
    convert: Callable[[str], Scalar | None]
    xml: _Places
    text: _Places
    csv: _Places

    def places(self, notation: Notation) -> _Places:
        return {"xml": self.xml, "text": self.text, "csv": self.csv}[notation]


def read_fields(card: CardReading, ask: Ask, notation: Notation, not_there: tuple[str, str]) -> None:
    """State each fact of the table, or why it is absent. `not_there`: the reason where there is no such place."""
    for field in _FIELDS:
        _read_field(card, ask, field, notation, not_there)
    _read_throttling(card, ask, notation, not_there)


def columns() -> frozenset[str]:
    """The columns of `--query-gpu` that are read, as one name each."""
    named = {name for field in _FIELDS for alternatives in field.csv for name in alternatives}
    reasons = {f"{group}.{reason}" for group in _THROTTLE_GROUPS["csv"] for reason, *_ in _THROTTLE}
    return frozenset(named | reasons | {f"{group}.active" for group in _THROTTLE_GROUPS["csv"]})


def _read_field(card: CardReading, ask: Ask, field: _Field, notation: Notation, not_there: tuple[str, str]) -> None:
    written: list[str] = []
    for labels in field.places(notation):
        here = [text for text in map(ask, labels) if text is not None]
        figures = [field.convert(text) for text in map(values.value, here) if text is not None]
        known = [figure for figure in figures if figure is not None]
        if known and len(known) == len(figures):
            card.sheet.state(field.fact, values.scalar_sum(known))
            return
        written += here
    card.sheet.mark_missing(field.fact, *(values.why(written[0]) if written else not_there))


def _read_throttling(card: CardReading, ask: Ask, notation: Notation, not_there: tuple[str, str]) -> None:
    activity = _throttle_activity(ask, notation)
    card.sheet.state("throttle_reasons", active_reasons(ask, notation, activity))
    card.sheet.mark_missing("throttle_reasons", *(values.why(next(iter(activity.values()))) if activity else not_there))


def active_reasons(ask: Ask, notation: Notation, activity: Mapping[str, str] | None = None) -> str | None:
    """The reasons that are active, as NVML words them; "none" if there are none. Being idle holds nothing back.

    `activity`: what stands for each of them, where that is known.
    """
    activity = _throttle_activity(ask, notation) if activity is None else activity
    states = {reason: text.lower() for reason, text in activity.items()}
    if any(text in ("active", "not active") for text in states.values()):
        return " ".join(reason for reason, *_ in _THROTTLE if states.get(reason) == "active") or "none"
    bits = next(filter(None, (ask(f"{group}.active") for group in _THROTTLE_GROUPS[notation])), None)
    return _words(bits) if bits and bits.lower().startswith("0x") and len(bits) <= 18 else None


def _throttle_activity(ask: Ask, notation: Notation) -> dict[str, str]:
    activity: dict[str, str] = {}
    for group in _THROTTLE_GROUPS[notation]:
        for reason, *places in _THROTTLE:
            text = next(filter(None, map(ask, _throttle_places(notation, group, reason, places))), None)
            if text is not None:
                activity.setdefault(reason, text)
    return activity


def _words(bits: str) -> str | None:
    try:
        mask = int(bits, 16)
    except ValueError:
        return None
    return " ".join(reason for bit, (reason, *_) in enumerate(_THROTTLE) if mask & (2 << bit)) or "none"


def _throttle_places(notation: Notation, group: str, reason: str, labels: list[str]) -> list[str]:
    if notation == "text":
        return [f"{group}/{label}" for label in labels] + [f"HW Slowdown/{label}" for label in labels]
    xml = reason.replace("display_clock_", "display_clocks_")
    return [f"{group}/{group.removesuffix('s')}_{xml}"] if notation == "xml" else [f"{group}.{reason}"]


_THROTTLE_GROUPS: dict[Notation, tuple[str, ...]] = {
    "xml": ("clocks_event_reasons", "clocks_throttle_reasons"),
    "text": ("Clocks Event Reasons", "Clocks Throttle Reasons"),
    "csv": ("clocks_event_reasons", "clocks_throttle_reasons"),
}

_THROTTLE: tuple[tuple[str, str], ...] = (
    # NVML API reference, nvmlClocksEventReasons, from bit 1 on -> label of `-q`
    ("applications_clocks_setting", "Applications Clocks Setting"),
    ("sw_power_cap", "SW Power Cap"),
    ("hw_slowdown", "HW Slowdown"),
    ("sync_boost", "Sync Boost"),
    ("sw_thermal_slowdown", "SW Thermal Slowdown"),
    ("hw_thermal_slowdown", "HW Thermal Slowdown"),
    ("hw_power_brake_slowdown", "HW Power Brake Slowdown"),
    ("display_clock_setting", "Display Clock Setting"),
)


def _places(written: str) -> _Places:
    return tuple(tuple(alternative.split("&")) for alternative in written.split("|")) if written else ()


def _fields(rows: Iterable[tuple[str, Callable[[str], Scalar | None], str, str, str]]) -> tuple[_Field, ...]:
    return tuple(
        _Field(fact, convert, _places(xml), _places(text), _places(csv)) for fact, convert, xml, text, csv in rows
    )


_GEN = "pci/pci_gpu_link_info/pcie_gen"
_WIDTH = "pci/pci_gpu_link_info/link_widths"
_VOLATILE = "ecc_errors/volatile"

_FIELDS = _fields(
    [
        ("architecture", clean, "product_architecture", "Product Architecture", ""),
        ("compute_capability", clean, "", "", "compute_cap"),
        ("vbios_version", clean, "vbios_version", "VBIOS Version", "vbios_version"),
        ("pci_bus_id", clean, "pci/pci_bus_id", "PCI/Bus Id", "pci.bus_id|gpu_bus_id"),
        ("pci_device_id", values.hexadecimal, "pci/pci_device_id", "PCI/Device Id", "pci.device_id"),
        ("pci_subsystem_id", values.hexadecimal, "pci/pci_sub_system_id", "PCI/Sub System Id", "pci.sub_device_id"),
        ("addressing_mode", clean, "addressing_mode", "Addressing Mode", "addressing_mode"),
        ("persistence_mode", values.boolean, "persistence_mode", "Persistence Mode", "persistence_mode"),
        (
            "display_attached",
            values.boolean,
            "display_attached|display_mode",
            "Display Attached|Display Mode",
            "display_attached|display_mode",
        ),
        ("ecc", values.boolean, "ecc_mode/current_ecc", "ECC Mode/Current", "ecc.mode.current"),
        ("ecc_pending", values.boolean, "ecc_mode/pending_ecc", "ECC Mode/Pending", "ecc.mode.pending"),
        (
            "ecc_corrected",
            values.integer_of,
            f"{_VOLATILE}/single_bit/total|{_VOLATILE}/sram_correctable&{_VOLATILE}/dram_correctable",
            "Single Bit/Total|Volatile/SRAM Correctable&Volatile/DRAM Correctable",
            "ecc.errors.corrected.volatile.total|ecc.errors.corrected.volatile.sram&ecc.errors.corrected.volatile.dram",
        ),
        (
            "ecc_uncorrected",
            values.integer_of,
            (
                f"{_VOLATILE}/double_bit/total|{_VOLATILE}/sram_uncorrectable&{_VOLATILE}/sram_uncorrectable_parity"
                f"&{_VOLATILE}/sram_uncorrectable_secded&{_VOLATILE}/dram_uncorrectable"
            ),
            (
                "Double Bit/Total|Volatile/SRAM Uncorrectable&Volatile/SRAM Uncorrectable Parity"
                "&Volatile/SRAM Uncorrectable SEC-DED&Volatile/DRAM Uncorrectable"
            ),
            (
                "ecc.errors.uncorrected.volatile.total|"
                "ecc.errors.uncorrected.volatile.sram&ecc.errors.uncorrected.volatile.dram"
            ),
        ),
        (
            "remap_pending",
            values.boolean,
            (
                "remapped_rows/remapped_row_pending|retired_pages/pending_retirement|retired_pages/pending_blacklist"
                "|remapped_rows"
            ),
            "Remapped Rows/Pending|Retired Pages/Pending Page Blacklist|Retired Pages/Pending|Remapped Rows",
            "remapped_rows.pending|retired_pages.pending",
        ),
        (
            "remap_failed",
            values.boolean,
            "remapped_rows/remapped_row_failure|remapped_rows",
            "Remapped Rows/Remapping Failure Occurred|Remapped Rows",
            "remapped_rows.failure",
        ),
        ("mig_mode", values.hyphened, "mig_mode/current_mig", "MIG Mode/Current", "mig.mode.current"),
        ("mig_pending", values.hyphened, "mig_mode/pending_mig", "MIG Mode/Pending", "mig.mode.pending"),
        (
            "virtualization_mode",
            values.hyphened,
            "gpu_virtualization_mode/virtualization_mode",
            "GPU Virtualization Mode/Virtualization Mode",
            "",
        ),
        ("compute_mode", values.hyphened, "compute_mode", "Compute Mode", "compute_mode"),
        ("driver_model", clean, "driver_model/current_dm", "Driver Model/Current", "driver_model.current"),
        (
            "memory_reserved_bytes",
            values.byte_count,
            "fb_memory_usage/reserved",
            "FB Memory Usage/Reserved",
            "memory.reserved",
        ),
        ("memory_used_bytes", values.byte_count, "fb_memory_usage/used", "FB Memory Usage/Used", "memory.used"),
        ("busy_ratio", values.number, "utilization/gpu_util", "Utilization/GPU", "utilization.gpu"),
        (
            "temperature_c",
            values.number,
            "temperature/gpu_temp",
            "Temperature/GPU Current Temp|Temperature/GPU",
            "temperature.gpu",
        ),
        (
            "power_w",
            values.number,
            (
                "gpu_power_readings/power_draw|gpu_power_readings/average_power_draw|"
                "gpu_power_readings/instant_power_draw|power_readings/power_draw"
            ),
            (
                "GPU Power Readings/Power Draw|GPU Power Readings/Average Power Draw|"
                "GPU Power Readings/Instantaneous Power Draw|Power Readings/Power Draw"
            ),
            "power.draw|power.draw.average|power.draw.instant",
        ),
        (
            "power_limit_w",
            values.number,
            (
                "gpu_power_readings/current_power_limit|gpu_power_readings/power_limit|"
                "power_readings/enforced_power_limit|power_readings/power_limit"
            ),
            (
                "GPU Power Readings/Current Power Limit|GPU Power Readings/Power Limit|"
                "Power Readings/Enforced Power Limit|Power Readings/Power Limit"
            ),
            "enforced.power.limit|power.limit",
        ),
        (
            "power_default_limit_w",
            values.number,
            "gpu_power_readings/default_power_limit|power_readings/default_power_limit",
            "GPU Power Readings/Default Power Limit|Power Readings/Default Power Limit",
            "power.default_limit",
        ),
        (
            "power_max_limit_w",
            values.number,
            "gpu_power_readings/max_power_limit|power_readings/max_power_limit",
            "GPU Power Readings/Max Power Limit|Power Readings/Max Power Limit",
            "power.max_limit",
        ),
        ("sm_clock_max_hz", values.number, "max_clocks/sm_clock", "Max Clocks/SM", "clocks.max.sm"),
        (
            "memory_clock_max_hz",
            values.number,
            "max_clocks/mem_clock",
            "Max Clocks/Memory",
            "clocks.max.memory|clocks.max.mem",
        ),
        (
            "pcie_generation",
            values.integer_of,
            f"{_GEN}/current_link_gen|{_GEN}/device_current_link_gen",
            "PCIe Generation/Current|PCIe Generation/Device Current",
            "pcie.link.gen.current|pcie.link.gen.gpucurrent",
        ),
        (
            "pcie_width",
            values.integer_of,
            f"{_WIDTH}/current_link_width",
            "Link Width/Current",
            "pcie.link.width.current",
        ),
        (
            "pcie_generation_max",
            values.integer_of,
            f"{_GEN}/max_link_gen",
            "PCIe Generation/Max",
            "pcie.link.gen.max",
        ),
        ("pcie_width_max", values.integer_of, f"{_WIDTH}/max_link_width", "Link Width/Max", "pcie.link.width.max"),
    ]
)
