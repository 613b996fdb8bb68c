"""Which results come first, wherever a page leads with one or lists many: what most people ask a machine for."""

from stackviz.records.series.measurement import Measurement

BENCHMARKS = ("gemm", "llama-bench", "memory-copy")
DTYPES = ("bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "mxfp8", "nvfp4", "int8")


def benchmark_place(key: str) -> int:
    """From 0; every other benchmark comes after those of BENCHMARKS."""
    return BENCHMARKS.index(key) if key in BENCHMARKS else len(BENCHMARKS)


def dtype_place(dtype: object) -> int:
    """From 0; every other data type, or none, comes after those of DTYPES."""
    return DTYPES.index(dtype) if isinstance(dtype, str) and dtype in DTYPES else len(DTYPES)


def work_of(result: Measurement) -> float:
    """How much there was to do: bytes moved or operations; 0 where nobody can tell."""
    return (result.benchmark.work(result.params) if result.benchmark else None) or 0.0


def is_accelerated(result: Measurement) -> bool:
    """Whether it ran on an accelerator, not on the processor."""
    return result.card is not None or not result.device.startswith("cpu")
