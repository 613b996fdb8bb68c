"""Short commands that name the system: uname, os-release, lsb_release, sw_vers, ldd, mokutil, python -VV, variables.

Formats: uname(1), os-release(5), lsb_release(1), sw_vers(1), ldd(1), mokutil(1) and
https://docs.python.org/3/using/cmdline.html.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial

from stackviz.base.private import without_homes
from stackviz.report.importers.env_report import state_platform, state_python, state_system
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span, fields, runs_of
from stackviz.report.importers.reading import Reading

__all__ = [
    "LDD",
    "MOKUTIL",
    "OS_RELEASE",
    "PLATFORM",
    "PYTHON_IMPORTER",
    "SW_VERS",
    "UNAME",
    "VARIABLES_IMPORTER",
    "VER",
]

_KERNEL = r"\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+-]{0,80}"
_WINDOWS_VERSION = r"10\.0\.\d{5}(?:\.\d{1,6})?"

# ---- the system -----------------------------------------------------------------------------------------------------

_SYSTEM: Mapping[str, str] = {
    "uname": rf"(?:Linux|Darwin) [\w.-]{{1,80}} (?:{_KERNEL}) [^\n]{{3,300}}",
    "release": rf"{_KERNEL}-(?:[Mm]icrosoft|generic|azure|aws|gcp|arch\d|zen\d|lts|amd64|default"
               r"|tegra|lowlatency|cloud)[\w.+-]{0,60}",
    "os_release": r"(?:PRETTY_NAME|NAME|VERSION|VERSION_ID|VERSION_CODENAME|ID|ID_LIKE|\w{2,30}_URL|LOGO"
                  r"|CPE_NAME|ANSI_COLOR"
                  r"|UBUNTU_CODENAME|BUILD_ID|VARIANT|VARIANT_ID|PLATFORM_ID|SUPPORT_END"
                  r"|DEFAULT_HOSTNAME)=[^\n]{0,200}",
    "lsb": r"(?:Distributor ID|Description|Release|Codename):\t[^\n]{1,80}|No LSB modules are available\.",
    "sw_vers": r"(?:ProductName|ProductVersion|ProductVersionExtra|BuildVersion):[ \t]+\S[^\n]{0,60}",
    "ldd": r"ldd \([^\n)]{2,80}\) (?P<glibc>\d\.\d{1,2})[^\n]{0,20}|musl libc \(\w{3,12}\)"
           r"|GNU C Library \([^\n)]{2,80}\) [^\n]{0,60}",
    "mokutil": r"SecureBoot (?P<boot>enabled|disabled)|EFI variables are not supported on this system",
    "windows": rf"Microsoft Windows \[[^\n\]\d]{{1,20}}(?P<windows>{_WINDOWS_VERSION})\]",
    "platform": r"'?(?:Linux|macOS|Windows)-\d[\w.+-]{6,160}(?:-with-[\w.-]{3,40}|-64bit|-SP\d)'?(?: [\w]{3,12})?",
}  # fmt: skip
_MARKS: Mapping[str, tuple[str, ...]] = {
    "uname": ("Linux ", "Darwin "),
    "release": ("-generic", "icrosoft", "-azure", "-aws", "-arch", "-tegra", "-amd64", "-zen", "-lts", "-cloud"),
    "os_release": ("NAME=",),
    "lsb": ("Distributor ID", "Release:"),
    "sw_vers": ("ProductName", "ProductVersion"),
    "ldd": ("ldd (", "musl libc", "GNU C Library"),
    "mokutil": ("SecureBoot ", "EFI variables"),
    "windows": ("Microsoft Windows [",),
    "platform": ("Linux-", "macOS-", "Windows-"),
}
"""Which of these words a text must have for the line to be in it."""


@cache
def _line(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"^(?:{'|'.join(f'(?P<k_{name}>{_SYSTEM[name]})' for name in names)})[ \\t]*$", re.MULTILINE)


def _find(names: tuple[str, ...], text: str) -> list[Span]:
    if not any(mark in text for name in names for mark in _MARKS[name]):
        return []
    return runs_of(_line(names), text)


def _read(kind: str, names: tuple[str, ...], text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind=kind)
    _take_fields(reading, text)
    for number, match in enumerate(_line(names).finditer(text)):
        name = next((name for name in names if match[f"k_{name}"]), "")
        if name in _TAKERS:
            _TAKERS[name](reading, match)
        if number == MOST_BLOCKS:
            break
    return reading


def _take_uname(reading: Reading, match: re.Match[str]) -> None:
    """`Linux host 6.8.0-45-generic #45-Ubuntu SMP ... x86_64 GNU/Linux`, `Darwin host 24.1.0 Darwin ... arm64`."""
    words = match[0].split()
    arch = next(
        (part for part in reversed(words) if part in {"x86_64", "aarch64", "arm64", "ppc64le", "riscv64"}), None
    )
    reading.sheet.state("os.arch", arch)
    if words[0] == "Darwin":
        reading.sheet.state("os.name", "macOS")
        reading.sheet.mark_missing("os.version", "not_reported", "uname states the kernel, not the version of macOS")
        reading.sheet.state("os.kernel", f"Darwin {words[2]}")
        return
    _take_kernel(reading, words[2])


def _take_kernel(reading: Reading, kernel: str) -> None:
    """WSL 1 has a kernel 4.4 that ends in -Microsoft; that of WSL 2 is a real one: -microsoft-standard-WSL2."""
    reading.sheet.state("os.name", "Linux")
    reading.sheet.mark_missing("os.version", "not_reported", "uname states the kernel, not the distribution")
    reading.sheet.state("os.kernel", f"Linux {kernel}")
    reading.add_software("linux", kernel, "uname")
    if "microsoft" in kernel.lower():
        version = "1" if kernel.endswith("-Microsoft") else "2"
        reading.sheet.state("os.wsl", version)
        reading.add_software("wsl", version, "uname")


def _take_libc(reading: Reading, match: re.Match[str]) -> None:
    number = match["glibc"] or next(iter(re.findall(r"(?:version|release) (\d\.\d{1,2})", match[0])), "")
    reading.sheet.state("os.libc", "musl" if match[0].startswith("musl") else f"glibc {number}" if number else None)


def _take_boot(reading: Reading, match: re.Match[str]) -> None:
    if match["boot"]:
        reading.sheet.state("os.secure_boot", match["boot"] == "enabled")
    else:
        reading.sheet.mark_missing("os.secure_boot", "not_applicable", "mokutil says that there are no EFI variables")


def _take_windows(reading: Reading, match: re.Match[str]) -> None:
    """Builds from 22000 on are Windows 11, whatever the version says."""
    reading.sheet.state("os.name", "Windows")
    reading.sheet.state("os.version", "11" if int(match["windows"].split(".")[2]) >= 22_000 else "10")
    reading.sheet.state("os.build", match["windows"])


def _take_platform(reading: Reading, match: re.Match[str]) -> None:
    written, _, machine = match[0].strip("' ").partition(" ")
    reading.sheet.state("python.arch", machine.strip("'") or None)
    state_platform(reading, written, "platform.platform", names_system=False)
    reading.sheet.state("os.name", written.partition("-")[0])


_TAKERS: Mapping[str, Callable[[Reading, re.Match[str]], None]] = {
    "uname": _take_uname,
    "release": lambda reading, match: _take_kernel(reading, match[0].strip()),
    "ldd": _take_libc,
    "mokutil": _take_boot,
    "windows": _take_windows,
    "platform": _take_platform,
}


def _take_fields(reading: Reading, text: str) -> None:
    """os-release, lsb_release, sw_vers: labels with values."""
    values = {name: value.strip("\"'") for name, value in fields(text).items()}
    if "productversion" in values or "productname" in values:
        reading.sheet.state("os.name", "macOS")
        reading.sheet.state("os.version", values.get("productversion"))
        reading.sheet.state("os.build", values.get("buildversion"))
        if "productversion" in values:
            reading.add_software("macos", values["productversion"], "sw_vers")
    elif "distributor id" in values:
        reading.sheet.state("os.name", values["distributor id"])
        reading.sheet.state("os.version", values.get("release"))
    elif "name" in values or "pretty_name" in values:
        if "name" in values:
            reading.sheet.state("os.name", values["name"])
            reading.sheet.state("os.version", values.get("version_id"))
        else:
            state_system(reading, values["pretty_name"], "/etc/os-release")


def _importer(
    kind: str, names: tuple[str, ...], *, tool: str, tells: str, trust: int, command: str, answers: tuple[str, ...]
) -> Importer:
    return Importer(
        kind=kind,
        tool=tool,
        tells=tells,
        trust=trust,
        find=partial(_find, names),
        read=partial(_read, kind, names),
        command=command,
        answers=answers,
        yields=True,
    )


UNAME = _importer(
    "uname",
    ("uname", "release"),
    tool="uname -a",
    tells="kernel, architecture, WSL 1 or 2",
    trust=69,
    command="uname",
    answers=("uname -a", "uname -r"),
)
OS_RELEASE = _importer(
    "os-release",
    ("os_release", "lsb"),
    tool="cat /etc/os-release",
    tells="distribution and version; lsb_release -a too",
    trust=71,
    command=r"(?:lsb_release|cat /etc/)",
    answers=("cat /etc/os-release", "lsb_release -a"),
)
SW_VERS = _importer(
    "sw-vers",
    ("sw_vers",),
    tool="sw_vers",
    tells="macOS: version and build",
    trust=71,
    command="sw_vers",
    answers=("sw_vers",),
)
LDD = _importer(
    "ldd-version",
    ("ldd",),
    tool="ldd --version",
    tells="the C library",
    trust=65,
    command="ldd --version",
    answers=("ldd --version",),
)
MOKUTIL = _importer(
    "mokutil",
    ("mokutil",),
    tool="mokutil --sb-state",
    tells="Secure Boot",
    trust=66,
    command="mokutil",
    answers=("mokutil --sb-state",),
)
VER = _importer(
    "windows-version",
    ("windows",),
    tool="ver",
    tells="build of Windows",
    trust=64,
    command=r"(?:cmd /c )?ver\b",
    answers=("ver",),
)
PLATFORM = _importer(
    "python-platform",
    ("platform",),
    tool="platform.platform()",
    tells="kernel, C library, what Python is built for",
    trust=57,
    command="",
    answers=(),
)

# ---- python -VV, pip --version --------------------------------------------------------------------------------------

_PYTHON = re.compile(
    r"^(?:(?P<python>Python \d\.\d{1,2}\.\d{1,2}\S{0,12}(?: \|?[(\[|][^\n]{3,200})?)"
    r"|(?P<pip>pip \d{1,3}\.[\d.]{1,10} from [^\n]{3,300} \(python \d\.\d{1,2}\)))[ \t]*$",
    re.MULTILINE,
)


def find_python(text: str) -> list[Span]:
    return runs_of(_PYTHON, text) if "Python " in text or "(python " in text else []


def read_python(text: str) -> Reading:
    """Never raises. The banner of the prompt on Windows names the compiler and with it the architecture."""
    reading = Reading(kind="python-version")
    for match in list(_PYTHON.finditer(text))[:8]:
        if match["python"]:
            state_python(reading, match["python"], "python")
            if re.search(r"\bMSC v\.|\bon win32\b", match["python"]):
                reading.sheet.state("os.name", "Windows")
            elif re.search(r"\bon darwin\b", match["python"]):
                reading.sheet.state("os.name", "macOS")
        else:
            version = match["pip"].rpartition("(python ")[2].rstrip(") ")
            reading.add_software("python", version, "pip")
    return reading


_PLATFORM_COMMAND = 'python -c "import platform; print(platform.platform(), platform.machine())"'
PYTHON_IMPORTER = Importer(
    kind="python-version",
    tool="python -VV, pip --version",
    tells="the version of Python; on Windows what it is built for",
    trust=57,
    find=find_python,
    read=read_python,
    answers=(
        "python -VV; python -m pip --version",
        f"python -VV; python -m pip --version; {_PLATFORM_COMMAND}",
    ),
    command=r"(?:\S{0,80}/)?(?:python[\w.]{0,6} (?:-VV?|--version|-m pip --version)|pip3? --version)",
    yields=True,
)

# ---- variables ------------------------------------------------------------------------------------------------------

_NAMES = (
    "LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|PYTORCH_ENABLE_MPS_FALLBACK|PYTORCH_MPS_HIGH_WATERMARK_RATIO|PIP_INDEX_URL"
    "|HSA_OVERRIDE_GFX_VERSION"
)
_VARIABLE = re.compile(
    rf"^(?:(?:export |declare -x |set )?(?P<name>{_NAMES})=(?P<value>[^\n]{{0,2000}})"
    rf"|(?:\$ ?)?echo \"?\$(?:env:)?\{{?(?P<echoed>{_NAMES})\}}?\"?\n(?P<shown>[^\n$>]{{1,2000}})"
    r"|(?P<path>/[\w./+-]{1,300}/lib(?:64|32)?[\w./+-]{0,200}(?::/[\w./+-]{1,300}){0,60}:?))$",
    re.MULTILINE,
)
_FACTS: Mapping[str, str] = {
    "LD_LIBRARY_PATH": "env.ld_library_path",
    "CUDA_VISIBLE_DEVICES": "cuda.visible_devices",
    "PYTORCH_ENABLE_MPS_FALLBACK": "mps.fallback",
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO": "mps.high_watermark_ratio",
    "HSA_OVERRIDE_GFX_VERSION": "rocm.gfx_override",
}


def find_variables(text: str) -> list[Span]:
    if not any(name in text for name in _NAMES.split("|")) and "/lib" not in text:
        return []
    spans = [Span(*match.span()) for match in _VARIABLE.finditer(text) if not match["path"] or ":" in match["path"]]
    return spans[:MOST_BLOCKS]


def read_variables(text: str) -> Reading:
    """Never raises. Home folders are masked, UUIDs of cards too; a list of folders alone is LD_LIBRARY_PATH's."""
    reading = Reading(kind="environment-variables")
    match = _VARIABLE.match(text)
    if match is None:
        return reading
    name = match["name"] or match["echoed"] or "LD_LIBRARY_PATH"
    value = (match["value"] or match["shown"] or match["path"] or "").strip().strip("\"'")
    if name == "HSA_OVERRIDE_GFX_VERSION":
        value = value.partition(" ")[0]  # a command may follow on its line
    if fact := _FACTS.get(name):
        shown = re.sub(r"(?:GPU|MIG)-[\w-]+", "<uuid>", without_homes(value))
        reading.sheet.state(fact, shown if value or name != "CUDA_VISIBLE_DEVICES" else " ")
    return reading


VARIABLES_IMPORTER = Importer(
    kind="environment-variables",
    tool="echo $LD_LIBRARY_PATH, env",
    tells="variables that change which libraries and cards a program gets",
    trust=65,
    find=find_variables,
    read=read_variables,
    answers=("echo $LD_LIBRARY_PATH",),
    command=r"(?:echo \"?\$|env\b|printenv|set [A-Z]|unset |export )",
    yields=True,
)
