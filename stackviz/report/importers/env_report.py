"""What reports of an environment share: names of systems, ways of not telling, packages, lists of cards."""

import re
from itertools import combinations

from stackviz.report.format import LIMITS
from stackviz.report.format.components import component_of
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of

__all__ = [
    "add_listed_card",
    "check_torch_versions",
    "component_of",
    "is_given",
    "number_of_bytes",
    "state_platform",
    "state_python",
    "state_system",
    "state_text",
    "state_truth",
]

_ABSENT_BY_TEXT = {
    "could not collect": "not_reported",
    "n/a": "not_applicable",
    "na": "not_applicable",
    "none": "not_applicable",
    "no cuda": "not_installed",
    "not installed": "not_installed",
    "not found": "not_installed",
    "unavailable": "not_reported",
    "unknown": "not_reported",
    "<fill in>": "not_reported",
    "": "not_reported",
}
"""What is written instead of a value, in lower case -> why nothing is told. On a Mac there is no CUDA to be found."""

_TRUTHS = {"true": True, "yes": True, "available": True, "false": False, "no": False, "unavailable": False}

_BYTES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_WINDOWS = re.compile(r".{0,20}?\bWindows\b\s*(.{0,60})$", re.DOTALL)
_MAC = re.compile(r"(?:macos|mac ?os ?x|os ?x|darwin)\s*(\d[\d.]*)?", re.IGNORECASE)
_LINUX = re.compile(r"([^\d(]{1,80}?)(?:\s+release)?\s+(\d[\w.-]{0,30})")
_PLATFORM = re.compile(r"(Linux|macOS|Darwin|Windows)-(\S{1,120})")
_ARCH = re.compile(r"\b(x86_64|aarch64|arm64|AMD64|ppc64le|i386|i686|riscv64|s390x)\b")


# ---- ways of telling and of not telling -----------------------------------------------------------------------------


def is_given(written: str) -> bool:
    """Whether this is a value, and not one of the ways of saying none."""
    return clean(written).lower() not in _ABSENT_BY_TEXT


def state_text(reading: Reading, fact: str, written: str, tool: str) -> str | None:
    """What was written in the first line; None, with the reason noted, where it is one of the ways of not telling."""
    text = clean(written.partition("\n")[0])
    reason = _ABSENT_BY_TEXT.get(text.lower())
    if reason is None:
        return text
    if text.lower() == "no cuda" and reading.facts.get("os.name") == "macOS":
        reason = "not_applicable"
    reading.sheet.mark_missing(fact, reason, f"{tool} says {text}" if text else f"{tool} leaves it empty")
    return None


def state_truth(reading: Reading, fact: str, written: str, tool: str) -> None:
    text = state_text(reading, fact, written, tool)
    if text is None:
        return
    truth = _TRUTHS.get(text.lower())
    reading.sheet.state(fact, truth)
    if truth is None:
        reading.sheet.mark_missing(fact, "not_reported", f"{tool} says {text}")


def number_of_bytes(written: str) -> int | None:
    """`16 GB` -> bytes; the tools read here mean powers of 1024."""
    match = re.search(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)i?B\b", written)
    return int(float(match[1]) * _BYTES[f"{match[2]}B"]) if match else None


# ---- the system and Python ------------------------------------------------------------------------------------------


def state_system(reading: Reading, written: str, tool: str) -> None:
    """`Ubuntu 22.04.1 LTS (x86_64)`, `Fedora release 34 (Thirty Four)`, `Mac OSX 10.14`, `Microsoft Windows 10 Pro`."""
    text = state_text(reading, "os.name", written, tool)
    if text is None:
        reading.sheet.mark_missing("os.version", "not_reported", f"{tool} does not name the system")
        return
    arch = _ARCH.search(text)
    if arch:
        reading.sheet.state("os.arch", arch[1])
    name, version = _name_and_version(text, reading)
    reading.sheet.state("os.name", name)
    reading.sheet.state("os.version", version)
    reading.sheet.mark_missing("os.version", "not_reported", f"{tool} says {text}")
    if name in {"macOS", "Windows"}:
        reading.add_software(name.lower(), version, tool)


def _name_and_version(text: str, reading: Reading) -> tuple[str, str | None]:
    text = re.sub(r"\s*\((?:x86_64|aarch64|arm64|AMD64|ppc64le|i686|riscv64|s390x)\)", "", text)
    if text.lower() in {"win32", "cygwin"}:
        return "Windows", None
    if text.lower() == "linux" or text.lower().startswith("linux-"):
        return "Linux", None
    mac = _MAC.match(text)
    if mac:
        return "macOS", mac[1]
    windows = _WINDOWS.match(text)
    if windows:
        return "Windows", _windows_version(windows[1], reading)
    linux = _LINUX.match(text)
    return (linux[1].strip(), linux[2]) if linux else (text.partition("(")[0].strip() or text, None)


def _windows_version(written: str, reading: Reading) -> str | None:
    build = re.search(r"\((\d+(?:\.\d+){1,3})\b", written)
    if build:
        reading.sheet.state("os.build", build[1])
    return clean(re.sub(r"\(.*", "", written)) or None


def state_platform(reading: Reading, written: str, tool: str, *, names_system: bool) -> None:
    """What platform.platform() prints: `Linux-6.8.0-45-generic-x86_64-with-glibc2.39`.

    `names_system`: nothing else in this dump does.
    """
    match = _PLATFORM.search(written.partition("\n")[0])
    if not match:
        return
    system, rest = match[1], match[2]
    arch = _ARCH.search(rest.replace("-", " "))
    if arch:
        reading.sheet.state("python.arch", arch[1])
    if system == "Linux":
        _take_linux(reading, rest)
    elif system == "Windows":
        reading.sheet.state("os.build", (re.search(r"\d+\.\d+\.\d+", rest) or [None])[0])
    if names_system:
        _take_system_of_platform(reading, system, rest, tool)


def _take_linux(reading: Reading, rest: str) -> None:
    kernel = re.split(r"-(?:x86_64|aarch64|ppc64le|i686|riscv64|s390x|with)\b", rest)[0]
    reading.sheet.state("os.kernel", f"Linux {kernel}")
    reading.add_software("linux", kernel, "platform.platform")
    libc = re.search(r"-with-(glibc|musl)[-_]?(\d[\d.]*)?", rest)
    if libc:
        reading.sheet.state("os.libc", " ".join(part for part in libc.groups() if part))
    if "microsoft" in kernel.lower():
        version = "1" if kernel.endswith("-Microsoft") else "2"
        reading.sheet.state("os.wsl", version)
        reading.add_software("wsl", version, "platform.platform")


def _take_system_of_platform(reading: Reading, system: str, rest: str, tool: str) -> None:
    arch = _ARCH.search(rest.replace("-", " "))
    reading.sheet.state("os.arch", arch[1] if arch else None)
    name = {"Darwin": "macOS"}.get(system, system)
    reading.sheet.state("os.name", name)
    if name == "Linux":
        reading.sheet.mark_missing("os.version", "not_reported", f"{tool} states the kernel, not the distribution")
    elif system != "Darwin":
        version = rest.partition("-")[0]
        reading.sheet.state("os.version", version)
        reading.add_software(name.lower(), version, tool)


def state_python(reading: Reading, written: str, tool: str) -> None:
    text = state_text(reading, "python.version", written, tool)
    match = re.search(r"(?<![\d.])\d+\.\d+(?:\.\d+[^\s,;)|]{0,20})?", text or "")
    if match:
        reading.sheet.state("python.version", match[0])
        reading.add_software("python", match[0], tool)
        _state_compiler(reading, text or "")
    elif text:
        reading.sheet.mark_missing("python.version", "not_reported", f"{tool} says {text}")


_MSC = re.compile(r"\[MSC v\.\d{3,5} (?:64 bit \((AMD64|ARM64)\)|(32) bit \(Intel\))\]")


def _state_compiler(reading: Reading, text: str) -> None:
    """Python for Windows names the compiler that built it: `[MSC v.1942 64 bit (AMD64)]`."""
    if match := _MSC.search(text):
        reading.sheet.state("python.arch", match[1] or "x86")


# ---- cards and packages ---------------------------------------------------------------------------------------------


def add_listed_card(
    reading: Reading,
    index: int,
    name: str,
    tool: str,
    vendor: str = "",
    memory_bytes: int | None = None,
    **facts: str | None,
) -> None:
    """A card this tool names, with its facts; none where there is one of this number already, or no room."""
    if len(reading.cards) >= LIMITS.cards or any(card.index == index for card in reading.cards):
        return
    card = CardReading(
        index=index, kind="gpu", vendor=vendor or vendor_of(name), reported_name=name, memory_bytes=memory_bytes
    )
    if not memory_bytes:
        card.sheet.mark_missing("memory_bytes", "not_reported", f"{tool} does not state it")
    for fact, value in facts.items():
        card.sheet.state(fact, value)
    reading.cards.append(card.card())


def check_torch_versions(reading: Reading) -> None:
    """Two versions of torch are a problem worth saying; one told with and without its local part is one."""
    listed = sorted({str(software.version) for software in reading.software if software.component == "pytorch"})
    if any(_differ(version, other) for version, other in combinations(listed[:20], 2)):
        reading.problem(f"torch versions disagree: {', '.join(listed)}")


def _differ(version: str, other: str) -> bool:
    (public, _, local), (other_public, _, other_local) = version.partition("+"), other.partition("+")
    return public != other_public or bool(local and other_local and local != other_local)
