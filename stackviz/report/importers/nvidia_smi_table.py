"""The table `nvidia-smi` prints -> cards and driver facts; and its error messages, also when quoted elsewhere.

Cells are read in their order, not by column or line: a table that a forum has wrapped at blanks is read as well.
"""

import re
from collections.abc import Iterator

from stackviz.report.format import Scalar
from stackviz.report.importers.importer import Importer, Span, next_line
from stackviz.report.importers.nvidia_values import (
    add_card,
    boolean,
    byte_count,
    hyphened,
    instance_of,
    new_card,
    note_cut,
    note_system,
    note_wsl,
    number,
    state_driver,
    why,
)
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER", "find_nvidia_smi_table", "read_nvidia_smi_table"]

KIND = "nvidia-smi-table"

_HEAD = re.compile(r"NVIDIA-SMI {1,20}(?:version: ?)?\d{2,4}\.\d|\| GPU {1,2}Name ")
_ERROR = re.compile(
    r"NVIDIA-SMI has failed because it couldn.t communicate with the NVIDIA driver"
    r"|NVIDIA-SMI couldn.t find [^\n]{1,60} library"
    r"|Failed to initialize NVML: ?[^\n]{1,80}"
    r"|nvml error: [^\n]{1,80}"
    r"|No devices were found"
    r"|Unable to determine the device handle for (?:(?!  )[^\n]){1,160}"
    r"|GPU is lost\b"
    r"|GPU has fallen off the bus\b"
    r"|NVML library version: ?\d{2,4}\.\d[\d.]{0,12}"
)
_KERNEL_LINE = re.compile(r"\bNVRM: |\bS?Xid\b")
_MARKS = (
    *("NVIDIA-SMI", "| GPU ", "Failed to initialize NVML", "nvml error: ", "No devices were found"),
    *("Unable to determine the device handle", "GPU is lost", "GPU has fallen off the bus", "NVML library version:"),
)
_PUT_BEFORE = re.compile(r"^(?:Failed to initialize NVML|nvml error): ?")
_LOST = re.compile(r"Unable to determine the device handle for (?:GPU ?)?([0-9A-Fa-f:.]{4,20})")
_NVML_LIBRARY = re.compile(r"NVML library version: ?(\d{2,4}\.[\d.]{1,12})")
_ADVICE = re.compile(r"\s*(?:Make sure that|Reboot the system|Please also try|Consider installing)[^\n]{0,300}")
_MOST_CHARS = 512 * 1024
_MOST_LINES_BACK = 2

_DRIVER = re.compile(r"(?:Driver|KMD) Version: ?(\d[\d.]{1,20})")
_TOOL = re.compile(r"NVIDIA-SMI {1,20}(\d{3}\.[\d.]{1,12})")
_CUDA = re.compile(r"CUDA (?:UMD )?Version: ?(\d[\d.]{1,10})")
_NAME = re.compile(r"(\d{1,3}) (\S.{0,80}?) ?\b(On|Off|WDDM|TCC|MCDM|N/A|ERR!)$")
_BUS = re.compile(r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]) ?(On|Off|N/A|ERR!)?$")
_USAGE = re.compile(r"(\S{1,5}) (\S{1,5}) (P\d{1,2}|N/A|ERR!|Unknown.{0,6}) (\S{1,6}?W?|N/A) ?/ ?(\S{1,7})$")
_MEMORY = re.compile(r"(\d{1,9} ?MiB|N/A|ERR!|Unknown Error) ?/ ?(\d{1,9} ?MiB|N/A|ERR!|Unknown Error)$")
_NO_NAMES = frozenset({"ERR!", "Unknown Error", "GPU is lost", "N/A"})
_LOAD = re.compile(r"(\d{1,3} ?%|N/A|ERR!) (Default|E\. ?Process|E\. ?Thread|Prohibited|N/A|ERR!)$")
_INSTANCE = re.compile(r"(\d{1,3}) (?:\d{1,3}|N/A) (?:\d{1,3}|N/A) (\d{1,3})$")
_RULE = re.compile(r"[+=-]{3,}[+=-]*")
_COMPUTE_MODES = {
    "default": "default", "prohibited": "prohibited", "e. process": "exclusive-process", "e. thread": "exclusive-thread"
}  # fmt: skip


# ---- where ----------------------------------------------------------------------------------------------------------


def find_nvidia_smi_table(text: str) -> list[Span]:
    spans = [*_tables(text), *_errors(text)]
    spans.sort()
    return [span for at, span in enumerate(spans) if at == 0 or span.start >= spans[at - 1].end]


def _tables(text: str) -> Iterator[Span]:
    end = -1
    for head in _HEAD.finditer(text):
        if head.start() < end or "version" in head[0] or not _is_in_table(text, head.start()):
            continue
        end = _end_of(text, head.end())
        yield Span(_start_of(text, head.start(), max(0, end if end < head.start() else 0)), end)


def _is_in_table(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return len(line) < 200 and ("|" in line or text[at : at + 1] == "|")


def _start_of(text: str, at: int, least: int) -> int:
    """The line above the head, and the date above that."""
    start = text.rfind("\n", 0, at) + 1
    for _line in range(_MOST_LINES_BACK):
        above = text.rfind("\n", 0, max(0, start - 1)) + 1
        line = text[above:start].strip()
        if (
            start > least
            and above >= least
            and (line.startswith("+-") or re.match(r"[A-Z][a-z]{2} [A-Z][a-z]{2} ", line))
        ):
            start = above
    return start


def _end_of(text: str, at: int) -> int:
    """Behind the last line that has a bar or is a rule; past blank lines only if a rule follows them."""
    end = last = next_line(text, at)
    was_blank = False
    while end < len(text) and end - at < _MOST_CHARS:
        start, end = end, next_line(text, end)
        line = text[start:end].strip()
        if not line:
            was_blank = True
            continue
        if "NVIDIA-SMI " in line or (was_blank and not line.startswith("+-")) or line.startswith(("| model ", "| ---")):
            break
        if "|" in line or _RULE.match(line):
            last = end
        elif end - last > 240:
            break
        was_blank = False
    return last


def _errors(text: str) -> Iterator[Span]:
    """What nvidia-smi prints instead of a table; the kernel's log says some of it too, and is another dump."""
    end = -1
    for error in _ERROR.finditer(text):
        line = text[text.rfind("\n", 0, error.start()) + 1 : error.start()]
        if error.start() < end or _KERNEL_LINE.search(line):
            continue
        advice = _ADVICE.match(text, min(len(text), error.end() + (text[error.end() : error.end() + 1] == ".")))
        end = advice.end() if advice else error.end()
        yield Span(error.start(), end)


# ---- reading --------------------------------------------------------------------------------------------------------


def read_nvidia_smi_table(text: str) -> Reading:
    """Never raises. A table torn anywhere gives the cards whose name is still there."""
    reading = Reading(kind=KIND)
    if len(text) > _MOST_CHARS:
        reading.problem(f"longer than {_MOST_CHARS} characters; the rest was not read")
    text = text[:_MOST_CHARS]
    _read_errors(reading, text)
    if _HEAD.search(text):
        flat = " ".join(text.split())
        driver, cuda = _DRIVER.search(flat), _CUDA.search(flat)
        if "CUDA Version: ERR!" in flat:
            reading.sheet.mark_missing("cuda.driver_api_version", "failed", "nvidia-smi prints ERR!")
        state_driver(reading, driver[1] if driver else None, cuda[1] if cuda else None)
        _read_cells(reading, [" ".join(_RULE.sub(" ", cell).split()) for cell in text.split("|")])
        _check_names(reading)
        note_system(reading, ())
        tool = _TOOL.search(flat)
        if "KMD Version" not in flat:
            note_wsl(reading, tool[1] if tool else None, driver[1] if driver else None)
        if "Driver-Model" in text:
            reading.sheet.state("os.name", "Windows")
    return reading


def _read_errors(reading: Reading, text: str) -> None:
    library = _NVML_LIBRARY.search(text)
    reading.sheet.state("nvidia.nvml_version", library[1] if library else None)
    for error in _ERROR.finditer(text):
        if not error[0].startswith("NVML library"):
            words = _PUT_BEFORE.sub("", clean(error[0])).rstrip(".")
            reading.sheet.state("nvidia.nvml_error", words)
            if not _LOST.match(words):  # those are counted
                reading.problem(words)
            reading.sheet.mark_missing("nvidia.driver_version", "failed", words)
    lost = {match[1].rstrip(".:") for match in _LOST.finditer(text)}
    reading.sheet.state("nvidia.cards_lost", len(lost) or None)


def _read_cells(reading: Reading, cells: list[str]) -> None:
    card: CardReading | None = None
    count = lost = 0
    for at, cell in enumerate(cells):
        following = cells[at + 1] if at + 1 < len(cells) else ""
        name, bus = _NAME.match(cell), _BUS.match(following)
        if name and (bus or at + 1 >= len(cells) - 1):
            _finish(reading, card)
            count += 1
            card = _card(name, bus, cells[at + 2] if at + 2 < len(cells) else "", reading)
            lost += name[2].strip("[]") in _NO_NAMES
        elif cell.startswith("Processes"):
            break
        elif cell.startswith("MIG devices"):
            _finish(reading, card)
            card = None
        elif card is not None:
            _take(card, cell)
        elif instance := _INSTANCE.match(cell):
            _read_instance(reading, int(instance[1]), following, cells[at + 2] if at + 2 < len(cells) else "")
    _finish(reading, card)
    note_cut(reading, count)
    reading.sheet.state("nvidia.cards_lost", lost or None)


def _finish(reading: Reading, card: CardReading | None) -> None:
    """A card that does not answer has no name: it is counted, and not listed."""
    if card is None or card.reported_name.strip("[]") in _NO_NAMES:
        return
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", "not_reported", "the table does not state it")
    add_card(reading, card)


def _card(name: re.Match[str], bus: re.Match[str] | None, ecc: str, reading: Reading) -> CardReading:
    card = new_card(int(name[1]), name[2], None)
    card.sheet.state("driver_version", reading.facts.get("nvidia.driver_version"))
    if name[3] in ("WDDM", "TCC", "MCDM"):
        card.sheet.state("driver_model", name[3])
    else:
        card.sheet.state("persistence_mode", boolean(name[3]))
    if bus:
        card.sheet.state("pci_bus_id", bus[1])
        card.sheet.state("display_attached", boolean(bus[2] or ""))
    if ecc.isdecimal():
        card.sheet.state("ecc", value=True)
        card.sheet.state("ecc_uncorrected", int(ecc[:15]))
    else:
        _state(card, "ecc", ecc, boolean(ecc))
    return card


def _take(card: CardReading, cell: str) -> None:
    """One cell of the second or third line of a card."""
    if usage := _USAGE.match(cell):
        _state(card, "temperature_c", usage[2], number(usage[2]))
        _state(card, "power_w", usage[4], number(usage[4]))
        _state(card, "power_limit_w", usage[5], number(usage[5]))
    elif memory := _MEMORY.match(cell):
        card.memory_bytes = card.memory_bytes or byte_count(memory[2])
        card.sheet.state("memory_used_bytes", byte_count(memory[1]))
    elif load := _LOAD.match(cell):
        _state(card, "busy_ratio", load[1], number(load[1]))
        mode = load[2].lower().replace(".p", ". p").replace(".t", ". t")
        card.sheet.state("compute_mode", _COMPUTE_MODES.get(mode))
    elif cell in ("Enabled", "Disabled", "Enabled*", "Disabled*"):
        card.sheet.state("mig_mode", hyphened(cell.rstrip("*")))
        other = {"Enabled*": "disabled", "Disabled*": "enabled"}.get(cell)
        card.sheet.state("mig_pending", other or hyphened(cell))


def _state(card: CardReading, fact: str, written: str, value: Scalar | None) -> None:
    if value is not None:
        card.sheet.state(fact, value)
    elif written:
        card.sheet.mark_missing(fact, *why(written))


def _read_instance(reading: Reading, parent_index: int, memory: str, shared: str) -> None:
    parent = next((card for card in reading.cards if card.index == parent_index), None)
    match = _MEMORY.match(memory)
    if parent is None or match is None:
        return
    card = instance_of(parent, reading, byte_count(match[2]))
    card.sheet.state("memory_used_bytes", byte_count(match[1]))
    count = re.match(r"\d{1,4}\b", shared)
    card.sheet.state("multiprocessors", int(count[0]) if count else None)
    card.sheet.mark_missing("mig_profile", "not_reported", "the table names no profile")
    add_card(reading, card)


def _check_names(reading: Reading) -> None:
    if any(card.reported_name.endswith("...") for card in reading.cards):
        reading.problem('nvidia-smi truncated a name ("..."); nvidia-smi -L prints it in full')


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi",
    tells="driver, newest CUDA it supports, cards with memory; the tool truncates long names",
    trust=90,
    find=find_nvidia_smi_table,
    marks=_MARKS,
    read=read_nvidia_smi_table,
    command="nvidia-smi",
)
