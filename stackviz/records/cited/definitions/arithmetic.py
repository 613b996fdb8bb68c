"""Arithmetic: products of matrices, attention, single operators, instructions."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import CitedBenchmark, Definition, bounded_by_rate

__all__ = ["BENCHMARKS"]

BENCHMARKS = (
    CitedBenchmark(
        key="gemm",
        order=110,
        title=_("Matrix product"),
        measures=_("Operations per second reached in the product of two matrices of m x k and k x n numbers."),
        units=("FLOP/s", "op/s"),
        compared=("dtype", "m", "n", "k", "size", "trans_a", "trans_b", "mode", "test"),
        leads_with={"dtype": "bf16", "size": "best"},
        facets=("dtype", "size", "m", "n", "k", "mode", "accumulate", "library"),
        also=("shape", "format", "output", "math", "kernel", "init", "measure"),
        adds_up=True,
        bound=bounded_by_rate,
        definition=Definition(
            "LAPACK Working Note 41: operation counts", "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf"
        ),
    ),
    CitedBenchmark(
        key="attention",
        order=120,
        title=_("Attention"),
        measures=_("Operations per second reached in scaled dot-product attention."),
        units=("FLOP/s",),
        compared=("direction", "dtype", "batch", "heads", "sequence", "head_dim", "bound"),
        leads_with={"direction": "forward", "batch": 1, "heads": 48, "head_dim": 64, "sequence": 8192},
        facets=("kernel", "direction", "dtype", "head_dim", "sequence"),
        bound=bounded_by_rate,
        definition=Definition("FlashAttention-2", "https://arxiv.org/abs/2307.08691"),
    ),
    CitedBenchmark(
        key="operator-time",
        order=130,
        title=_("Operators"),
        measures=_("Seconds one call of an operator takes, by shape; averages are over all shapes of the suite."),
        units=("s",),
        compared=("op", "shape"),
        leads_with={"op": "Conv2d", "shape": "average of all shapes"},
        facets=("op", "shape", "framework"),
        also=("dtype", "part"),
        higher_is_better=False,
        definition=Definition("mlx-benchmark", "https://github.com/TristanBilot/mlx-benchmark"),
    ),
    CitedBenchmark(
        key="clpeak-compute",
        order=140,
        title=_("clpeak: arithmetic"),
        measures=_("Operations per second reached by loops of one kind of instruction."),
        units=("FLOP/s", "op/s"),
        compared=("test", "metric"),
        leads_with={"test": "Single-precision compute", "metric": "float"},
        facets=("test", "metric", "backend"),
        definition=Definition("clpeak", "https://github.com/krrishnarraj/clpeak"),
    ),
    CitedBenchmark(
        key="clpeak-latency",
        order=150,
        title=_("clpeak: kernel launch"),
        measures=_("Seconds from the host to a kernel that does nothing, and back."),
        units=("s",),
        compared=("test", "metric"),
        leads_with={"test": "Kernel launch latency", "metric": "roundtrip"},
        facets=("test", "metric", "backend"),
        higher_is_better=False,
        definition=Definition("clpeak", "https://github.com/krrishnarraj/clpeak"),
    ),
)
