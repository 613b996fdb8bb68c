"""Read the surroundings of a program: docker info, conda info, wsl --version and -l -v.

Formats: https://docs.docker.com/reference/cli/docker/system/info/, conda/cli/main_info.py,
https://learn.microsoft.com/windows/wsl/basic-commands.
"""

import re

from stackviz.report.importers.env_report import number_of_bytes, state_python, state_system
from stackviz.report.importers.importer import Importer, Span, blocks_after, fields
from stackviz.report.importers.reading import Reading

__all__ = ["CONDA_INFO", "DOCKER_INFO", "WSL_VERSION"]

# ---- docker info ----------------------------------------------------------------------------------------------------

_DOCKER_HEAD = re.compile(
    r"^(?:Client:(?: \S[^\n]{0,60})?|Server:"
    r"|[ \t]{0,2}Server Version: \d[^\n]{0,40})[ \t]*$",
    re.MULTILINE,
)
_DOCKER_LINE = re.compile(
    r"[ \t]{1,12}\S|(?:Server|Client|WARNING)\b|(?:Containers|Images|Storage Driver"
    r"|Kernel Version|Runtimes|CPUs)\b"
)


def find_docker_info(text: str) -> list[Span]:
    """Also where somebody cut it down to the lines about runtimes."""
    spans = blocks_after(_DOCKER_HEAD, _DOCKER_LINE, text) if "Runtimes: " in text else []
    return [span for span in spans if "Runtimes: " in text[span.start : span.end]]


def read_docker_info(text: str) -> Reading:
    """Never raises. The system it names is the host's; on Docker Desktop that of its virtual machine."""
    reading, tool = Reading(kind="docker-info"), "docker info"
    values = fields(text)
    system, kernel = values.get("operating system", ""), values.get("kernel version", "")
    if system and not system.startswith("Docker Desktop"):
        state_system(reading, system, tool)
    elif system:
        reading.sheet.state("os.name", "Linux")
        reading.problem("the system named is that of Docker Desktop's virtual machine")
    if re.match(r"\d", kernel):
        reading.sheet.state("os.kernel", f"Linux {kernel}")
        if "microsoft" in kernel.lower():
            reading.sheet.state("os.wsl", "2")
    reading.sheet.state("os.arch", values.get("architecture"))
    cores = values.get("cpus", "")
    reading.sheet.state("cpu.cores_logical", int(cores) if re.fullmatch(r"\d{1,5}", cores) else None)
    reading.sheet.state("memory.total_bytes", number_of_bytes(values.get("total memory", "")))
    reading.sheet.state("machine.docker_runtimes", values.get("runtimes") or None)
    return reading


DOCKER_INFO = Importer(
    kind="docker-info",
    tool="docker info",
    tells="system, kernel and memory of the host, whether the runtime nvidia is set up",
    trust=58,
    find=find_docker_info,
    read=read_docker_info,
    command="(?:docker|podman) info",
)

# ---- conda info -----------------------------------------------------------------------------------------------------

_CONDA_HEAD = re.compile(r"^[ \t]{0,24}active environment : [^\n]{1,100}$", re.MULTILINE)
_CONDA_LINE = re.compile(r"[ \t]{4,40}\S|[ \t]{0,40}[a-z][\w /()-]{2,40} : |__\w{2,20}=|[/~]|https?:|[A-Z]:\\")


def find_conda_info(text: str) -> list[Span]:
    return blocks_after(_CONDA_HEAD, _CONDA_LINE, text, anchor="active environment : ")


def read_conda_info(text: str) -> Reading:
    """Never raises. The virtual packages say what conda sees of the system: `__cuda=12.4=0` is the driver's CUDA."""
    reading, tool = Reading(kind="conda-info"), "conda info"
    values = fields(text)
    virtual = dict(re.findall(r"\b__(\w{2,12})=([\w.]{1,30})=", text))
    reading.sheet.state("cuda.driver_api_version", virtual.get("cuda"))
    if "cuda" not in virtual and "virtual packages" in values and "osx" not in virtual:
        reading.problem("conda sees no CUDA: there is no virtual package __cuda")
    reading.sheet.state("os.libc", f"glibc {virtual['glibc']}" if "glibc" in virtual else None)
    if "osx" in virtual:
        reading.sheet.state("os.name", "macOS")
        reading.sheet.state("os.version", virtual["osx"])
    elif "linux" in virtual:
        reading.sheet.state("os.name", "Linux")
        reading.sheet.mark_missing("os.version", "not_reported", "conda states the kernel, not the distribution")
        reading.sheet.state("os.kernel", f"Linux {virtual['linux']}" if virtual["linux"] != "0" else None)
    elif "win" in virtual:
        reading.sheet.state("os.name", "Windows")
    state_python(reading, values.get("python version", ""), tool)
    arch = values.get("platform", "").rpartition("-")[2]
    reading.sheet.state("python.arch", {"64": "x86_64", "aarch64": "aarch64", "arm64": "arm64"}.get(arch))
    return reading


CONDA_INFO = Importer(
    kind="conda-info",
    tool="conda info",
    tells="Python, C library, the CUDA that the driver serves",
    trust=43,
    find=find_conda_info,
    read=read_conda_info,
    command="(?:conda|mamba) info",
)

# ---- wsl --version, wsl -l -v ---------------------------------------------------------------------------------------

_WSL = re.compile(
    r"^WSL[^\n:]{0,24}: ?(?P<wsl>\d[\d.]{2,20})[ \t]*\n{1,3}[^\n:]{2,40}: ?"
    r"(?P<kernel>\d{1,2}\.\d{1,3}\.\d{1,4}[\w.-]{0,30})"
    r"(?:[ \t]*\n{1,3}[^\n:]{2,40}: ?\d[^\n]{0,80}){0,6}",
    re.MULTILINE,
)
_WSL_LIST = re.compile(
    r"^[ \t]{0,4}NAME {2,60}STATE {2,60}VERSION[ \t]*\n"
    r"(?P<rows>(?:[ \t*]{1,4}[\w.-]{1,60} {2,60}[A-Za-z]{3,20} {2,60}[12][ \t]*(?:\n|$)){1,32})",
    re.MULTILINE,
)
_WSL_ROW = re.compile(
    r"^(?P<is_default>[ \t]*\*)?[ \t]*(?P<name>[\w.-]{1,60}) {2,60}[^\n]{1,40}? {2,60}(?P<version>[12])[ \t]*$",
    re.MULTILINE,
)
_BUILD = re.compile(r": ?(10\.0\.\d{5}(?:\.\d{1,6})?)[ \t]*$", re.MULTILINE)


def find_wsl(text: str) -> list[Span]:
    patterns = [pattern for mark, pattern in (("WSL", _WSL), ("STATE", _WSL_LIST)) if mark in text]
    return sorted(Span(*match.span()) for pattern in patterns for match in list(pattern.finditer(text))[:16])


def read_wsl(text: str) -> Reading:
    """Never raises. Written by Windows: which distribution the other dumps are of, the default one's version says."""
    reading = Reading(kind="wsl-version")
    if match := _WSL.match(text):
        reading.add_software("wsl", match["wsl"], "wsl --version")
        builds = _BUILD.findall(text)
        reading.sheet.state("os.build", builds[-1] if builds else None)
        if builds:
            reading.add_software("windows", builds[-1], "wsl --version")
        return reading
    rows = list(_WSL_ROW.finditer(text))[:32]
    default = next((row for row in rows if row["is_default"]), rows[0] if rows else None)
    versions = {row["version"] for row in rows}
    if default and (len(versions) == 1 or default["is_default"]):
        reading.sheet.state("os.wsl", default["version"])
    return reading


WSL_VERSION = Importer(
    kind="wsl-version",
    tool="wsl --version, wsl -l -v",
    tells="versions of the Windows Subsystem for Linux and of Windows; WSL 1 or 2",
    trust=56,
    find=find_wsl,
    read=read_wsl,
    answers=("wsl --version", "wsl -l -v"),
    command=r"wsl(?:\.exe)? -",
    yields=True,
)
