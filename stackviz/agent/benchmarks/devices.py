"""The devices of torch and MLX on this machine, and what a measurement needs to know about one.

Both are passed in. Settings of torch's math libraries are read for each result: they make figures incomparable.
"""

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from stackviz.agent.benchmarks.memory import (
    ASSUMED_CACHE_BYTES,
    OURS_OF_FREE,
    amd_cache_bytes,
    cpu_cache_bytes,
    free_main_memory,
)
from stackviz.report.format import hashed_uuid
from stackviz.report.measuring import Benchmark, Params, Prepared
from stackviz.report.measuring.benchmark import Unavailable, uniform
from stackviz.report.measuring.in_mlx import MLX, in_mlx

__all__ = ["AnyDevice", "Device", "MlxDevice", "card_of", "list_devices", "math_settings", "mlx_devices"]


@dataclass(frozen=True)
class MlxDevice:
    """What measuring asks of a device, as `devices.Device` answers it for torch."""

    mlx: Any
    name: str = MLX
    kind: str = MLX
    index: int = 0

    def inference_mode(self) -> AbstractContextManager[object]:
        """MLX computes gradients for who asks for them: nothing has to be turned off."""
        return nullcontext()

    def prepare(self, benchmark: Benchmark, params: Params) -> Prepared:
        """Raises Unavailable for a benchmark that is not written for MLX."""
        run = in_mlx(benchmark)
        if run is None:
            raise Unavailable("this benchmark is not written for MLX")
        return run.prepare(self.mlx, params)

    def make_numbers(self, count: int) -> None:
        self.mlx.eval(self.mlx.random.uniform(-1, 1, (count,)))

    def synchronize(self) -> None:
        self.mlx.synchronize()

    def free_bytes(self) -> int | None:
        """Of the main memory, which the GPU of a Mac shares."""
        free = free_main_memory()
        return None if free is None else int(free * OURS_OF_FREE)

    def give_back(self) -> None:
        self.mlx.clear_cache()

    def cache_bytes(self) -> int | None:
        return None if self._is_gpu else cpu_cache_bytes()

    def exceeded_cache_bytes(self) -> int | None:
        return ASSUMED_CACHE_BYTES["mps"] if self._is_gpu else cpu_cache_bytes()

    def lacks(self, _dtype: str) -> str | None:
        """Nothing: a case is planned where MLX has its type."""
        return None

    def device_used(self, _prepared: Prepared) -> str:
        """`mlx:gpu`. An array lies in memory that all devices share; MLX's default device computes."""
        return f"{MLX}:{'gpu' if self._is_gpu else 'cpu'}"

    def conditions(self, _dtype: str) -> dict[str, Any]:
        """`tf32`: MLX's documentation, "Numerical Precision", says how it is turned off."""
        return {"mlx_version": str(self.mlx.__version__), "tf32": False}

    @property
    def _is_gpu(self) -> bool:
        return bool(self.mlx.default_device() == self.mlx.Device(self.mlx.gpu, 0))


def mlx_devices(wanted: Sequence[str]) -> list[MlxDevice]:
    """One where MLX is installed: on a Mac unless other devices are named, elsewhere if it is named itself."""
    is_measured = MLX in wanted or (not wanted and platform.system() == "Darwin")
    if is_measured:
        os.environ["MLX_ENABLE_TF32"] = "0"  # read when it is loaded; else GPUs with matrix units (M5) round to TF32
        with suppress(ImportError):
            import mlx.core

            return [MlxDevice(mlx.core)]
    return []


_VARIABLES = (
    "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_NUM_THREADS", "MKL_DYNAMIC", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR",
    "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "VECLIB_MAXIMUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_BLAS_PREFER_CUBLASLT",
    "CUDA_LAUNCH_BLOCKING", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "TORCH_CUDNN_V8_API_DISABLED", "TORCH_BLAS_PREFER_HIPBLASLT", "ROCBLAS_LAYER", "HIPBLASLT_TENSILE_LIBPATH",
    "HSA_OVERRIDE_GFX_VERSION", "AMD_SERIALIZE_KERNEL", "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_FAST_MATH",
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"[\w.,:;=+{}()\[\]-]{1,80}")


def math_settings(torch: Any, kind: str, dtype: str) -> dict[str, str | bool]:  # noqa: ANN401 - torch has no types here
    """What can be read of this torch, for products of this type on this kind of device; the rest is left out."""
    settings: dict[str, str | bool] = {}
    for name, ask in (_ON_CARDS if kind == "cuda" else _ON_PROCESSORS).items():
        with suppress(Exception):  # each version of torch has others
            settings[name] = ask(torch)
    with suppress(Exception):
        settings["deterministic"] = bool(torch.are_deterministic_algorithms_enabled())
    if kind == "cuda" and dtype in {"fp16", "bf16"}:
        with suppress(Exception):
            allowed = getattr(torch.backends.cuda.matmul, f"allow_{dtype}_reduced_precision_reduction")
            settings["reduced_precision_reduction"] = bool(allowed[0] if isinstance(allowed, tuple) else allowed)
    settings["math_environment"] = _environment(os.environ)
    return settings


def _environment(environment: Mapping[str, str]) -> str:
    """`OMP_NUM_THREADS=8 MKL_DYNAMIC=FALSE`, "none"; a value that is a path, or odd, is not sent."""
    values = {name: environment[name] for name in _VARIABLES if environment.get(name)}
    return " ".join(f"{name}={_plain(value)}" for name, value in values.items()) or "none"


def _plain(value: str) -> str:
    return value if _PLAIN_VALUE.fullmatch(value) else "(set)"


def _processor_blas(torch: Any) -> str:  # noqa: ANN401 - torch has no types here
    """`mkl, onednn`: torch.__config__ names the library it was built with."""
    built = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    libraries = [built[1]] if built else []
    if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled:
        libraries.append("onednn")
    return ", ".join(libraries) or "unknown"


def _cuda_blas(torch: Any) -> str:  # noqa: ANN401
    return str(torch.backends.cuda.preferred_blas_library()).rpartition(".")[2].lower()


_ON_CARDS: dict[str, Callable[[Any], str | bool]] = {
    "blas_library": _cuda_blas,
    "fp16_accumulation": lambda torch: bool(torch.backends.cuda.matmul.allow_fp16_accumulation),
    "cudnn_benchmark": lambda torch: bool(torch.backends.cudnn.benchmark),
    "cudnn_deterministic": lambda torch: bool(torch.backends.cudnn.deterministic),
}
_ON_PROCESSORS: dict[str, Callable[[Any], str | bool]] = {"blas_library": _processor_blas}


_FIRST_CAPABILITIES = {"tf32": (8, 0), "fp8": (8, 9), "mxfp8": (10, 0), "nvfp4": (10, 0)}
"""Type -> compute capability of the first NVIDIA cards that have it: CUDA C++ Programming Guide, and torch's checks of
its scaled products (aten/src/ATen/native/cuda/ScaledBlas.cpp)."""

_NOT_BY_ROCM = {
    "tf32": "TF32 is a type of NVIDIA cards",
    "fp8": "AMD cards before gfx950 have another FP8 (e4m3fnuz), which this agent does not measure",
    "mxfp8": "this agent measures MXFP8 on NVIDIA cards only",
    "nvfp4": "NVFP4 is a type of NVIDIA cards",
}


@dataclass(frozen=True)
class Device:
    """One of torch. `name` as torch takes it: cuda:0, mps, cpu. ROCm cards are cuda devices to torch."""

    torch: Any
    name: str
    kind: str
    index: int = 0

    def inference_mode(self) -> AbstractContextManager[object]:
        """What everything is measured in: without the records that gradients need."""
        mode: AbstractContextManager[object] = self.torch.inference_mode()
        return mode

    def prepare(self, benchmark: Benchmark, params: Params) -> Prepared:
        """Inputs made, and what a run is. Raises Unavailable."""
        return benchmark.prepare(self.torch, self.name, params)

    def make_numbers(self, count: int) -> None:
        """Random numbers of 32 bits, to see how long they take."""
        uniform(self.torch, self.name, (count,), self.torch.float32)

    def device_used(self, prepared: Prepared) -> str:
        """The device that really computed."""
        name = str(prepared.output.device)
        return f"{name}:0" if name in {"cuda", "xpu", "mps"} else name

    def conditions(self, dtype: str) -> dict[str, Any]:
        """What torch is, and what it is set to."""
        return {
            "torch_version": str(self.torch.__version__),
            "num_threads": int(self.torch.get_num_threads()),
            **math_settings(self.torch, self.kind, dtype),
        }

    def synchronize(self) -> None:
        """Wait until the device has done all it was given. CPU operators return when they are done."""
        if self.kind == "cuda":
            self.torch.cuda.synchronize(self.index)
        elif self.kind == "xpu":
            self.torch.xpu.synchronize(self.index)
        elif self.kind == "mps":
            self.torch.mps.synchronize()

    def free_bytes(self) -> int | None:
        """Memory a benchmark may use; None if unknown."""
        free: int | None = None
        with suppress(Exception):  # a driver that does not tell costs no case
            if self.kind in {"cuda", "xpu"}:
                free = int(getattr(self.torch, self.kind).mem_get_info(self.index)[0])
            elif self.kind == "mps":
                free = int(self.torch.mps.recommended_max_memory() - self.torch.mps.driver_allocated_memory())
        if self._uses_main_memory():
            main = free_main_memory()
            free = main if free is None else free if main is None else min(free, main)
        return None if free is None else int(free * OURS_OF_FREE)

    def _uses_main_memory(self) -> bool:
        """GB10 and Jetson too: their driver counts the memory of the machine, not what a control group leaves of it."""
        if self.kind != "cuda":
            return self.kind in {"cpu", "mps"}
        with suppress(Exception):
            return bool(getattr(self.torch.cuda.get_device_properties(self.index), "is_integrated", False))
        return False

    def give_back(self) -> None:
        """Return memory that torch keeps for reuse, so that the next case finds it free."""
        if self.kind != "cpu":
            getattr(self.torch, self.kind).empty_cache()

    def cache_bytes(self) -> int | None:
        """The size of the last-level cache; None if unknown (Apple's system cache)."""
        if self.is_hip:
            return amd_cache_bytes()
        if self.kind == "cuda":
            size = getattr(self.torch.cuda.get_device_properties(self.index), "L2_cache_size", None)
            return int(size) if size else None
        return cpu_cache_bytes() if self.kind == "cpu" else None

    def exceeded_cache_bytes(self) -> int | None:
        """What a copy must exceed to be one of memory: where the cache is unknown, the largest of its kind."""
        kind = "hip" if self.is_hip else "mps" if self.kind == "cpu" and platform.system() == "Darwin" else self.kind
        return self.cache_bytes() or ASSUMED_CACHE_BYTES.get(kind)

    def lacks(self, dtype: str) -> str | None:
        """Why this device would compute in another type than this one; None if nothing says so."""
        if self.kind != "cuda" or dtype not in _FIRST_CAPABILITIES:
            return None
        if self.is_hip:
            return _NOT_BY_ROCM[dtype]
        if dtype == "tf32" and os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
            return "NVIDIA_TF32_OVERRIDE=0 forbids TF32"
        properties = self.torch.cuda.get_device_properties(self.index)
        capability, first = (int(properties.major), int(properties.minor)), _FIRST_CAPABILITIES[dtype]
        if capability >= first:
            return None
        return "{} begins with compute capability {}.{}; this card has {}.{}".format(dtype.upper(), *first, *capability)

    @property
    def is_hip(self) -> bool:
        return self.kind == "cuda" and bool(getattr(getattr(self.torch, "version", None), "hip", None))


AnyDevice = Device | MlxDevice


def list_devices(torch: Any, wanted: Sequence[str] = ()) -> list[AnyDevice]:  # noqa: ANN401
    """Accelerators first, the CPU last. `wanted`: names ("cuda:1") or kinds ("cuda"); nothing means all."""
    devices: list[AnyDevice] = []
    for kind in ("cuda", "xpu"):
        backend = getattr(torch, kind, None)
        if backend is not None and backend.is_available():
            devices += [Device(torch, f"{kind}:{n}", kind, n) for n in range(backend.device_count())]
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        devices.append(Device(torch, "mps", "mps"))
    devices += mlx_devices(wanted)
    devices.append(Device(torch, "cpu", "cpu"))
    return [device for device in devices if not wanted or device.name in wanted or device.kind in wanted]


def card_of(device: AnyDevice, cards: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the report's card for a device; None if no card is known to be it."""
    if device.kind == "cpu":
        return None
    vendors = {"mps": {"apple", "amd"}, "mlx": {"apple"}, "xpu": {"intel"}}.get(device.kind, {"nvidia", "amd"})
    candidates = [card for card in cards if card["vendor"] in vendors]
    if isinstance(device, Device) and device.kind == "cuda":
        properties = device.torch.cuda.get_device_properties(device.index)
        uuid = getattr(properties, "uuid", None)
        wanted = hashed_uuid(str(uuid)) if uuid else None
        same = [card for card in candidates if wanted and card.get("uuid_hash") == wanted]
        if not same:  # torch before 2.4 tells no UUID; MIG instances tell their card's name with the profile
            same = [card for card in candidates if card["reported_name"] == str(properties.name)]
        candidates = same or candidates
    return int(candidates[0]["index"]) if len(candidates) == 1 else None
