"""Reports that programs around torch print of their environment: bitsandbytes, MMEngine, Ultralytics, DeepSpeed, JAX.

Formats: bitsandbytes/diagnostics/main.py, mmengine/utils/dl_utils/collect_env.py, ultralytics/utils/checks.py,
deepspeed/env_report.py and jax/_src/environment_info.py of the projects.
"""

import re

from stackviz.report.importers.env_report import (
    add_listed_card,
    component_of,
    is_given,
    number_of_bytes,
    state_platform,
    state_python,
    state_truth,
)
from stackviz.report.importers.importer import Importer, Span, blocks_after, fields
from stackviz.report.importers.reading import Reading
from stackviz.report.importers.torch_facts import state_torch_version
from stackviz.report.importers.typed_values import looks_like_card

__all__ = ["BITSANDBYTES", "DEEPSPEED", "JAX", "MMENGINE", "ULTRALYTICS"]

_VERSION = re.compile(r"(?<![\w.])\d{1,4}\.\d{1,3}(?:\.\d{1,4})?[\w.+-]{0,60}")


def _torch(reading: Reading, written: str, tool: str) -> None:
    if match := _VERSION.search(written):
        state_torch_version(reading, match[0], tool)


def _package(reading: Reading, name: str, written: str, tool: str) -> None:
    component, match = component_of(name.replace(" ", "-")), _VERSION.match(written)
    if component and match and component != "pytorch":
        reading.add_software(component, match[0], tool)


def _cuda_build(reading: Reading, written: str) -> None:
    match = re.match(r"\d{1,2}\.\d{1,2}", written)
    if match:
        reading.sheet.state("torch.cuda_version", match[0])
    elif not is_given(written):
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", f"the report says {written}")


def _hip_build(reading: Reading, written: str) -> None:
    reading.sheet.state("torch.hip_version", written if re.match(r"\d", written) else None)


# ---- python -m bitsandbytes -----------------------------------------------------------------------------------------

_BNB_HEAD = re.compile(
    r"^(?:=+ ?bitsandbytes v?\d[^\n=]{0,40}=*|\++ ?(?:BUG REPORT INFORMATION|ANACONDA CUDA PATHS)[ +]*|=+BUG REPORT=+"
    r"|CUDA specs: CUDASpecs\([^\n]{10,200}|PyTorch settings found: CUDA_VERSION=[^\n]{1,100}"
    r"|(?:CUDA SETUP|CUDA_SETUP): [^\n]{3,300})$",
    re.MULTILINE,
)
_BNB_LINE = re.compile(
    r"[+=-]{3}|(?:Platform|Python|PyTorch|  ?(?:libc|CUDA|HIP|XPU|[\w.-]{2,40})|Related packages|CUDA specs"
    r"|PyTorch settings"
    r"|CUDA SETUP|Library not found|Checking that|CUDA is installed|Success|Installation|The directory|Found duplicate"
    r"|WARNING|Welcome|and submit|bin )\b"
)


def find_bitsandbytes(text: str) -> list[Span]:
    if not any(
        mark in text for mark in ("bitsandbytes", "CUDASpecs(", "CUDA SETUP", "PyTorch settings found", "BUG REPORT")
    ):
        return []
    return blocks_after(_BNB_HEAD, _BNB_LINE, text)


def read_bitsandbytes(text: str) -> Reading:
    """Never raises. What torch was built with, and the highest compute capability; the card has no name there."""
    reading, tool = Reading(kind="bitsandbytes"), "bitsandbytes"
    values = fields(text)
    if title := re.search(r"bitsandbytes v?(\d[\w.]{1,20})", text):
        reading.add_software("bitsandbytes", title[1], tool)
    state_platform(reading, values.get("platform", ""), tool, names_system=True)
    if "python" in values:
        state_python(reading, values["python"], tool)
    _torch(reading, values.get("pytorch", ""), tool)
    settings = re.search(r"CUDA_VERSION=(\d{2})(\d)\b|cuda_version_string='(\d{2})(\d)'", text)
    digits = [digit for digit in settings.groups() if digit] if settings else []
    _cuda_build(reading, ".".join(digits) or values.get("cuda", ""))
    _hip_build(reading, values.get("hip", ""))
    for name in ("accelerate", "diffusers", "numpy", "transformers", "triton"):
        _package(reading, name, values.get(name, ""), tool)
    return reading


BITSANDBYTES = Importer(
    kind="bitsandbytes",
    tool="python -m bitsandbytes",
    tells="system, Python, torch and what it was built with",
    trust=49,
    find=find_bitsandbytes,
    read=read_bitsandbytes,
    command=r"(?:\S{0,80}/)?python[\w.]{0,6} -m bitsandbytes",
)

# ---- MMEngine, MMCV -------------------------------------------------------------------------------------------------

_MM_HEAD = re.compile(r"^[ \t]{0,8}sys\.platform: (?:linux|win32|darwin)[ \t]*$", re.MULTILINE)
_MM_LINE = re.compile(
    r"[ \t]{0,8}(?:Python|CUDA available|MUSA available|numpy_random_seed|GPU [\d,]{1,60}|CUDA_HOME|NVCC|GCC|MSVC"
    r"|PyTorch|TorchVision"
    r"|PyTorch compiling details|OpenCV|MM\w{2,20}|MMCV[\w ]{0,30})\b|[ \t]{1,8}-|[ \t]{0,8}C\+\+"
    r"|[ \t]{0,8}Runtime environment"
)


def find_mmengine(text: str) -> list[Span]:
    return blocks_after(_MM_HEAD, _MM_LINE, text, anchor="sys.platform: ")


def read_mmengine(text: str) -> Reading:
    """Never raises."""
    reading, tool = Reading(kind="mmengine-env"), "mmengine"
    values = fields(text)
    system = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}.get(values.get("sys.platform", ""))
    reading.sheet.state("os.name", system)
    reading.sheet.mark_missing("os.version", "not_reported", "mmengine does not name the system")
    state_python(reading, values.get("python", ""), tool)
    state_truth(reading, "cuda.available", values.get("cuda available", ""), tool)
    _torch(reading, values.get("pytorch", ""), tool)
    runtime = re.search(r"CUDA Runtime (\d{1,2}\.\d)", text)
    reading.sheet.state("torch.cuda_version", runtime[1] if runtime else None)
    release = re.search(r"release (\d{1,2}\.\d{1,2})(?:, V(\d[\d.]{2,12}\d))?", values.get("nvcc", ""))
    reading.sheet.state("cuda.toolkit_version", (release[2] or release[1]) if release else None)
    _package(reading, "torchvision", values.get("torchvision", ""), tool)
    for match in list(re.finditer(r"^[ \t]{0,8}GPU ([\d,]{1,80}): ([^\n]{2,120})$", text, re.MULTILINE))[:64]:
        for index in match[1].split(",")[:64]:
            if index.isdigit():
                add_listed_card(reading, int(index), match[2].strip(), tool)
    return reading


MMENGINE = Importer(
    kind="mmengine-env",
    tool="mim, mmengine collect_env",
    tells="torch, CUDA, toolkit, cards",
    trust=51,
    find=find_mmengine,
    read=read_mmengine,
    command=r"python[\w.]{0,6} \S{0,80}collect_env\.py",
)

# ---- Ultralytics ----------------------------------------------------------------------------------------------------

_YOLO = re.compile(
    r"^(?:Ultralytics|YOLOv\d)[^\n]{0,40}?(?:v?(?P<version>\d[\w.-]{2,30}))[^\n]{0,20} "
    r"Python-(?P<python>\d\.\d[\d.]{0,5}) "
    r"torch-(?P<torch>\d[\w.+-]{2,40}) (?P<device>(?:CUDA|CPU|MPS)\b[^\n]{0,600})$",
    re.MULTILINE,
)
_YOLO_LINE = re.compile(
    r"(?:OS|Environment|Python|Install|Path|RAM|Disk|CPU|CPU count|GPU|GPU count|CUDA|Setup complete)\b"
    r"|[a-z][\w-]{1,30} +✅| {4,}CUDA:\d"
)


def find_ultralytics(text: str) -> list[Span]:
    return blocks_after(_YOLO, _YOLO_LINE, text, anchor=" torch-")


def read_ultralytics(text: str) -> Reading:
    """Never raises. The line each run begins with, and the table of `yolo checks`."""
    reading, tool = Reading(kind="ultralytics"), "ultralytics"
    if head := _YOLO.match(text):
        state_python(reading, head["python"], tool)
        _torch(reading, head["torch"], tool)
        is_cuda = head["device"].startswith("CUDA")
        reading.sheet.state("cuda.available", True if is_cuda else None)
    for index, name, memory in re.findall(r"CUDA:(\d{1,3}) \(([^,()\n]{2,100}), (\d{1,8})MiB\)", text)[:64]:
        add_listed_card(reading, int(index), name, tool, memory_bytes=int(memory) * 2**20)
    table = dict(re.findall(r"^(OS|RAM|CPU|CPU count|CUDA) {2,20}(\S[^\n]{0,200})$", text, re.MULTILINE))
    state_platform(reading, table.get("OS", ""), tool, names_system=True)
    reading.sheet.state("memory.total_bytes", number_of_bytes(table.get("RAM", "")))
    reading.sheet.state("cpu.model", table.get("CPU"))
    _cuda_build(reading, table.get("CUDA", ""))
    return reading


ULTRALYTICS = Importer(
    kind="ultralytics",
    tool="yolo checks",
    tells="torch, cards with memory, system",
    trust=47,
    find=find_ultralytics,
    read=read_ultralytics,
    command=r"yolo\b",
)

# ---- DeepSpeed ------------------------------------------------------------------------------------------------------

_DS_LINE = re.compile(
    r"^(?P<label>torch version|torch cuda version|torch hip version|nvcc version|deepspeed info|torch install path"
    r"|deepspeed install path|deepspeed wheel compiled w\."
    r"|shared memory \(/dev/shm\) size) ?\.{2,30} ?(?P<value>[^\n]{0,300})$",
    re.MULTILINE,
)
_DS_REPORT = re.compile(
    r"^(?:DeepSpeed general environment info:|(?:torch|deepspeed) install path \.{2,30}[^\n]{0,300}"
    r"|torch version \.{2,30}[^\n]{1,60})$",
    re.MULTILINE,
)
_DS_INSIDE = re.compile(r"(?:torch|nvcc|deepspeed|shared memory|\[WARNING\]|async_io)\b")


def find_deepspeed(text: str) -> list[Span]:
    return blocks_after(_DS_REPORT, _DS_INSIDE, text) if "torch version ...." in text else []


def read_deepspeed(text: str) -> Reading:
    """Never raises."""
    reading, tool = Reading(kind="deepspeed-report"), "ds_report"
    values = {match["label"]: match["value"].strip() for match in list(_DS_LINE.finditer(text))[:40]}
    _torch(reading, values.get("torch version", ""), tool)
    _cuda_build(reading, values.get("torch cuda version", ""))
    _hip_build(reading, values.get("torch hip version", ""))
    toolkit = values.get("nvcc version", "")
    reading.sheet.state("cuda.toolkit_version", toolkit if re.match(r"\d", toolkit) else None)
    return reading


DEEPSPEED = Importer(
    kind="deepspeed-report",
    tool="ds_report",
    tells="torch, what it was built with, the CUDA toolkit",
    trust=46,
    find=find_deepspeed,
    read=read_deepspeed,
    command=r"ds_report",
)

# ---- JAX ------------------------------------------------------------------------------------------------------------

_JAX_HEAD = re.compile(r"^jax: {1,8}\d\.\d[^\n]{0,40}$", re.MULTILINE)
_JAX_LINE = re.compile(r"(?:jaxlib|numpy|python|jax\.devices|device info|process_count|platform|XLA_FLAGS"
                       r"|JAX_\w{2,40}|\[GCC|\[Clang|LD_\w+)\b"
                       r"|\[GCC|\[Clang|\[MSC")  # fmt: skip


def find_jax(text: str) -> list[Span]:
    return blocks_after(_JAX_HEAD, _JAX_LINE, text, anchor="jaxlib:")


def read_jax(text: str) -> Reading:
    """Never raises. JAX names the kind of the first device; `cpu` says that it computes on none."""
    reading, tool = Reading(kind="jax-env"), "jax.print_environment_info"
    values = fields(text)
    _package(reading, "jax", values.get("jax", ""), tool)
    _package(reading, "numpy", values.get("numpy", ""), tool)
    state_python(reading, values.get("python", ""), tool)
    uname = dict(re.findall(r"\b(system|release|machine)='([^'\n]{1,120})'", text))
    reading.sheet.state("os.name", {"Darwin": "macOS"}.get(uname.get("system", ""), uname.get("system")))
    reading.sheet.mark_missing("os.version", "not_reported", "JAX states the kernel, not the distribution")
    reading.sheet.state("os.arch", uname.get("machine"))
    if uname.get("system") == "Linux" and uname.get("release"):
        reading.sheet.state("os.kernel", f"Linux {uname['release']}")
        if "microsoft" in uname["release"].lower():
            reading.sheet.state("os.wsl", "1" if uname["release"].endswith("-Microsoft") else "2")
    device = re.match(r"([^\n]{2,100}?)-(\d{1,3}), \d{1,3} local devices", values.get("device info", ""))
    if device and looks_like_card(device[1]):
        for index in range(min(int(device[2]), 64)):
            add_listed_card(reading, index, device[1], tool)
    return reading


JAX = Importer(
    kind="jax-env",
    tool="jax.print_environment_info()",
    tells="JAX, Python, system, cards",
    trust=45,
    find=find_jax,
    read=read_jax,
    answers=('python -c "import jax; jax.print_environment_info()"',),
    command=r"(?:import jax|jax\.print_environment_info)",
    lists_all_cards=False,
)
