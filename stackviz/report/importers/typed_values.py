"""What people write for a value in a list of their own: `Win 11`, `2x RTX 3090 (24GB)`, `2.2.0 (cu121)`."""

import re
from dataclasses import replace

from stackviz.report.format import LIMITS
from stackviz.report.format.components import version_with_build
from stackviz.report.format.systems import cuda_of
from stackviz.report.importers.env_report import (
    add_listed_card,
    component_of,
    is_given,
    number_of_bytes,
    state_platform,
    state_system,
    state_text,
)
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of

__all__ = [
    "looks_like_card",
    "looks_like_system",
    "take_capability",
    "take_cards",
    "take_cuda",
    "take_cudnn",
    "take_driver",
    "take_kernel",
    "take_memory",
    "take_package",
    "take_processor",
    "take_rocm",
    "take_system",
    "take_torch",
    "take_wsl",
]

TOOL = "the list"
BY_HAND = "typed by hand"

_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?(?:[a-z+.][\w.+-]{0,60})?)")
_BUILD = re.compile(r"\b(cu\d{2,3})\b|\bcuda[ :-]{0,3}(\d{1,2}\.\d)", re.IGNORECASE)

# ---- torch and CUDA -------------------------------------------------------------------------------------------------


def take_torch(reading: Reading, value: str) -> None:
    """A version, a commit, or the name of a branch; beside it what the build is for."""
    text = state_text(reading, "torch.version", value, TOOL)
    if text is None:
        return
    version = _VERSION.search(text)
    commit = re.search(r"\b[0-9a-f]{40}\b", text)
    if version and not commit:
        reading.sheet.state("torch.version", version[1])
        reading.add_software("pytorch", version[1], BY_HAND)
        _take_build(reading, text)
        return
    reading.sheet.state("torch.git_version", commit[0] if commit else None)
    reading.sheet.mark_missing("torch.version", "not_reported", f"built from source: {text}")
    reading.add_software("pytorch", None, BY_HAND)


def _take_build(reading: Reading, text: str) -> None:
    build = _BUILD.search(text)
    if build:
        reading.sheet.state("torch.cuda_version", build[2] or cuda_of(build[1].lower()) or None)
    elif re.search(r"(?<![a-z])cpu(?:[ -]?only)?\b", text, re.IGNORECASE):
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", f"{TOOL} says {text}")


def take_cuda(reading: Reading, value: str) -> None:
    """`10.0/7.6.5`, `CUDA 10.1, cuDNN 7.6`: the CUDA version first; who told it, where that is said."""
    if not is_given(value):
        for fact in ("torch.cuda_version", "cudnn.version"):
            state_text(reading, fact, value, TOOL)
        return
    cudnn = re.search(r"cudnn\D{0,8}?(\d+(?:\.\d+){1,3})", value, re.IGNORECASE)
    numbers = re.findall(r"(?<![\w.])v?(\d+(?:\.\d+){0,3})(?![\w.])", value[: cudnn.start() if cudnn else None])
    fact = "torch.cuda_version"
    if re.search(r"nvidia-smi|driver", value, re.IGNORECASE):
        fact = "cuda.driver_api_version"
    elif re.search(r"nvcc|toolkit", value, re.IGNORECASE):
        fact = "cuda.toolkit_version"
    short = re.search(r"\bcu\d{2,3}\b", value)
    reading.sheet.state(fact, numbers[0] if numbers else cuda_of(short[0]) if short else None)
    take_cudnn(reading, cudnn[1] if cudnn else (numbers[1] if len(numbers) > 1 else ""))


def take_cudnn(reading: Reading, value: str) -> None:
    match = re.search(r"\d+(?:\.\d+){0,3}", value)
    if match:
        reading.sheet.state("cudnn.version", match[0])
        reading.add_software("cudnn", match[0], BY_HAND)
    else:
        reading.sheet.mark_missing("cudnn.version", "not_reported", f"{TOOL} does not state it")


def take_rocm(reading: Reading, value: str) -> None:
    match = re.search(r"\d{1,2}\.\d{1,2}(?:\.\d{1,3})?", value)
    if match:
        reading.sheet.state("rocm.version", match[0])
        reading.add_software("rocm", match[0], BY_HAND)


def take_driver(reading: Reading, value: str) -> None:
    text = state_text(reading, "nvidia.driver_version", value, TOOL)
    match = re.search(r"(?<![\w.])\d{3}\.\d{1,3}(?:\.\d{1,3})?(?![\w.])", text or "")
    if match:
        reading.sheet.state("nvidia.driver_version", match[0])
        reading.add_software("nvidia-driver", match[0], BY_HAND)


def take_package(reading: Reading, package: str, value: str) -> None:
    component, match = component_of(package), _VERSION.search(value)
    if component and match:
        reading.add_software(component, version_with_build(package, match[1]), BY_HAND)


# ---- the system -----------------------------------------------------------------------------------------------------

_WSL = re.compile(r"\bWSL[ -]?(?P<number>[12])?(?![a-z])", re.IGNORECASE)
_WINDOWS = re.compile(r"\bwin(?:dows)?[ -]?(?P<version>\d{1,2}(?:\.\d)?(?!\d)|server \d{4})?", re.IGNORECASE)
_MAC = re.compile(r"\b(?:mac ?os|os ?x|macbook|mac)\b[ -]?(?:x )?", re.IGNORECASE)
_MAC_NAMES = {"tahoe": "26", "sequoia": "15", "sonoma": "14", "ventura": "13", "monterey": "12", "big sur": "11"}
_MAC_NAME = re.compile(rf"\b({'|'.join(_MAC_NAMES)})\b", re.IGNORECASE)
_DISTRIBUTIONS = {
    "ubuntu": "Ubuntu", "debian": "Debian GNU/Linux", "fedora": "Fedora Linux", "arch linux": "Arch Linux",
    "arch": "Arch Linux", "manjaro": "Manjaro Linux", "centos": "CentOS", "rhel": "Red Hat Enterprise Linux",
    "red hat enterprise linux": "Red Hat Enterprise Linux", "rocky linux": "Rocky Linux", "rocky": "Rocky Linux",
    "almalinux": "AlmaLinux", "opensuse": "openSUSE", "linux mint": "Linux Mint", "pop!_os": "Pop!_OS",
    "nixos": "NixOS", "gentoo": "Gentoo", "kali": "Kali GNU/Linux", "amazon linux": "Amazon Linux",
    "cachyos": "CachyOS Linux", "endeavouros": "EndeavourOS", "alpine": "Alpine Linux", "linux": "Linux",
}  # fmt: skip
_DISTRIBUTION = re.compile(
    rf"(?<![\w/])({'|'.join(re.escape(name) for name in sorted(_DISTRIBUTIONS, key=len, reverse=True))})"
    r"(?:\s{1,3}(?:linux|lts|stream|server|desktop|core))?[\s-]{0,3}v?(\d{1,2}(?:\.\d{1,2}){0,2})?(?![\w-]*\.\d)",
    re.IGNORECASE,
)
_ARCH = re.compile(r"\b(x86_64|amd64|aarch64|arm64)\b", re.IGNORECASE)


def looks_like_system(value: str) -> bool:
    return any(pattern.search(value[:200]) for pattern in (_WSL, _WINDOWS, _MAC, _MAC_NAME, _DISTRIBUTION))


def take_system(reading: Reading, value: str) -> None:
    """`Win 11`, `ubuntu22.04`, `WSL2 (Ubuntu 22.04) on Windows 11`, `macOS Sequoia`; else as tools write it."""
    text = clean(value.partition("\n")[0], 200)
    if arch := _ARCH.search(text):
        reading.sheet.state("os.arch", {"amd64": "x86_64"}.get(arch[1].lower(), arch[1].lower()))
    if re.search(r"\b(?:Linux|macOS|Windows|Darwin)-\d", text):
        state_platform(reading, text, TOOL, names_system=True)
        return
    name, version = _system(reading, text)
    if not name:
        state_system(reading, value, TOOL)
        return
    reading.sheet.state("os.name", name)
    reading.sheet.state("os.version", version)
    reading.sheet.mark_missing("os.version", "not_reported", f"{TOOL} says {text}")
    if name in {"macOS", "Windows"}:
        reading.add_software(name.lower(), version, BY_HAND)


def _system(reading: Reading, text: str) -> tuple[str, str | None]:
    """Name and version; ("", None) for what nobody calls a system."""
    linux = _DISTRIBUTION.search(text)
    if wsl := _WSL.search(text):
        reading.sheet.state("os.wsl", wsl["number"] or "2")
        return (_DISTRIBUTIONS[linux[1].lower()], linux[2]) if linux else ("Linux", None)
    if mac := (_MAC_NAME.search(text) or _MAC.search(text)):
        number = re.search(r"(?<![\w.])(\d{2}(?:\.\d{1,2}){0,2})(?![\w.])", text)
        return "macOS", number[1] if number else _MAC_NAMES.get(mac[0].lower())
    if windows := _WINDOWS.search(text):
        rest = re.match(r"[ -]{1,3}(?:pro|home|enterprise|\(?\d{2}H\d)\b", text[windows.end() :], re.IGNORECASE)
        version = windows["version"]
        return "Windows", f"{version}{rest[0].replace('(', '')}" if version and rest else version
    return (_DISTRIBUTIONS[linux[1].lower()], linux[2]) if linux else ("", None)


def take_kernel(reading: Reading, value: str) -> None:
    """`6.8.0-45-generic`; that of the Windows Subsystem for Linux says so."""
    match = re.search(r"\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+-]{0,60}", value)
    if match:
        reading.sheet.state("os.kernel", f"Linux {match[0]}")
        if "microsoft" in match[0].lower():
            reading.sheet.state("os.wsl", "1" if match[0].endswith("-Microsoft") else "2")


def take_wsl(reading: Reading, value: str) -> None:
    """WSL 2 has had versions of its own since 2.0; WSL 1 is a number alone."""
    match = re.search(r"\b([12])(?:\.\d|\b)", value)
    if match:
        reading.sheet.state("os.wsl", match[1])


def take_processor(reading: Reading, value: str) -> None:
    if is_given(value) and re.search(r"[A-Za-z]{2}", value):
        reading.sheet.state("cpu.model", clean(value.partition("\n")[0], 150))


def take_memory(reading: Reading, value: str) -> None:
    reading.sheet.state("memory.total_bytes", number_of_bytes(value.upper().replace("GIB", "GB")))


# ---- cards ----------------------------------------------------------------------------------------------------------

_COUNT = re.compile(
    r"^\s{0,80}(\d{1,2})\s?[x×*]\s{0,80}|\s{0,80}\(?[x×*]\s?(\d{1,2})\)?\s{0,80}$|^\s{0,80}(dual)\s{1,80}",
    re.IGNORECASE,
)
_SIZE = re.compile(r"[(\[]?\b(\d{1,3}) ?G(?:i?B)?\b(?: ?(?:of )?(?:VRAM|GDDR\dX?|memory))?[)\]]?", re.IGNORECASE)
_SIZED_BY_NAME = re.compile(r"\b(?:[AHBV]\d{2,3}|MI\d{2,3}\w?|L40S?|Tesla)\b")  # the size is part of the name
_NO_CARD = frozenset(
    {"nvidia", "amd", "intel", "apple", "yes", "no", "cpu", "cpu only", "no gpu", "-", "--", "not applicable", "nope"}
)
_GEFORCE = re.compile(
    r"^(?:nvidia )?(?:geforce )?(?P<line>rtx|gtx)[ -]?(?P<number>[2345]0[5-9]0|1[06]\d0|9\d0|7[5-8]0)"
    r"(?P<rest>(?: ?(?:ti|super|d)\b)*)(?P<laptop> (?:laptop|mobile)(?: gpu)?)?$",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?<![a-z])[rg]tx ?\d{3,4}", re.IGNORECASE)
_CHIP = re.compile(r"(?<![\w-])(?:Apple )?(M[1-9](?: (?:Pro|Max|Ultra))?)(?![\w-])", re.IGNORECASE)


def looks_like_card(value: str) -> bool:
    start = value[:200]
    return vendor_of(start) != "unknown" or bool(_CHIP.search(start) or _JOINED.search(start))


_WITH_CAPABILITY = re.compile(
    r"[(\[,]?[ ]{0,2}\b(?:(?:CUDA |compute ){0,2}capability|CC|SM)[ :=]{0,3}(\d{1,2}\.\d)(?![\w.])[ ]{0,2}[)\]]?",
    re.IGNORECASE,
)


def take_cards(reading: Reading, value: str) -> None:
    """`Tesla P4`, `2x RTX 3090 (24GB)`, `V100 * 4`, several with commas between; "none" and "CPU" are no cards.

    A capability behind the name, `GTX 1050 (compute capability 6.1)`, is that of the card where one is listed.
    """
    if capability := _WITH_CAPABILITY.search(value):
        take_cards(reading, value[: capability.start()] + value[capability.end() :])
        take_capability(reading, capability[1])
        return
    if driver := re.search(r"\bdriver\D{0,12}(\d{3}\.\d{1,3}(?:\.\d{1,3})?)(?![\w.])", value, re.IGNORECASE):
        take_driver(reading, driver[1])
        value = value[: driver.start()].rstrip(" ,;(")
    for part in re.split(r"[,;]|\band\b|\s[+&]\s", value)[:16]:
        count = _COUNT.search(part)
        written = part[: count.start()] + part[count.end() :] if count else part
        number = int(count[1] or count[2] or 2) if count else 1
        _add_cards(reading, written, number)


def _add_cards(reading: Reading, written: str, count: int) -> None:
    size = None if _SIZED_BY_NAME.search(written) else _SIZE.search(written)
    name = clean(written[: size.start()] + written[size.end() :] if size else written, 150).strip(" ()")
    if not is_given(name) or name.lower().strip(".") in _NO_CARD or not re.search(r"\w", name):
        return
    chip = _CHIP.search(name)
    if chip and vendor_of(name) in {"apple", "unknown"}:
        _add_chip(reading, f"Apple {chip[1].title()}")
        return
    vendor = vendor_of(name)
    if vendor == "unknown" and reading.facts.get("torch.cuda_version"):
        vendor = "nvidia"
    name = _GEFORCE.sub(_with_maker, name)
    memory_bytes = int(size[1]) * 2**30 if size else None
    for _ in range(min(count, LIMITS.cards)):
        add_listed_card(reading, len(reading.cards), name, TOOL, vendor, memory_bytes)


def _with_maker(match: re.Match[str]) -> str:
    """`rtx3090 ti` -> `NVIDIA GeForce RTX 3090 Ti`, as the driver calls it."""
    rest = " ".join(re.findall("ti|super|d", match["rest"].lower())).title().replace("Super", "SUPER")
    laptop = "Laptop GPU" if match["laptop"] else ""
    return " ".join(filter(None, ("NVIDIA GeForce", match["line"].upper(), match["number"], rest, laptop)))


def _add_chip(reading: Reading, name: str) -> None:
    if reading.cards:
        return
    reading.sheet.state("apple.chip", name)
    card = CardReading(index=0, kind="soc", vendor="apple", reported_name=name)
    card.sheet.state("unified_memory", value=True)
    card.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    card.sheet.mark_missing("gpu_cores", "not_reported", f"{TOOL} does not state it")
    reading.cards.append(card.card())


def take_capability(reading: Reading, value: str) -> None:
    """Of the one card that is listed; of several nobody says whose it is."""
    match = re.search(r"(?<![\d.])(\d{1,2}\.\d)(?![\d.])|\bsm_?(\d{2,3})\b", value)
    if match and len(reading.cards) == 1 and "compute_capability" not in reading.cards[0].facts:
        capability = match[1] or f"{match[2][:-1]}.{match[2][-1]}"
        facts = {**reading.cards[0].facts, "compute_capability": capability}
        reading.cards[0] = replace(reading.cards[0], facts=facts)
