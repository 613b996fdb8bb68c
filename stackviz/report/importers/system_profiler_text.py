"""`system_profiler` without -json -> the same sections under the names of the JSON, read by system_profiler.py.

Only hardware, graphics and software are looked at: serial numbers, UUIDs, names of users and of the machine are not.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading, clean
from stackviz.report.importers.system_profiler import SECTIONS, read_sections

__all__ = ["IMPORTER"]

KIND = "system-profiler-text"

_HARDWARE, _DISPLAYS, _SOFTWARE = SECTIONS
_ANCHOR = re.compile(
    r"^[ \t>]{0,40}(Hardware Overview|System Software Overview|Graphics/Displays|Chipset Model):[^\n]*$", re.MULTILINE
)
_TITLES = {"Hardware": _HARDWARE, "Graphics/Displays": _DISPLAYS, "Software": _SOFTWARE}
_OTHER_TITLES = re.compile(
    r"^(?:Accessibility|Applications|Audio|Bluetooth|Camera|Card Reader|Controller|Developer|Diagnostics|Disc Burning|"
    r"Disabled Software|Displays|Ethernet Cards|Extensions|Fibre Channel|FireWire|Firewall|Fonts|Frameworks|"
    r"Installations|Language & Region|Legacy Software|Locations|Logs|Managed Client|Memory|Network|NVMExpress|PCI|"
    r"Parallel SCSI|Power|Preference Panes|Printer Software|Printers|Profiles|RAID|Raw Support|SAS|SATA.*|SPI|"
    r"SmartCards|Startup Items|Storage|Sync Services|Thunderbolt.*|USB|Volumes|WWAN|Wi-Fi):\s*$"
)
_LABEL = re.compile(r"[ \t>]{0,40}([A-Za-z][^:\n]{1,80}?):[ \t]*(.{0,300})$")
_KEYS = {
    _HARDWARE: {
        "model identifier": "machine_model",
        "chip": "chip_type",
        "processor name": "cpu_type",
        "memory": "physical_memory",
        "total number of cores": "number_processors",
        "number of processors": "packages",
    },
    _SOFTWARE: {"system version": "os_version", "kernel version": "kernel_version"},
    _DISPLAYS: {
        "chipset model": "sppci_model",
        "total number of cores": "sppci_cores",
        "vendor": "spdisplays_vendor",
        "metal family": "spdisplays_mtlgpufamilysupport",
        "metal support": "spdisplays_mtlgpufamilysupport",
        "metal": "spdisplays_metal",
        "vram (total)": "spdisplays_vram",
        "vram (dynamic, max)": "spdisplays_vram_shared",
    },
}
"""What the text calls it, in lower case -> what the JSON calls it."""
_MOST_LINES = 200_000
_MOST_MACHINES = 16


def find_system_profiler_text(text: str) -> list[Span]:
    """A new machine begins where a section comes for the second time; cards may come several times in theirs."""
    machines: list[list[tuple[str, int, int]]] = []
    for match in _ANCHOR.finditer(text):
        old = machines[-1] if machines else []
        repeats = match[1] != "Chipset Model" and any(match[1] == name for name, _start, _end in old)
        if len(machines) == _MOST_MACHINES and repeats:
            break
        if not old or repeats:
            machines.append([])
        end = old[-1][2] if old and not repeats and old[-1][2] >= match.end() else _end_of_section(text, match.end())
        machines[-1].append((match[1], _title_above(text, match.start()), end))
    telling = [machine for machine in machines if any(name != "Graphics/Displays" for name, *_ in machine)]
    starts = [machine[0][1] for machine in telling]
    ends = [max(end for _name, _start, end in machine) for machine in telling]
    limits = pairwise([*starts, len(text)])
    return [Span(start, min(end, limit)) for (start, limit), end in zip(limits, ends, strict=True)]


def _title_above(text: str, at: int) -> int:
    """Where `Hardware:` stands above `Hardware Overview:`."""
    above = re.search(
        r"(?:^|\n)([ \t>]*(?:Hardware|Software|Graphics/Displays):[ \t]*\n\s*)\Z", text[max(0, at - 120) : at]
    )
    return at - len(above[1]) if above else at


def _end_of_section(text: str, at: int) -> int:
    """The end of the last line with a label, before one that has none: other sections are the tool's too."""
    end = at
    for line_start, line_end in _line_places(text, at + 1):
        line = text[line_start : min(line_end, line_start + 400)]
        if not line.strip():
            continue
        if not _LABEL.match(line):
            break
        end = line_end
    return end


def _line_places(text: str, at: int) -> Iterator[tuple[int, int]]:
    for _ in range(_MOST_LINES):
        if at >= len(text):
            return
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield at, end
        at = end + 1


def read_system_profiler_text(text: str) -> Reading:
    reading = Reading(kind=KIND)
    sections: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
    section = ""
    for line in text.splitlines()[:_MOST_LINES]:
        match = _LABEL.match(line[:400])
        label, value = (match[1], match[2].strip()) if match else ("", "")
        section = _section(line, label, value, section)
        if label.lower() == "chipset model":
            section = _DISPLAYS
            sections[section].append({})
        if section and value:
            _note(sections[section], section, label, value)
    if not any(sections.values()):
        reading.problem("no information about hardware, graphics or software")
    elif not sections[_DISPLAYS]:
        reading.problem("no display section, which names the GPU: system_profiler SPDisplaysDataType prints it")
    read_sections(reading, sections)
    return reading


def _section(line: str, label: str, value: str, before: str) -> str:
    if value:
        return before
    if label in _TITLES:
        return _TITLES[label]
    if label == "Hardware Overview":
        return _HARDWARE
    if label == "System Software Overview":
        return _SOFTWARE
    return "" if _OTHER_TITLES.match(line.strip()) else before


def _note(items: list[dict[str, Any]], section: str, label: str, value: str) -> None:
    key = _KEYS[section].get(label.lower())
    if key is None or (section == _DISPLAYS and not items):
        return
    if not items:
        items.append({})
    items[-1].setdefault(*_named(key, value))


def _named(key: str, value: str) -> tuple[str, object]:
    """Key and value as the JSON has them."""
    if key == "number_processors":
        return key, _cores(value)
    if key in {"spdisplays_mtlgpufamilysupport", "spdisplays_metal"}:
        return key, clean(re.sub(r"^Supported(?:,\s*(?:feature set )?)?", "", value)) or "supported"
    if key == "spdisplays_vram" and "shared" in value.lower():
        return "spdisplays_vram_shared", value
    return key, value


def _cores(written: str) -> str:
    """`18 (6 super and 12 performance)` -> `proc 18:6:12`, the largest kind first; Intel: `2`."""
    kinds = {
        kind.lower(): count
        for count, kind in re.findall(r"(\d{1,4}) (super|performance|efficiency)", written, re.IGNORECASE)
    }
    counts = [kinds[kind] for kind in ("super", "performance", "efficiency") if kind in kinds]
    total = re.match(r"\d{1,4}", written)
    return f"proc {':'.join([total[0], *counts])}" if counts and total else written


IMPORTER = Importer(
    kind=KIND,
    tool="system_profiler",
    tells="a Mac: chip, memory, Metal, macOS, cards of Intel Macs",
    trust=70,
    find=find_system_profiler_text,
    marks=("Hardware Overview:", "System Software Overview:", "Graphics/Displays:", "Chipset Model:"),
    read=read_system_profiler_text,
    command="system_profiler",
)
