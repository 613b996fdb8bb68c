"""Memory and links: what is really reached of a published bandwidth."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import (
    MEMORY_BANDWIDTH,
    Bound,
    CitedBenchmark,
    Definition,
    Params,
    bounded_by_memory,
)

__all__ = ["BENCHMARKS"]

# Bytes one step of one cell of a D3Q19 lattice reads and writes: FluidX3D's README, "bandwidth".
_BYTES_PER_CELL = {"FP32/FP32": 153.0, "FP32/FP16S": 77.0, "FP32/FP16C": 77.0}


def _bound_of_lattice(params: Params) -> Bound | None:
    work = _BYTES_PER_CELL.get(str(params.get("precision", "")))
    return Bound(MEMORY_BANDWIDTH, work) if work else None


def _bound_of_clpeak(params: Params) -> Bound | None:
    return Bound(MEMORY_BANDWIDTH) if params.get("test") == "Global memory bandwidth" else None


BENCHMARKS = (
    CitedBenchmark(
        key="babelstream",
        order=210,
        title="BabelStream",
        measures=_("Bytes per second of the STREAM kernels over arrays far larger than the caches."),
        units=("B/s",),
        compared=("kernel",),
        leads_with={"kernel": "triad"},
        facets=("kernel", "implementation", "precision", "array"),
        also=("run",),
        bound=bounded_by_memory,
        definition=Definition("BabelStream", "https://github.com/UoB-HPC/BabelStream"),
    ),
    CitedBenchmark(
        key="gpu-stream",
        order=220,
        title="gpu-stream",
        measures=_("Bytes per second of simple kernels at full occupancy, over arrays far larger than the caches."),
        units=("B/s",),
        compared=("kernel",),
        leads_with={"kernel": "triad"},
        facets=("kernel", "block_size"),
        bound=bounded_by_memory,
        definition=Definition("gpu-benches: gpu-stream", "https://github.com/RRZE-HPC/gpu-benches"),
    ),
    CitedBenchmark(
        key="memory-bandwidth",
        order=230,
        title=_("Memory bandwidth, other tests"),
        measures=_("Bytes per second read and written by a test that its source describes."),
        units=("B/s",),
        compared=("test", "bytes"),
        leads_with={"test": "memtest write and read"},
        facets=("test", "bytes"),
        also=("measure",),
        adds_up=True,
        bound=bounded_by_memory,
        definition=Definition("STREAM: what is counted", "https://www.cs.virginia.edu/stream/ref.html"),
    ),
    CitedBenchmark(
        key="cache-bandwidth",
        order=240,
        title=_("Cache bandwidth"),
        measures=_("Bytes per second read from the cache that all parts of the processor share."),
        units=("B/s",),
        compared=("level", "data_set_kb", "block_run_kb"),
        leads_with={"level": "shared (L2 and beyond)", "data_set_kb": 4096, "block_run_kb": 512},
        facets=("level", "data_set_kb", "block_run_kb"),
        definition=Definition("gpu-benches: gpu-l2-cache", "https://github.com/RRZE-HPC/gpu-benches"),
    ),
    CitedBenchmark(
        key="clpeak-bandwidth",
        order=250,
        title=_("clpeak: bandwidth"),
        measures=_("Bytes per second to and from memory, local memory and images."),
        units=("B/s",),
        compared=("test", "metric"),
        leads_with={"test": "Global memory bandwidth", "metric": "float4"},
        facets=("test", "metric", "backend"),
        bound=_bound_of_clpeak,
        definition=Definition("clpeak", "https://github.com/krrishnarraj/clpeak"),
    ),
    CitedBenchmark(
        key="fluidx3d",
        order=260,
        title="FluidX3D",
        measures=_("Lattice cells a fluid simulation updates per second; memory bandwidth bounds it."),
        units=("LUP/s",),
        compared=("precision",),
        leads_with={"precision": "FP32/FP32"},
        facets=("precision",),
        bound=_bound_of_lattice,
        definition=Definition("FluidX3D", "https://github.com/ProjectPhysX/FluidX3D"),
    ),
    CitedBenchmark(
        key="interconnect-bandwidth",
        order=270,
        title=_("Links between devices and host"),
        measures=_("Bytes per second between host and device, between devices, and between servers."),
        units=("B/s",),
        compared=("test",),
        leads_with={"test": "Host to Device"},
        facets=("test",),
        also=("measure",),
        definition=Definition("nvbandwidth", "https://github.com/NVIDIA/nvbandwidth"),
    ),
    CitedBenchmark(
        key="nccl-allreduce",
        order=280,
        title=_("All-reduce"),
        measures=_("Bus bandwidth of an all-reduce over the devices of one server, by message size."),
        units=("B/s",),
        compared=("bytes", "algorithm"),
        leads_with={"bytes": 2147483648, "algorithm": "NVLS"},
        facets=("bytes", "algorithm"),
        definition=Definition(
            "nccl-tests: bus bandwidth", "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"
        ),
    ),
)
