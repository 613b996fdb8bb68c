"""Read files of Linux: /proc/meminfo, libraries (ldconfig -p), shared memory (df /dev/shm), a Jetson's release."""

import re

from stackviz.report.importers.importer import Importer, Span, runs_of
from stackviz.report.importers.reading import Reading

__all__ = ["JETSON", "LIBRARIES", "SHARED_MEMORY"]

# ---- libraries ------------------------------------------------------------------------------------------------------

_LIBRARY = re.compile(
    r"^(?:[ \t]{0,8}(?P<name>lib(?:cuda|cudnn|cudart|cublas)[\w.-]{0,40}) \([^\n)]{3,60}\) => (?P<path>/\S{3,300})"
    r"|[-lrwxs.+@]{10,12}[ \t]+\d{1,4}[ \t]+[\w-]{1,40}[ \t]+[\w-]{1,40}[ \t][^\n/]{4,60}"
    r"(?P<wsl>/usr/lib/wsl/lib/libcuda\S{0,60})"
    r"(?: -> \S{1,200})?)$",
    re.MULTILINE,
)
_VERSION = re.compile(r"libcudnn\.so\.(\d{1,2}(?:\.\d{1,2}){0,2})$")


def find_libraries(text: str) -> list[Span]:
    return runs_of(_LIBRARY, text) if "libcu" in text else []


def read_libraries(text: str) -> Reading:
    """Never raises. The libcuda that a program would load is the first one of the list; WSL 2 has its own folder."""
    reading = Reading(kind="ldconfig")
    reading.sheet.state("os.name", "Linux")
    matches = list(_LIBRARY.finditer(text))[:400]
    paths = [str(match["path"] or match["wsl"]) for match in matches]
    cuda = next((path for path in paths if re.search(r"/libcuda\.so", path)), None)
    reading.sheet.state("cuda.libcuda_path", cuda)
    reading.sheet.state("os.wsl", "2" if any("/wsl/" in path for path in paths) else None)
    cudnn = dict.fromkeys(path for path in paths if "/libcudnn" in path)
    reading.sheet.state("cudnn.libraries", " ".join(list(cudnn)[:20]) or None)
    return reading


LIBRARIES = Importer(
    kind="ldconfig",
    tool="ldconfig -p",
    tells="libraries of CUDA and cuDNN that programs load from the system",
    trust=67,
    find=find_libraries,
    read=read_libraries,
    command=r"(?:ldconfig -p|ls -l /usr)",
    yields=True,
)

# ---- shared memory --------------------------------------------------------------------------------------------------

_MOUNT = "/dev/shm"  # noqa: S108 - the name of a mount, nothing is written
_SHM = re.compile(
    r"^(?:Filesystem[ \t]+(?:Size"
    r"|1K-blocks)[^\n]{5,60}\n)?\S{2,20}[ \t]+(?P<size>\d[\d.]{0,8}[KMGT]?)[ \t]+\d[\d.]{0,8}[KMGT]?"
    r"[ \t]+\d[\d.]{0,8}[KMGT]?[ \t]+\d{1,3}%[ \t]+/dev/shm$",
    re.MULTILINE,
)


def find_shared_memory(text: str) -> list[Span]:
    return [Span(*match.span()) for match in list(_SHM.finditer(text))[:16]] if _MOUNT in text else []


def read_shared_memory(text: str) -> Reading:
    """Never raises. `df -h` prints a size with its unit, `df` a number of KiB."""
    reading = Reading(kind="shared-memory")
    reading.sheet.state("os.name", "Linux")
    match = _SHM.search(text)
    if match:
        number, unit = re.fullmatch(r"([\d.]+)([KMGT]?)", match["size"]).groups()  # type: ignore[union-attr]  # as _SHM has it
        reading.sheet.state("memory.shared_bytes", _bytes(number, unit or "K"))
    return reading


def _bytes(number: str, unit: str) -> int | None:
    return int(float(number) * 1024 ** (1 + "KMGT".index(unit))) if number.count(".") < 2 else None


SHARED_MEMORY = Importer(
    kind="shared-memory",
    tool="df -h /dev/shm",
    tells="the shared memory of a container",
    trust=42,
    find=find_shared_memory,
    read=read_shared_memory,
    command="df -h",
    yields=True,
)

# ---- Jetson ---------------------------------------------------------------------------------------------------------

_JETSON = re.compile(
    r"^(?:# R(?P<release>\d{2}) \(release\), REVISION: (?P<revision>\d[\d.]{0,8}), GCID: \d{3,12}, "
    r"BOARD: [\w-]{2,30}, EABI: (?P<arch>\w{5,10})[^\n]{0,80}"
    r"|[^\n]{0,40}RAM \d{1,7}/(?P<ram>\d{3,7})MB \(lfb [^\n]{0,400}\bGR3D_FREQ [^\n]{0,400})$",
    re.MULTILINE,
)


def find_jetson(text: str) -> list[Span]:
    return runs_of(_JETSON, text) if "GCID: " in text or "GR3D_FREQ" in text else []


def read_jetson(text: str) -> Reading:
    """Never raises. The release of Jetson Linux, or the memory that tegrastats counts."""
    reading = Reading(kind="jetson-release")
    reading.sheet.state("os.name", "Linux")
    reading.sheet.state("machine.vendor", "NVIDIA")
    for match in list(_JETSON.finditer(text))[:8]:
        if match["release"]:
            reading.sheet.state("os.build", f"L4T {match['release']}.{match['revision']}")
            reading.sheet.state("os.arch", match["arch"])
        else:
            reading.sheet.state("memory.total_bytes", int(match["ram"]) * 2**20)
    return reading


JETSON = Importer(
    kind="jetson-release",
    tool="cat /etc/nv_tegra_release, tegrastats",
    tells="a Jetson: its release of Linux, its memory",
    trust=70,
    find=find_jetson,
    read=read_jetson,
    command=r"(?:cat /etc/nv_tegra|tegrastats)",
    yields=True,
)


KIND = "meminfo"

_TOTAL = re.compile(r"^[ \t>]{0,8}MemTotal:[ \t]+(\d{1,15}) kB[ \t]*$", re.MULTILINE)
_MOST_DUMPS = 16
_BLOCK = re.compile(r"(?:[ \t>]{0,8}[A-Z][\w()]{1,40}:[ \t]+\d{1,15}(?: kB)?[ \t]*(?:\n|\Z)){1,100}")


def find_meminfo(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _TOTAL.finditer(text):
        block = None if spans and match.start() < spans[-1].end else _BLOCK.match(text, match.start())
        if block:
            spans.append(Span(block.start(), block.end()))
        if len(spans) == _MOST_DUMPS:
            break
    return spans


def read_meminfo(text: str) -> Reading:
    reading = Reading(kind=KIND)
    match = _TOTAL.search(text)
    if match:
        reading.sheet.state("memory.total_bytes", int(match[1]) * 1024)
    else:
        reading.problem("there is no line 'MemTotal:'")
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="/proc/meminfo",
    tells="main memory",
    trust=72,
    find=find_meminfo,
    marks=("MemTotal:",),
    read=read_meminfo,
    command="cat /proc/",
)
