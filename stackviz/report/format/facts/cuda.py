"""CUDA and ROCm: runtime, driver API, toolkit and libraries.

Sources: torch, the CUDA driver API (cuInit), ldconfig(8), /opt/rocm/.info/version.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from stackviz.base.backports import PATH_WITHOUT_FOLDER
from stackviz.report.format.agent_texts import BUILT_WITHOUT
from stackviz.report.format.facts.asking import MissingFact, Surroundings, only_on, variable
from stackviz.report.format.facts.fact import LONGEST_TEXT
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=60, probe="torch")

_INIT = """
import ctypes, sys
name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
try:
    library = ctypes.CDLL(name)
except OSError as error:
    print("missing", error)
    raise SystemExit
try:
    with open("/proc/self/maps") as maps:
        paths = [line.split(None, 5)[-1].strip() for line in maps if "libcuda.so" in line]
    print("path", paths[0])
except (OSError, IndexError):
    pass
sys.stdout.flush()
print("code", library.cuInit(0))
"""
"""Run in a child: cuInit may hang or crash where the driver is broken."""
_INIT_TIMEOUT_S = 20.0
_MOST_FOLDERS = 64
_MOST_FILES = 10_000


@FACTS.truth("cuda.available", "torch.cuda.is_available()")
def cuda_available(around: Surroundings) -> bool:
    return bool(around.torch.cuda.is_available())


FACTS.text("cuda.runtime_version", "version of the CUDA runtime library in use")


FACTS.text("cuda.driver_api_version", "newest CUDA version the driver serves", command="nvidia-smi")


FACTS.text("cuda.toolkit_version", "version nvcc states")


def _init_answer(around: Surroundings) -> dict[str, str]:
    if around.system not in ("Linux", "Windows"):
        raise MissingFact("not_applicable", "asked on Linux and Windows only")
    output = around.run(sys.executable, "-c", PATH_WITHOUT_FOLDER + _INIT, timeout_s=_INIT_TIMEOUT_S)
    answer = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    if "missing" in answer:
        raise MissingFact("not_installed", "libcuda, part of the NVIDIA driver, cannot be loaded")
    return answer


@FACTS.integer(
    "cuda.init_code",
    "what cuInit answered: 0, or the number of the error",
    least=0,
    probe="nvidia",
    command='python -c "import torch; torch.cuda.init()"',
)
def init_code(around: Surroundings) -> int | None:
    code = _init_answer(around).get("code", "")
    return int(code) if code.isdecimal() else None


@FACTS.text(
    "cuda.libcuda_path", "the libcuda that a program would load", probe="nvidia", command="ldconfig -p | grep libcuda"
)
def libcuda_path(around: Surroundings) -> str | None:
    if around.system == "Windows":
        raise MissingFact("not_applicable", "Windows has one nvcuda.dll, in its system folder")
    return _init_answer(around).get("path")


@FACTS.text("cuda.visible_devices", "CUDA_VISIBLE_DEVICES as set; UUIDs masked")
def cuda_visible_devices(around: Surroundings) -> str | None:
    return variable(around, "CUDA_VISIBLE_DEVICES")


def _cudnn_version(torch: Any) -> str | None:  # noqa: ANN401
    """91300 is 9.13.0; before cuDNN 9 the major counted thousands: 8902 is 8.9.2."""
    number = torch.backends.cudnn.version()
    if number is None:
        raise MissingFact("not_applicable", "this torch has no cuDNN")
    base = 10_000 if number >= 90_000 else 1_000
    return f"{number // base}.{number % base // 100}.{number % 100}"


@FACTS.text(
    "cudnn.version",
    "version of the cuDNN that is loaded: 9.5.1",
    command='python -c "import torch; print(torch.backends.cudnn.version())"',
)
def cudnn_version(around: Surroundings) -> str | None:
    return _cudnn_version(around.torch)


def _as_many_as_fit(paths: list[str]) -> str:
    text = ""
    for path in paths:
        if len(text) + len(path) >= LONGEST_TEXT:
            break
        text = f"{text} {path}".strip()
    return text


def _is_cudnn(name: str) -> bool:
    return name.startswith("libcudnn") and ".so" in name and " " not in name


def _in_search_path(around: Surroundings) -> Iterator[str]:
    folders = around.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in dict.fromkeys(folder for folder in folders[:_MOST_FOLDERS] if folder.startswith("/")):
        try:
            entries = [entry.name for entry in islice(around.path(folder).iterdir(), _MOST_FILES)]
        except OSError:
            continue
        yield from (str(PurePosixPath(folder) / name) for name in sorted(entries) if _is_cudnn(name))


def _in_cache(around: Surroundings) -> Iterator[str]:
    """`	libcudnn.so.9 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn.so.9`; musl has no ldconfig -p."""
    for ldconfig in ("ldconfig", "/sbin/ldconfig"):  # /sbin is often not in a user's PATH
        try:
            output = around.run(ldconfig, "-p")
        except MissingFact:
            continue
        paths = (line.partition("=> ")[2].strip() for line in output.splitlines())
        yield from sorted(path for path in paths if _is_cudnn(PurePosixPath(path).name))
        return


@FACTS.text(
    "cudnn.libraries",
    "cuDNN libraries outside Python's packages, space separated",
    probe="system",
    command="python -m torch.utils.collect_env",
)
def cudnn_libraries(around: Surroundings) -> str:
    """Return the cuDNN files that a loader would find outside Python's packages."""
    only_on(around, "Linux")
    paths = dict.fromkeys([*_in_search_path(around), *_in_cache(around)])
    outside = [path for path in paths if "/site-packages/" not in path and "/dist-packages/" not in path]
    if not outside:
        raise MissingFact("not_applicable", "no cuDNN outside Python's packages")
    return _as_many_as_fit(outside)


def _nccl_version(torch: Any) -> str:  # noqa: ANN401
    if not hasattr(torch._C, "_nccl_version"):  # noqa: SLF001 - torch.cuda.nccl needs it
        raise MissingFact("not_applicable", BUILT_WITHOUT.format(name="NCCL"))
    from torch.cuda import nccl

    return ".".join(map(str, nccl.version()))


@FACTS.text("nccl.version", "version of the NCCL that torch uses: 2.21.5")
def nccl_version(around: Surroundings) -> str | None:
    return _nccl_version(around.torch)


@FACTS.text("rocm.version", "version of the ROCm installed", probe="system")
def rocm_version(around: Surroundings) -> str:
    """`6.4.1-83` is release 6.4.1, build 83."""
    only_on(around, "Linux")
    text = around.read("/opt/rocm/.info/version")
    if text is None:
        raise MissingFact("not_applicable", "no ROCm in /opt/rocm")
    return text.partition("-")[0]


@FACTS.text("rocm.gfx_override", "HSA_OVERRIDE_GFX_VERSION as set: the gfx target every card passes for, 10.3.0")
def rocm_gfx_override(around: Surroundings) -> str | None:
    return variable(around, "HSA_OVERRIDE_GFX_VERSION")


FACTS.text("rocm.hip_runtime_version", "version of the HIP runtime")


FACTS.text("rocm.miopen_version", "version of the MIOpen that torch uses")
