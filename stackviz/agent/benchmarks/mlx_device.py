"""MLX's default device, measured beside torch's: the GPU of a Mac; on other machines the processor, where it is named.

MLX is passed in.
"""

import os
import platform
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from stackviz.agent.benchmarks.memory import ASSUMED_CACHE_BYTES, OURS_OF_FREE, cpu_cache_bytes, free_main_memory
from stackviz.report.measuring import Benchmark, Params, Prepared
from stackviz.report.measuring.benchmark import Unavailable
from stackviz.report.measuring.in_mlx import MLX, in_mlx

__all__ = ["MlxDevice", "mlx_devices"]


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
