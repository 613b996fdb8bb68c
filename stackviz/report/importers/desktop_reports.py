"""What desktops report: dxdiag, systeminfo, Get-CimInstance, fastfetch and neofetch, powermetrics.

Formats: https://learn.microsoft.com/windows-server/administration/windows-commands/systeminfo and the text that dxdiag
saves; Win32_VideoController; https://github.com/fastfetch-cli/fastfetch; powermetrics(1).
NVIDIA's driver 566.03 is Windows' 32.0.15.6603: its last five digits.
"""

import re

from stackviz.report.importers.env_report import add_listed_card, number_of_bytes
from stackviz.report.importers.importer import Importer, Span, blocks_after, fields, runs_of
from stackviz.report.importers.reading import Reading, vendor_of
from stackviz.report.importers.typed_values import take_system

__all__ = ["DXDIAG", "FASTFETCH", "POWERMETRICS", "VIDEO_CONTROLLER"]

_MIB = 2**20


def nvidia_version(windows: str) -> str | None:
    """32.0.15.6603 -> 566.03; None for what is no such version."""
    match = re.fullmatch(r"\d{1,2}\.\d{1,2}\.(\d{1,2})\.(\d{4})", windows.strip())
    digits = f"{match[1]}{match[2]}"[-5:] if match else ""
    return f"{digits[:3]}.{digits[3:]}" if len(digits) == 5 else None


def _take_windows(reading: Reading, written: str) -> None:
    """`Windows 11 Home 64-bit (10.0, Build 22631) (22621.ni_release...)`, `Microsoft Windows 11 Pro`."""
    match = re.search(r"Windows (\d{1,2}|Server \d{4})(?: (Home|Pro|Enterprise|Education))?", written)
    reading.sheet.state("os.name", "Windows" if "Windows" in written else None)
    if match:
        reading.sheet.state("os.version", f"{match[1]} {match[2]}" if match[2] else match[1])
        reading.add_software("windows", match[1], "dxdiag")
    if build := re.search(r"Build (\d{5})", written):
        reading.sheet.state("os.build", f"10.0.{build[1]}")


def _add(reading: Reading, name: str, version: str, memory: int | None, tool: str) -> None:
    if not re.search(r"[A-Za-z]{2}", name) or re.search(r"Microsoft|Parsec|Virtual|Remote", name):
        return
    driver = nvidia_version(version) if vendor_of(name) == "nvidia" else None
    add_listed_card(reading, len(reading.cards), name, tool, "", memory, driver_version=driver or version or None)
    reading.sheet.state("nvidia.driver_version", driver)


# ---- dxdiag, systeminfo ---------------------------------------------------------------------------------------------

_DX_HEAD = re.compile(
    r"^[ \t]{0,16}(?:Time of this report: [^\n]{3,60}|Operating System: Windows [^\n]{3,120}|Card name: [^\n]{3,100}"
    r"|OS Name: {2,40}Microsoft Windows[^\n]{0,60})$",
    re.MULTILINE,
)
_DX_LINE = re.compile(r"[-]{3,60}|[ \t]{0,30}(?:[A-Z][\w ()/#-]{1,40}:|(?:System Information|Display Devices)$)")


def find_dxdiag(text: str) -> list[Span]:
    if not any(mark in text for mark in ("Card name: ", "Operating System: Windows", "OS Name: ")):
        return []
    return blocks_after(_DX_HEAD, _DX_LINE, text)


def read_dxdiag(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="dxdiag")
    values = fields(text)
    _take_windows(reading, values.get("operating system") or values.get("os name", ""))
    if build := re.search(r"^OS Version: {2,40}(10\.0\.\d{5})", text, re.MULTILINE):
        reading.sheet.state("os.build", build[1])
    if processor := re.match(r"[^,\n]{4,100}?(?= \(\d{1,3} CPUs|,|$)", values.get("processor", "")):
        reading.sheet.state("cpu.model", processor[0])
    memory = re.match(r"([\d,.]{3,12}) ?MB", values.get("memory") or values.get("total physical memory", ""))
    digits = re.sub(r"\D", "", memory[1]) if memory else ""
    reading.sheet.state("memory.total_bytes", int(digits) * _MIB if digits else None)
    for part in re.split(r"(?=^[ \t]{0,16}Card name: )", text, flags=re.MULTILINE)[1:17]:
        card = fields(part)
        dedicated = re.match(r"(\d{1,7}) MB", card.get("dedicated memory", ""))
        _add(
            reading,
            card.get("card name", ""),
            card.get("driver version", ""),
            int(dedicated[1]) * _MIB if dedicated else None,
            "dxdiag",
        )
    return reading


DXDIAG = Importer(
    kind="dxdiag",
    tool="dxdiag, systeminfo",
    tells="Windows, processor, memory, cards with their driver",
    trust=62,
    find=find_dxdiag,
    read=read_dxdiag,
    command="(?:dxdiag|systeminfo)",
    yields=True,
)

# ---- Get-CimInstance Win32_VideoController, wmic --------------------------------------------------------------------

_CIM = re.compile(
    r"^(?P<label>Name|Caption|Description|DriverVersion|AdapterRAM|VideoProcessor|DriverDate|Status|DeviceID"
    r"|AdapterCompatibility|PNPDeviceID"
    r"|InstalledDisplayDrivers|CurrentHorizontalResolution) {0,30}[:=] ?(?P<value>[^\n]{0,200})$",
    re.MULTILINE,
)
_CIM_TABLE = re.compile(
    r"^(?P<head>(?:Name +DriverVersion|DriverVersion +Name|name +driverversion"
    r"|AdapterRAM +DriverVersion +Name)[ \t]*)\n(?:[- ]{4,200}\n)?"
    r"(?P<rows>(?:[^\n]{8,200}(?:\n|$)){1,8})",
    re.MULTILINE | re.IGNORECASE,
)
_CIM_ROW = re.compile(
    r"(?P<name>[A-Z][\w()/. -]{4,80}?) {2,60}(?P<version>\d{1,2}\.\d{1,2}\.\d{1,5}\.\d{1,5})"
    r"|(?P<v2>\d{1,2}\.\d{1,2}\.\d{1,5}\.\d{1,5}) {2,60}(?P<n2>[A-Z][^\n]{4,80})"
)


def find_video_controller(text: str) -> list[Span]:
    if "riverversion" not in text.lower():
        return []
    runs = [span for span in runs_of(_CIM, text, least=2) if "DriverVersion" in text[span.start : span.end]]
    return sorted([*runs, *(Span(*match.span()) for match in list(_CIM_TABLE.finditer(text))[:16])])


def read_video_controller(text: str) -> Reading:
    """Never raises. AdapterRAM has 32 bits: it is not read, for most cards have more than 4 GB."""
    reading = Reading(kind="win32-video")
    reading.sheet.state("os.name", "Windows")
    card: dict[str, str] = {}
    for match in [*list(_CIM.finditer(text))[:400], None]:
        label = match["label"].lower() if match else "name"
        if label in card and (match is None or label == "name" or "name" not in card):
            _add(reading, card.get("name") or card.get("caption", ""), card.get("driverversion", ""), None, "Windows")
            card = {}
        if match:
            card.setdefault(label, match["value"].strip())
    for table in list(_CIM_TABLE.finditer(text))[:16]:
        for row in list(_CIM_ROW.finditer(table["rows"]))[:16]:
            _add(reading, (row["name"] or row["n2"]).strip(), row["version"] or row["v2"], None, "Windows")
    return reading


VIDEO_CONTROLLER = Importer(
    kind="win32-video",
    tool="Get-CimInstance Win32_VideoController",
    tells="cards and their driver on Windows",
    trust=61,
    find=find_video_controller,
    read=read_video_controller,
    command="(?:Get-CimInstance|gcim|wmic)",
    yields=True,
)

# ---- fastfetch, neofetch --------------------------------------------------------------------------------------------

_FETCH = re.compile(
    r"^[^\n]{0,80}?(?P<label>OS|Host|Kernel|Uptime|Packages|Shell|Display[^:\n]{0,30}|Resolution|DE|WM|WM Theme"
    r"|Theme|Icons|Font|Cursor"
    r"|Terminal|Terminal Font|CPU|GPU(?: \d)?|Memory|Swap|Disk[^:\n]{0,20}|Local IP[^:\n]{0,20}|Battery[^:\n]{0,20}"
    r"|Locale|Power Adapter): "
    r"(?P<value>[^\n]{1,200})$",
    re.MULTILINE,
)
_FETCH_MARKS = frozenset({"Shell", "Terminal", "Packages", "Uptime", "DE", "WM", "Resolution", "Locale"})


def find_fastfetch(text: str) -> list[Span]:
    if "Kernel: " not in text or not any(f"{mark}: " in text for mark in _FETCH_MARKS):
        return []
    spans: list[Span] = []
    for span in runs_of(_FETCH, text):
        if spans and span.start - spans[-1].end < 200:
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return [
        span for span in spans if _is_fetch({match["label"] for match in _FETCH.finditer(text[span.start : span.end])})
    ]


def _is_fetch(labels: set[str]) -> bool:
    return {"OS", "Kernel"} <= labels and bool(labels & _FETCH_MARKS)


def read_fastfetch(text: str) -> Reading:
    """Never raises. Its picture of the system's mark may stand left of each line."""
    reading = Reading(kind="fastfetch")
    values = [(match["label"], match["value"].strip()) for match in list(_FETCH.finditer(text))[:100]]
    first = dict(reversed(values))
    take_system(reading, first.get("OS", ""))
    if kernel := re.search(r"(?:Linux |Darwin )?(\d{1,2}\.\d{1,3}\.\d[\w.+-]{0,60})", first.get("Kernel", "")):
        system = "Darwin" if reading.facts.get("os.name") == "macOS" else "Linux"
        reading.sheet.state("os.kernel", f"{system} {kernel[1]}")
        if "microsoft" in kernel[1].lower():
            reading.sheet.state("os.wsl", "1" if kernel[1].endswith("-Microsoft") else "2")
    processor = re.sub(r" \(\d[\d+]{0,8}\).*$| @ .*$", "", first.get("CPU", ""))
    reading.sheet.state("cpu.model", processor or None)
    memory = re.search(r"/ ?(\d[\d.]{0,9} ?[KMGT]iB)", first.get("Memory", ""))
    reading.sheet.state("memory.total_bytes", number_of_bytes(memory[1]) if memory else None)
    for label, value in values:
        name = re.sub(r" ?\[[A-Z]?[a-z]{0,12}\]?$| @ .*$| \(\d+\)$", "", value)
        if label.startswith("GPU") and vendor_of(name) in {"nvidia", "amd", "intel"}:
            add_listed_card(reading, len(reading.cards), name, "fastfetch")
    return reading


FASTFETCH = Importer(
    kind="fastfetch",
    tool="fastfetch, neofetch",
    tells="system, kernel, processor, memory, cards",
    trust=59,
    find=find_fastfetch,
    read=read_fastfetch,
    command="(?:fastfetch|neofetch)",
    lists_all_cards=False,
)

# ---- powermetrics ---------------------------------------------------------------------------------------------------

_POWER_HEAD = re.compile(
    r"^(?:Machine model: [^\n]{3,60}|\*{4} (?:GPU usage|Thermal pressure) \*{4}"
    r"|GPU HW active frequency: \d{1,5} MHz)$",
    re.MULTILINE,
)
_POWER_LINE = re.compile(
    r"\*{3,5}|(?:Machine model|OS version|Boot arguments|Boot time|SMC|GPU|CPU|ANE|Current pressure level"
    r"|Combined Power|E\d?-Cluster|P\d?-Cluster|E-core|P-core)\b"
)


_PRESSURES = ("nominal", "moderate", "heavy", "trapping", "sleeping")
_PRESSURE = re.compile(rf"^Current pressure level: ({'|'.join(_PRESSURES)})\b", re.MULTILINE | re.IGNORECASE)


def find_powermetrics(text: str) -> list[Span]:
    if not any(mark in text for mark in ("GPU HW active", "powermetrics", "Machine model: ", "Thermal pressure")):
        return []
    return blocks_after(_POWER_HEAD, _POWER_LINE, text)


def read_powermetrics(text: str) -> Reading:
    """Never raises. It names the model of the Mac, not its chip."""
    reading = Reading(kind="powermetrics")
    values = fields(text)
    reading.sheet.state("os.name", "macOS")
    reading.sheet.mark_missing("os.version", "not_reported", "powermetrics states the build only")
    reading.sheet.state("machine.model", values.get("machine model"))
    build = re.fullmatch(r"\d{2}[A-Z]\d{1,5}[a-z]?", values.get("os version", ""))
    reading.sheet.state("os.build", build[0] if build else None)
    pressure = [level.lower() for level in _PRESSURE.findall(text)]
    reading.sheet.state("machine.thermal_pressure", max(pressure, key=_PRESSURES.index, default=None))
    return reading


POWERMETRICS = Importer(
    kind="powermetrics",
    tool="powermetrics",
    tells="model and build of a Mac, how much heat holds it back",
    trust=52,
    find=find_powermetrics,
    read=read_powermetrics,
    command="powermetrics",
    yields=True,
)
