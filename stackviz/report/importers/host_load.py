"""What keeps the machine around a card from working: storage, main memory, swap.

`iostat`, `vmstat`, `dstat`, `top`: formats of sysstat, procps and pcp-dstat. macOS: memory_pressure(1), sysctl(8),
macmon (its JSON) and asitop.
"""

import re
from collections.abc import Iterator
from statistics import fmean

from stackviz.report.importers.importer import Importer, Span, runs_of
from stackviz.report.importers.reading import Reading

__all__ = ["IOWAIT", "MAC_MEMORY"]

_MOST_LINES = 20_000

# ---- iostat, vmstat, dstat, top -------------------------------------------------------------------------------------

_NUMBERS = r"[ \t]{0,12}\d[\d.]{0,12}(?:[ \t|]{1,12}[\d.]{1,14}[kMGB]?){4,24}[ \t|]{0,8}"
_LOAD_LINE = re.compile(
    r"^(?:avg-cpu:[ \t]{1,8}%user[^\n]{0,80}|[ \t]{0,4}r[ \t]{1,6}b[ \t]{1,12}swpd[^\n]{0,160}"
    r"|[ \t]{0,4}procs -[^\n]{0,160}|-{2,12}total-cpu-usage-[^\n]{0,200}"
    r"|[ \t]{0,4}us[re][ \t]{1,4}sys[ \t]{1,4}idl[^\n]{0,160}"
    rf"|%?Cpu\(s\):[^\n]{{10,160}}|{_NUMBERS})$",
    re.MULTILINE,
)
_HEADS = (" %iowait", " swpd ", " idl wai", "Cpu(s):")
_LONGEST_GAP = 4_000
_WAIT_COLUMNS = ("%iowait", "wa", "wai")


def find_iowait(text: str) -> list[Span]:
    """Tables that come again count as one, with what stands between: iostat lists the disks there."""
    if not any(head in text for head in _HEADS):
        return []
    spans: list[Span] = []
    for span in runs_of(_LOAD_LINE, text):
        if not any(head in text[span.start : span.end] for head in _HEADS):
            continue
        if spans and span.start - spans[-1].end <= _LONGEST_GAP:
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return spans


def _waits(text: str) -> Iterator[float]:
    """The percentages of each line. The first of several is the mean since the system started."""
    at: int | None = None
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if line.lstrip("%").startswith("Cpu(s):"):
            if match := re.search(r"(\d{1,3}\.\d) wa\b", line):
                yield float(match[1])
            continue
        cells = line.replace("|", " ").replace("avg-cpu:", " ").split()
        wait = next((column for column, cell in enumerate(cells) if cell in _WAIT_COLUMNS), None)
        if wait is not None:
            at = wait
        elif at is not None and at < len(cells) and re.fullmatch(r"\d{1,3}(?:\.\d{1,2})?", cells[at]):
            yield float(cells[at])


def read_iowait(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="host-load")
    waits = [wait for wait in _waits(text) if wait <= 100]
    waits = waits[1:] if len(waits) > 2 else waits
    reading.sheet.state("cpu.iowait_ratio", fmean(waits) / 100 if waits else None)
    return reading


IOWAIT = Importer(
    kind="host-load",
    tool="iostat, vmstat, dstat or top",
    tells="how much processors wait for storage",
    trust=60,
    find=find_iowait,
    read=read_iowait,
    marks=_HEADS,
    command="(?:iostat|vmstat|dstat|top)",
    yields=True,
)

# ---- main memory of a Mac -------------------------------------------------------------------------------------------

_MAC_LINE = re.compile(
    r"^(?:The system has \d{6,15} \([^\n)]{10,80}\)\.|System-wide memory free percentage: \d{1,3}%"
    r"|kern\.memorystatus_vm_pressure_level: \d|vm\.swapusage: total = [^\n]{10,120}"
    r"|[^\n]{0,120}?RAM Usage: \d[^\n]{1,80}swap:\d[^\n]{1,40}"
    r"|[^\n]{0,160}?W peak: [^\n]{1,40}throttle: (?:yes|no)\b[^\n]{0,20}"
    r"|\{[^\n]{0,2000}?\"swap_usage\":[^\n]{0,2000})$",
    re.MULTILINE,
)
_MAC_MARKS = ("memory free percentage", "memorystatus_vm_pressure", "vm.swapusage", "RAM Usage:", '"swap_usage"')
_SWAPS = (
    (re.compile(r"vm\.swapusage: total = [\d.]{1,12}M +used = (\d{1,9}(?:\.\d{1,3})?)M"), 2**20),
    (re.compile(r"swap:(\d{1,5}(?:\.\d{1,3})?)/"), 2**30),
    (re.compile(r'"swap_usage": ?(\d{1,15})\b'), 1),
)
_TOTALS = (
    (re.compile(r"The system has (\d{6,15}) \("), 1),
    (re.compile(r"RAM Usage: \d[\d.]{0,8}/(\d{1,5}(?:\.\d{1,2})?)GB"), 2**30),
    (re.compile(r'"ram_total": ?(\d{6,15})\b'), 1),
)
_FREE = re.compile(r"memory free percentage: (\d{1,3})%")
_LEVEL = re.compile(r"memorystatus_vm_pressure_level: (\d)")
_LEVELS = {"1": "normal", "2": "warning", "4": "critical"}
_THROTTLE = re.compile(r"throttle: (yes|no)\b")


def find_mac_memory(text: str) -> list[Span]:
    return runs_of(_MAC_LINE, text) if any(mark in text for mark in _MAC_MARKS) else []


def read_mac_memory(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="mac-memory")
    reading.sheet.state("os.name", "macOS")
    for fact, patterns in (("memory.swap_used_bytes", _SWAPS), ("memory.total_bytes", _TOTALS)):
        for pattern, unit in patterns:
            if match := pattern.search(text):
                reading.sheet.state(fact, int(float(match[1]) * unit))
    free, level = _FREE.search(text), _LEVEL.search(text)
    reading.sheet.state("memory.free_ratio", min(int(free[1]), 100) / 100 if free else None)
    reading.sheet.state("memory.pressure", _LEVELS.get(level[1]) if level else None)
    throttle = _THROTTLE.search(text)
    reading.sheet.state(
        "machine.thermal_pressure", ("heavy" if throttle[1] == "yes" else "nominal") if throttle else None
    )
    return reading


MAC_MEMORY = Importer(
    kind="mac-memory",
    tool="memory_pressure, sysctl vm.swapusage, asitop or macmon",
    tells="main memory of a Mac: free, swapped out",
    trust=61,
    find=find_mac_memory,
    read=read_mac_memory,
    marks=_MAC_MARKS,
    answers=("memory_pressure -Q",),
    command="(?:memory_pressure|sysctl|macmon|sudo asitop|asitop)",
    yields=True,
)
