"""`lscpu` and /proc/cpuinfo -> the processor. Reports of an environment hold either: they ask `read_processor`."""

import re
from collections.abc import Callable, Iterable

from stackviz.report.importers.env_report import number_of_bytes
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER", "is_processor_line", "read_processor"]

KIND = "lscpu"

_FEATURES = frozenset(
    {
        "sse4_2", "avx", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_bf16",
        "amx_fp16", "amx_int8", "amx_tile", "f16c", "fma", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve",
        "sve2", "svebf16", "sme", "sme2", "fphp", "neon",
    }
)  # fmt: skip
_START = re.compile(
    r"^[ \t>]{0,8}(?:Architecture:[ \t]+[a-z]\w+[ \t]*$|(?:processor|vendor_id|model name)[ \t]*:[ \t]*\S)",
    re.MULTILINE,
)
_LINE = re.compile(r"[ \t>]{0,8}([A-Za-z][\w ()./-]{0,60}?)[ \t]*:[ \t]*(.*)$")
_INSIDE_A_REPORT = re.compile(r"(?:^|\n)[ \t>]*(?:CPU:|CPU Info[ \t]*\n[ \t>]*=+)[ \t]*\n[ \t]*\Z")
_KNOWN = re.compile(
    r"(?:Architecture|CPU|Vendor ID|BIOS|Model|Thread|Core|Socket|Cluster|Stepping|Byte Order|Address sizes|On-line|"
    r"Frequency boost|BogoMIPS|Flags|Virtualization|Hypervisor|L\d|Caches|NUMA|Vulnerability|Vulnerabilities|Itlb|"
    r"Physical|Logical|Off-line|Dispatching|Drawer|Book)\b"
)


def find_lscpu(text: str) -> list[Span]:
    """Each block is walked once, whether it is a processor or not."""
    spans: list[Span] = []
    end = 0
    for match in _START.finditer(text):
        if match.start() < end:
            continue
        end = _end_of_block(text, match.start())
        if not _is_inside_a_report(text, match.start()) and _is_processor(text[match.start() : end]):
            spans.append(Span(match.start(), end))
        if len(spans) == 16:
            break
    return spans


def _end_of_block(text: str, start: int) -> int:
    """The end of the last line that looks like `label: value`; blank lines part the processors of /proc/cpuinfo."""
    at = end = start
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at : min(line_end, at + 200)]
        if _LINE.match(line):
            end = line_end
        elif line.strip():
            break
        at = line_end + 1
    return max(end, min(len(text), start + 1))


def _is_inside_a_report(text: str, at: int) -> bool:
    return bool(_INSIDE_A_REPORT.search(text[max(0, at - 120) : at]))


def _is_processor(block: str) -> bool:
    return "model name" in block or "CPU(s):" in block or "cpu family" in block or "CPU implementer" in block


def is_processor_line(line: str) -> bool:
    """Whether lscpu prints such a line."""
    return bool(_KNOWN.match(line.strip()))


def read_lscpu(text: str) -> Reading:
    reading = Reading(kind=KIND)
    read_processor(reading, text.splitlines(), is_system=True)
    if not reading.facts:
        reading.problem("no information about a processor")
    return reading


def read_processor(reading: Reading, lines: Iterable[str], *, is_system: bool = False) -> None:
    """`is_system`: the architecture is the system's too; reports of an environment name that themselves."""
    values: dict[str, str] = {}
    processors = models = 0
    for line in lines:
        match = _LINE.match(line[:20_000])
        if not match:
            continue
        processors += match[1] == "processor"
        models += match[1] == "model name"
        values.setdefault(match[1], match[2].strip())
    for label, take in _TAKERS.items():
        if values.get(label):
            take(reading, values[label])
    _count_cores(reading, values)
    if max(processors, models) > 1:
        reading.sheet.state("cpu.cores_logical", max(processors, models))
    if is_system:
        reading.sheet.state("os.arch", reading.facts.get("cpu.arch"))


def _take_text(fact: str) -> Callable[[Reading, str], None]:
    def take(reading: Reading, written: str) -> None:
        reading.sheet.state(fact, written if written != "-" else None)

    return take


def _take_count(fact: str) -> Callable[[Reading, str], None]:
    def take(reading: Reading, written: str) -> None:
        reading.sheet.state(fact, int(written) if re.fullmatch(r"[1-9]\d{0,4}", written) else None)

    return take


def _take_clock(reading: Reading, written: str) -> None:
    match = re.match(r"(\d{1,6})[.,]?(\d{0,4})$", written)
    if match:
        reading.sheet.state("cpu.clock_max_hz", float(f"{match[1]}.{match[2] or 0}") * 1e6)


def _take_features(reading: Reading, written: str) -> None:
    reading.sheet.state("cpu.features", " ".join(sorted(_FEATURES & set(written.split()))) or None)


def _take_cache(reading: Reading, written: str) -> None:
    """`64 MiB (2 instances)` is the sum of all; older versions print the size of one: `16384K`."""
    size = number_of_bytes(written) or number_of_bytes(re.sub(r"([KMG])$", r"\1B", written))
    instances = re.search(r"\((\d{1,4}) instances?\)", written)
    if size:
        reading.sheet.state("cpu.cache_last_level_bytes", size // max(1, int(instances[1]) if instances else 1))


def _take_hypervisor(reading: Reading, written: str) -> None:
    reading.sheet.state("machine.virtualization", {"microsoft": "hyperv"}.get(written.lower(), written.lower()))


def _count_cores(reading: Reading, values: dict[str, str]) -> None:
    counts = [values.get(label, "") for label in ("Core(s) per socket", "Socket(s)")]
    if all(re.fullmatch(r"[1-9]\d{0,3}", count) for count in counts):
        reading.sheet.state("cpu.cores_physical", int(counts[0]) * int(counts[1]))


_TAKERS: dict[str, Callable[[Reading, str], None]] = {
    "Architecture": lambda reading, written: reading.sheet.state("cpu.arch", None if written.isdigit() else written),
    "Model name": _take_text("cpu.model"),
    "model name": _take_text("cpu.model"),
    "CPU(s)": _take_count("cpu.cores_logical"),
    "Socket(s)": _take_count("cpu.sockets"),
    "CPU max MHz": _take_clock,
    "Flags": _take_features,
    "flags": _take_features,
    "Features": _take_features,
    "L3 cache": _take_cache,
    "L3": _take_cache,
    "Hypervisor vendor": _take_hypervisor,
}

IMPORTER = Importer(
    kind=KIND,
    tool="lscpu, /proc/cpuinfo",
    tells="processor, cores, vector extensions",
    trust=74,
    find=find_lscpu,
    marks=("Architecture:", "processor", "vendor_id", "model name"),
    read=read_lscpu,
    command="lscpu",
)
