"""`lspci`, `lspci -k`, `lspci -nnk`, `lspci -vv` -> graphics cards, their lanes, the kernel modules that drive them.

Format: lspci(8). Names stand in brackets behind the chip's: `AD102 [GeForce RTX 4090]`.
"""

import re
from dataclasses import replace

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, runs_of
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER"]

KIND = "lspci"

_SLOT = r"(?:(?P<domain>[0-9a-f]{4,5}):)?(?P<slot>[0-9a-f]{2}:[01][0-9a-f]\.[0-7])"
_LINE = re.compile(
    rf"^(?:{_SLOT} [A-Z][^\n]{{3,300}}|[ \t]+(?:Subsystem|DeviceName|Kernel driver in use|Kernel modules|Flags"
    rf"|Memory at|"
    r"Capabilities|I/O ports at|Expansion ROM at|Physical Slot|Control|Status|Latency|Interrupt|NUMA node"
    r"|IOMMU group|Region \d|LnkCap|LnkSta|LnkCtl|LnkCap2|LnkSta2|LnkCtl2|DevCap|DevCtl|DevSta)"
    r"[: ][^\n]{0,400})$",
    re.MULTILINE,
)
_CARD = re.compile(
    rf"^{_SLOT} (?:VGA compatible controller|3D controller|Display controller|Processing accelerators)"
    r"(?: \[[0-9a-f]{4}\])?: (?P<name>[^\n]{3,200}?)(?: \[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\])?"
    r"(?: \(rev [0-9a-f]{2}\))?(?: \(prog-if [^\n)]{1,40}\))?$"
)
_DRIVER = re.compile(r"[ \t]+Kernel driver in use: ([\w-]{2,40})")
_MODULES = re.compile(r"[ \t]+Kernel modules: ([\w, -]{2,300})")
_LINK = re.compile(r"[ \t]+Lnk(?P<what>Cap|Sta):[^\n]{0,120}?\bWidth x(?P<lanes>\d{1,2})\b")
_GRAPHICS = frozenset({"nvidia", "nouveau", "amdgpu", "radeon", "i915", "xe", "nova_core"})
_VENDORS = {"nvidia": "nvidia", "advanced micro devices": "amd", "amd/ati": "amd", "intel": "intel"}
_LAPTOP = re.compile(r"\b(RTX [345]\d{3}(?: Ti)?) (?:Mobile|Max-Q|Laptop).*$")
_SUFFIX = re.compile(r" (?:Mobile|Max-Q|Rev\. [A-Z]|OEM|Lite Hash Rate)\b.*$")


def find_lspci(text: str) -> list[Span]:
    if "controller" not in text and "Processing accel" not in text:
        return []
    return [span for span in runs_of(_LINE, text) if _has_card(text[span.start : span.end])]


def _has_card(text: str) -> bool:
    return any(_CARD.match(line[:600]) for line in text.split("\n", 2_000)[:2_000])


def read_lspci(text: str) -> Reading:
    """Never raises. What drives a card is loaded; what could drive it is installed."""
    reading = Reading(kind=KIND)
    reading.sheet.state("os.name", "Linux")
    drivers: set[str] = set()
    installed: dict[str, bool] = {}
    vendor = ""
    for line in text.split("\n", 2_000)[:2_000]:
        if match := _CARD.match(line[:600]):
            vendor = _add_card(reading, match)
        elif line[:1] not in " \t":
            vendor = ""
        elif vendor and (link := _LINK.match(line)):
            _state_link(reading, "pcie_width_max" if link["what"] == "Cap" else "pcie_width", int(link["lanes"]))
        elif vendor and (driver := _DRIVER.match(line)):
            drivers.add(driver[1].replace("-", "_"))
        elif vendor and (modules := _MODULES.match(line)):
            names = {name.strip().replace("-", "_") for name in modules[1].split(",")}
            installed[vendor] = installed.get(vendor, False) or "nvidia" in names
    reading.sheet.state("os.modules", " ".join(sorted(drivers & _GRAPHICS)) or None)
    if "nvidia" in installed:
        reading.sheet.state("nvidia.module_installed", installed["nvidia"] or "nvidia" in drivers)
    if not drivers and "Kernel" in text:
        reading.sheet.mark_missing("os.modules", "not_applicable", "lspci names no driver in use for a graphics card")
    return reading


def _state_link(reading: Reading, fact: str, lanes: int) -> None:
    """Of the last card: lines of it follow its own. A link that is down has no lanes."""
    if reading.cards and lanes:
        card = reading.cards[-1]
        reading.cards[-1] = replace(card, facts={fact: lanes, **card.facts})


def _add_card(reading: Reading, match: re.Match[str]) -> str:
    """The vendor of the card. Integrated graphics of processors are cards too: they are listed alike."""
    written = match["name"]
    vendor = next((vendor for mark, vendor in _VENDORS.items() if mark in written.lower()), "unknown")
    is_whole = written.count("[") == written.count("]")
    if len(reading.cards) < LIMITS.cards and vendor != "unknown" and is_whole:
        name = _product(written, vendor)
        card = CardReading(index=len(reading.cards), kind="gpu", vendor=vendor, reported_name=name)
        card.sheet.mark_missing("memory_bytes", "not_reported", "lspci does not state it")
        card.sheet.state("pci_bus_id", f"{int(match['domain'] or '0', 16):08X}:{match['slot'].upper()}")
        if match["device"]:
            card.sheet.state("pci_device_id", f"0x{match['device'].upper()}{match['vendor'].upper()}")
        reading.cards.append(card.card())
    return vendor


def _product(written: str, vendor: str) -> str:
    """`NVIDIA Corporation GA106M [GeForce RTX 3060 Mobile / Max-Q]` -> `NVIDIA GeForce RTX 3060 Laptop GPU`."""
    names = re.findall(r"\[([^\[\]]{2,120})\]", written)
    names = [name for name in names if name != "AMD/ATI" and not re.fullmatch("[0-9a-f]{4}:[0-9a-f]{4}", name)]
    name = clean(names[-1] if names else re.sub(r"^.{0,60}?(?:Corporation|Inc\.|\[AMD/ATI\])\s*", "", written), 150)
    if vendor == "nvidia":
        name = _SUFFIX.sub("", _LAPTOP.sub(r"\1 Laptop GPU", name))
    label = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}[vendor]
    return name if name.lower().startswith(label.lower()) else f"{label} {name}"


IMPORTER = Importer(
    kind=KIND,
    tool="lspci -nnk",
    tells="graphics cards that are plugged in, and the kernel modules that drive them",
    trust=71,
    find=find_lspci,
    read=read_lspci,
    command="lspci",
    is_typed=True,  # its names are those of a list of devices: another name is no other machine
    yields=True,
)
