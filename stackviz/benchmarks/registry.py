"""The benchmarks we know: what one run does, in which unit its rate is read, which published figure bounds it.

The agent sends seconds; rates are worked out here, so that a wrong formula is corrected without measuring again. To add
one: docs/recipes/benchmark.md. Needs no database.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Params = Mapping[str, Any]

# No machine is slower or faster, in FLOP/s or B/s: what seconds come to beyond is a mistake of the sender, not a rate.
RATE_LEAST, RATE_MOST = 1e-9, 1e24


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark in one version; a change of what is timed is a new version, never compared with the old one.

    `work`: how much one run does, in `unit` times seconds (FLOP, bytes); None if the parameters do not say.
    `bounds`: dtype -> catalogue fields whose published peak bounds the rate, the first that is published counts; key ""
    stands for any dtype. `formula` is shown beside the figure, `source` says where it is from. `integer_unit`: the unit
    where the dtype is an integer, if it is another.
    """

    key: str
    version: int
    title: str | Promise
    unit: str
    work: Callable[[Params], float | None]
    formula: str
    source: str
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    higher_is_better: bool = True
    integer_unit: str = ""

    def unit_of(self, params: Params) -> str:
        """The unit of the rate at these parameters: integers have operations, not floating-point ones."""
        is_integer = str(params.get("dtype", "")).startswith(("int", "uint"))
        return self.integer_unit if is_integer and self.integer_unit else self.unit

    def rate(self, params: Params, seconds: float | None) -> float | None:
        """What a run of `seconds` comes to, in `unit`; None if parameters or time do not say, or say what cannot be."""
        work = self.work(params)
        if not work or not seconds:
            return None
        rate = work / seconds
        return rate if RATE_LEAST <= rate <= RATE_MOST else None

    def bounding_fields(self, params: Params, *, tf32: bool = False) -> tuple[str, ...]:
        """Catalogue fields to look the peak up in. `tf32`: fp32 products were allowed to be rounded to TF32."""
        dtype = str(params.get("dtype", ""))
        if dtype == "fp32" and tf32:
            dtype = "tf32"
        return self.bounds.get(dtype, self.bounds.get("", ()))


def _gemm_work(params: Params) -> float | None:
    sides = [_positive(params, side) for side in ("m", "n", "k")]
    return 2.0 * sides[0] * sides[1] * sides[2] if all(sides) else None


def _copy_work(params: Params) -> float | None:
    return 2.0 * _positive(params, "bytes") or None


def _positive(params: Params, name: str) -> float:
    """The parameter as a number; 0.0 where it is missing or nonsense."""
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 < value < 1e18 else 0.0


GEMM = Benchmark(
    key="gemm",
    version=1,
    title=_("Matrix product"),
    unit="FLOP/s",
    work=_gemm_work,
    formula="2·m·n·k / s",
    source="a multiplication and an addition for each of m·n·k products: LAPACK Working Note 41, operation counts",
    bounds={
        "fp64": ("fp64_tensor_tflops", "fp64_tflops"),
        "fp32": ("fp32_tflops",),
        "tf32": ("tf32_tensor_tflops",),
        "bf16": ("bf16_tensor_tflops",),
        "fp16": ("fp16_tensor_tflops", "fp16_tflops"),
        "fp8": ("fp8_tensor_tflops",),
        "int8": ("int8_tensor_tops",),
    },
    integer_unit="op/s",
)

MEMORY_COPY = Benchmark(
    key="memory-copy",
    version=1,
    title=_("Memory copy"),
    unit="B/s",
    work=_copy_work,
    formula="2·bytes / s",
    source="each byte is read once and written once, as STREAM counts Copy: McCalpin, cs.virginia.edu/stream/ref.html",
    bounds={"": ("memory_bandwidth_gb_s",)},
)

BENCHMARKS: dict[tuple[str, int], Benchmark] = {(known.key, known.version): known for known in (GEMM, MEMORY_COPY)}


def benchmark(key: str, version: int) -> Benchmark | None:
    """The benchmark of this key and version; None if this site does not know it (its results are kept all the same)."""
    return BENCHMARKS.get((key, version))
