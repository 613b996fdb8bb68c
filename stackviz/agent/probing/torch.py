"""The torch probe: which torch, what it was built with, which devices it can use, which libraries it loads.

Importing torch can take long, crash or hang in a driver: this probe runs in a process of its own like the others.
Names that only some releases have are asked for with getattr.
"""

import re
from importlib import util
from types import ModuleType
from typing import Any

from stackviz.agent.probing.asking import Missing, Questions, Surroundings
from stackviz.importers.reading import CardReading, Reading
from stackviz.wire import LIMITS, hashed_uuid

__all__ = ["probe_torch"]

_CUDA_BUILD_ONLY = "this torch was built without CUDA"


def probe_torch(around: Surroundings) -> Reading:
    """Facts that need torch. Without it they are absent: not_installed, or failed with what its import said."""
    reading = Reading("torch")
    try:
        torch = _import_torch()
    except Missing as missing:
        if missing.reason == "failed":
            reading.sheet.state("torch.import_error", missing.detail)
        for name in _questions(None).names:
            reading.sheet.lack(name, missing.reason, missing.detail)
        return reading
    _questions(torch).ask(around, reading.sheet)
    _find_software(torch, reading)
    _read_cards(torch, reading)
    return reading


def _import_torch() -> ModuleType:
    if util.find_spec("torch") is None:
        raise Missing("not_installed", "torch is not installed for this Python")
    try:
        import torch
    except Exception as error:  # noqa: BLE001 - a broken wheel or driver raises anything
        raise Missing("failed", f"import torch: {type(error).__name__}: {error}") from None
    if not hasattr(torch, "__version__"):
        raise Missing("failed", "a folder named torch hides the package")
    return torch  # type: ignore[no-any-return]


def _questions(torch: Any) -> Questions:  # noqa: ANN401 - torch has no types we may rely on
    """The facts this probe asks of a torch; with None, only their names are of use."""
    asked = Questions()
    asked.about("torch.version")(lambda _: str(torch.__version__))
    asked.about("torch.import_error")(lambda _: _imported())
    asked.about("torch.git_version")(lambda _: getattr(torch.version, "git_version", None))
    asked.about("torch.cuda_version")(lambda _: _built_with(torch.version.cuda, "CUDA"))
    asked.about("torch.hip_version")(lambda _: _built_with(getattr(torch.version, "hip", None), "HIP"))
    asked.about("torch.debug")(lambda _: bool(torch.version.debug))
    asked.about("torch.arch_list")(lambda _: _arch_list(torch))
    asked.about("torch.cpu_capability")(lambda _: torch.backends.cpu.get_cpu_capability())
    asked.about("torch.num_threads")(lambda _: int(torch.get_num_threads()))
    asked.about("torch.operators")(lambda _: len(_operators(torch)))
    asked.about("torch.kernels_cpu")(lambda _: _own_kernels(torch, "CPU"))
    asked.about("torch.kernels_cuda")(lambda _: _own_kernels(torch, "CUDA"))
    asked.about("torch.kernels_mps")(lambda _: _own_kernels(torch, "MPS"))
    asked.about("cuda.available")(lambda _: bool(torch.cuda.is_available()))
    asked.about("cudnn.version")(lambda _: _cudnn_version(torch))
    asked.about("nccl.version")(lambda _: _nccl_version(torch))
    asked.about("mps.built")(lambda _: bool(_mps_backend(torch).is_built()))
    asked.about("mps.available")(lambda _: bool(_mps_backend(torch).is_available()))
    asked.about("mps.recommended_max_memory_bytes")(lambda _: _recommended_memory(torch))
    asked.about("mps.fallback")(lambda around: _variable(around, "PYTORCH_ENABLE_MPS_FALLBACK"))
    asked.about("mps.high_watermark_ratio")(lambda around: _variable(around, "PYTORCH_MPS_HIGH_WATERMARK_RATIO"))
    asked.about("xpu.available")(lambda _: _xpu_available(torch))
    asked.about("cuda.visible_devices")(lambda around: _variable(around, "CUDA_VISIBLE_DEVICES"))
    return asked


def _operators(torch: Any) -> list[str]:  # noqa: ANN401
    """Overloads this build knows. Composites are among them: they are rewritten to operators that have kernels."""
    ask = getattr(torch._C, "_dispatch_get_all_op_names", None)  # noqa: SLF001 - there is no public way
    if ask is None:
        raise Missing("not_supported", "this torch does not list its operators")
    return [name for name in ask() if name.startswith("aten::")]


def _own_kernels(torch: Any, key: str) -> int:  # noqa: ANN401
    """How many overloads have a kernel registered for exactly this key: what is registered, not what works.

    Some stray kernels of a device are in every build, so a build without the device is not asked.
    """
    if key == "CUDA" and not (torch.version.cuda or getattr(torch.version, "hip", None)):
        raise Missing("not_applicable", _CUDA_BUILD_ONLY)
    if key == "MPS" and not _mps_backend(torch).is_built():
        raise Missing("not_applicable", "this torch was built without the mps device")
    has = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001
    return sum(1 for name in _operators(torch) if has(name, key))


def _imported() -> str:
    raise Missing("not_applicable", "torch can be imported")


def _built_with(version: str | None, name: str) -> str:
    if not version:
        raise Missing("not_applicable", f"this torch was built without {name}")
    return str(version)


def _variable(around: Surroundings, name: str) -> str:
    value = around.environ.get(name)
    if value is None:
        raise Missing("not_applicable", f"{name} is not set")
    return value or "(empty)"


def _arch_list(torch: Any) -> str | None:  # noqa: ANN401
    if not torch.version.cuda and not getattr(torch.version, "hip", None):
        raise Missing("not_applicable", _CUDA_BUILD_ONLY)
    flags = getattr(torch._C, "_cuda_getArchFlags", None)  # noqa: SLF001 - torch.cuda.get_arch_list() is empty without a card
    return str(flags() or "") or None if flags else " ".join(torch.cuda.get_arch_list()) or None


def _cudnn_version(torch: Any) -> str | None:  # noqa: ANN401
    """91300 is 9.13.0; before cuDNN 9 the major counted thousands: 8902 is 8.9.2."""
    number = torch.backends.cudnn.version()
    if number is None:
        raise Missing("not_applicable", "this torch has no cuDNN")
    base = 10_000 if number >= 90_000 else 1_000
    return f"{number // base}.{number % base // 100}.{number % 100}"


def _nccl_version(torch: Any) -> str:  # noqa: ANN401
    if not hasattr(torch._C, "_nccl_version"):  # noqa: SLF001 - torch.cuda.nccl needs it
        raise Missing("not_applicable", "this torch was built without NCCL")
    from torch.cuda import nccl

    return ".".join(map(str, nccl.version()))


def _mps_backend(torch: Any) -> Any:  # noqa: ANN401
    backend = getattr(torch.backends, "mps", None)
    if backend is None:
        raise Missing("not_supported", "this torch is older than the mps device (1.12)")
    return backend


def _recommended_memory(torch: Any) -> int:  # noqa: ANN401
    if not _mps_backend(torch).is_available():
        raise Missing("not_applicable", "the mps device cannot be used here")
    ask = getattr(torch.mps, "recommended_max_memory", None)
    if ask is None:
        raise Missing("not_supported", "this torch does not tell it (2.6 does)")
    return int(ask())


def _xpu_available(torch: Any) -> bool:  # noqa: ANN401
    backend = getattr(torch, "xpu", None)
    return bool(backend and backend.is_available())


# ---- software -------------------------------------------------------------------------------------------------------


def _find_software(torch: Any, reading: Reading) -> None:  # noqa: ANN401
    reading.found("pytorch", torch.__version__, "torch.__version__")
    if hasattr(torch, "compile"):  # since 2.0
        reading.found("torchinductor", torch.__version__, "part of torch")
    for fact, component in (("cudnn.version", "cudnn"), ("nccl.version", "nccl")):
        if fact in reading.facts:
            reading.found(component, reading.facts[fact], "torch")
    if reading.facts.get("torch.hip_version"):
        reading.found("rocm", reading.facts["torch.hip_version"], "torch.version.hip")
    elif reading.facts.get("torch.cuda_version"):
        reading.found("cuda-runtime", reading.facts["torch.cuda_version"], "torch.version.cuda")
    if reading.facts.get("mps.available"):
        reading.found("mps", None, "torch.backends.mps")
        reading.found("mpsgraph", None, "torch.backends.mps")
        reading.found("mps-kernels", None, "torch.backends.mps")
    _find_cpu_libraries(str(torch.__config__.show()), reading)


def _find_cpu_libraries(built_with: str, reading: Reading) -> None:
    """From the lines torch.__config__.show() prints about its build."""
    for component, pattern in _BUILT_WITH.items():
        match = re.search(pattern, built_with)
        if match:
            reading.found(component, match[1] if match.re.groups else None, "torch.__config__")


_BUILT_WITH = {
    "mkl": r"Math Kernel Library Version (\d[\d.]*)",
    "onednn": r"(?:MKL-DNN|oneDNN) v(\d[\w.]*)",
    "openmp": r"OpenMP \d+ \(a\.k\.a\. OpenMP ([\d.]+)\)",
    "openblas": r"BLAS_INFO=open\b",
    "accelerate": r"BLAS_INFO=accelerate\b",
}


# ---- cards ----------------------------------------------------------------------------------------------------------


def _read_cards(torch: Any, reading: Reading) -> None:  # noqa: ANN401
    """Cards as torch sees them. They count only where no probe of their vendor tells more: see gather.py."""
    try:
        if reading.facts.get("cuda.available"):
            vendor = "amd" if reading.facts.get("torch.hip_version") else "nvidia"
            _read_devices(torch.cuda, vendor, reading)
        if reading.facts.get("xpu.available"):
            _read_devices(torch.xpu, "intel", reading)
    except Exception as error:  # noqa: BLE001 - a driver may fail anywhere in here; the facts above stay
        reading.problem(f"torch could not tell its devices: {type(error).__name__}: {error}")


def _read_devices(backend: Any, vendor: str, reading: Reading) -> None:  # noqa: ANN401
    for number in range(min(int(backend.device_count()), LIMITS.cards - len(reading.cards))):
        told = backend.get_device_properties(number)
        card = CardReading(len(reading.cards), "gpu", vendor, str(told.name), int(told.total_memory))
        uuid = getattr(told, "uuid", None)
        card.uuid_hash = hashed_uuid(str(uuid)) if uuid else None
        card.sheet.state("multiprocessors", getattr(told, "multi_processor_count", None))
        if vendor == "nvidia":
            card.sheet.state("compute_capability", f"{told.major}.{told.minor}")
        else:
            target = getattr(told, "gcnArchName", None)
            card.sheet.state("architecture", target or getattr(told, "architecture", None))
            card.sheet.state("gfx_target", str(target).partition(":")[0] if target else None)
        card.sheet.lack("power_w", "not_collected", "told by torch alone")
        reading.cards.append(card.card())
