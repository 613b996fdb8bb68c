"""Where an operation stands in a roofline: FLOP per byte of main memory, and the rate in FLOP/s. Pure of queries.

Bytes are those an operation must move at least: each matrix read or written once, weights read once for each token or
batch of tokens. What a kernel really moves is not published; it moves no less.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stackviz.base.units import format_number, quantity_label
from stackviz.records.cited.benchmark import Params
from stackviz.records.cited.bounds import weights_bytes

ITEM_BYTES: Mapping[str, float] = {
    "fp64": 8,
    "fp32": 4,
    "tf32": 4,
    "bf16": 2,
    "fp16": 2,
    "fp8": 1,
    "int8": 1,
    "fp4": 0.5,
}
# Operators in the order of the legend; the index is that of a shape in charts.scatter.SHAPES.
DECODE, GEMM, ATTENTION, PREFILL, STREAM, BYTES = OPERATORS = (
    "decode",
    "gemm",
    "attention",
    "prefill",
    "stream",
    "bytes",
)
# As the weights of cited.weights follow from.
MODEL_PARAMETERS: Mapping[str, float] = {"Llama 2 7B": 6.74e9}
MICRO_BATCH = 512  # tokens that llama-bench reads at once unless it is set: -ub
# FLOP and bytes for each element of 8 bytes: STREAM's counts, and those of BabelStream's dot.
STREAM_KERNELS: Mapping[str, tuple[int, int]] = {"triad": (2, 24), "dot": (2, 16)}
# Copies count bytes alone. They are drawn here, where the height of the slope is a tenth of the bandwidth.
BYTES_INTENSITY = 0.1
_LONGEST_SIDE = 10**9
_MATRIX = re.compile(r"dim=((?:\d+x)+\d+) dim=((?:\d+x)+\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`intensity` in FLOP/B; `rate` in FLOP/s, or for BYTES in B/s; `dtype` "" where the result does not state it.

    `short`: a word for the drawing.
    """

    operator: str
    dtype: str
    intensity: float
    rate: float
    formula: str
    short: str

    @property
    def height(self) -> float:
        """The height in the drawing, in FLOP/s."""
        return self.rate * BYTES_INTENSITY if self.operator == BYTES else self.rate


def operation_of(benchmark: str, params: Params, amount: float) -> Operation | None:
    """The operation of a result with this amount (base unit, one device); None where parameters do not tell."""
    reader = _READERS.get(benchmark)
    return reader(params, amount) if reader and amount > 0 else None


def product_intensity(m: int, n: int, k: int, item_bytes: float, batch: int = 1) -> float:
    """FLOP per byte of `batch` products C = A x B of m x k and k x n numbers, each matrix moved once."""
    return 2.0 * m * n * k * batch / _product_bytes(m, n, k, item_bytes, batch)


def _product_bytes(m: int, n: int, k: int, item_bytes: float, batch: int = 1, b_matrices: int = 0) -> float:
    return (batch * m * k + (b_matrices or batch) * k * n + batch * m * n) * item_bytes


def _gemm(params: Params, amount: float) -> Operation | None:
    dtype = str(params.get("dtype", ""))
    sides = _sides(params)
    if sides is None or dtype not in ITEM_BYTES:
        return None
    return product(dtype, sides, amount)


def product(dtype: str, sides: tuple[int, int, int], rate: float) -> Operation:
    """A product of m x k and k x n numbers; `sides`: m, n, k."""
    m, n, k = sides
    item = ITEM_BYTES[dtype]
    return Operation(
        operator=GEMM,
        dtype=dtype,
        intensity=product_intensity(m, n, k, item),
        rate=rate,
        formula=_formula(f"2 × {m:,} × {n:,} × {k:,}", _product_bytes(m, n, k, item)),
        short=f"gemm {dtype}",
    )


def _sides(params: Params) -> tuple[int, int, int] | None:
    """m, n, k; a search for the best size has them in `shape`."""
    if all(isinstance(params.get(side), int) for side in "mnk"):
        sides = [int(params[side]) for side in "mnk"]
    else:
        parts = str(params.get("shape", "")).split("x")
        if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
            return None
        sides = [int(part) for part in parts]
    return (sides[0], sides[1], sides[2]) if min(sides) > 0 else None


def _matmul(params: Params, amount: float) -> Operation | None:
    """A product that mlx-benchmark timed, of numbers of 4 bytes; `amount` in seconds."""
    if params.get("op") != "MatMul":
        return None
    shapes = _MATRIX.fullmatch(str(params.get("shape", "")))
    if shapes is None:
        return None
    a, b = ([int(side) for side in text.split("x")] for text in shapes.groups())
    if a[-1] != b[-2] or max(*a, *b) > _LONGEST_SIDE or min(*a, *b) < 1:
        return None
    batch, b_batch = _product_of(a[:-2]), _product_of(b[:-2])
    m, k, n = a[-2], a[-1], b[-1]
    flop, moved = 2.0 * m * n * k * batch, _product_bytes(m, n, k, ITEM_BYTES["fp32"], batch, b_batch)
    sides = f"2 × {batch:,} × {m:,} × {n:,} × {k:,}" if batch > 1 else f"2 × {m:,} × {n:,} × {k:,}"
    return Operation(
        operator=GEMM,
        dtype="fp32",
        intensity=flop / moved,
        rate=flop / amount,
        formula=_formula(sides, moved),
        short="gemm fp32",
    )


def _product_of(sides: list[int]) -> int:
    product_so_far = 1
    for side in sides:
        product_so_far *= side
    return product_so_far


def _attention(params: Params, amount: float) -> Operation | None:
    """Forward attention that never writes its S x S scores: 4·B·H·S²·D FLOP over Q, K, V and the output."""
    sequence, direction = params.get("sequence"), params.get("direction", "forward")
    if not isinstance(sequence, int) or sequence < 1 or direction != "forward":
        return None
    dtype = str(params.get("dtype", ""))
    item = ITEM_BYTES.get(dtype, 2)
    return Operation(
        operator=ATTENTION,
        dtype=dtype,
        intensity=sequence / item,
        rate=amount,
        formula=f"4·B·H·S²·D FLOP ÷ (4·B·H·S·D × {item:g} B), S = {sequence:,}",
        short="attention",
    )


def _llama_bench(params: Params, amount: float) -> Operation | None:
    model, test = str(params.get("model", "")), str(params.get("test", ""))
    kind, tokens = test[:2], test[2:]
    weights = weights_bytes({**params, "test": "tg"})
    parameters = MODEL_PARAMETERS.get(model)
    if weights is None or parameters is None or not (tokens.isascii() and tokens.isdecimal()):
        return None
    if kind not in ("tg", "pp"):
        return None
    micro_batch = params.get("micro_batch", MICRO_BATCH)
    at_once = 1 if kind == "tg" else min(int(tokens), int(micro_batch) if str(micro_batch).isdecimal() else MICRO_BATCH)
    each = f"2 × {format_number(parameters / 1e9)}e9"
    return Operation(
        operator=DECODE if kind == "tg" else PREFILL,
        dtype="",
        intensity=2 * parameters * at_once / weights,
        rate=2 * parameters * amount,
        formula=_formula(f"{each} × {at_once:,}" if at_once > 1 else each, weights, binary=True),
        short=f"{'decode' if kind == 'tg' else 'prefill'} {params.get('quant', '')}".strip(),
    )


def _stream(params: Params, amount: float) -> Operation | None:
    kernel = str(params.get("kernel", ""))
    if kernel in STREAM_KERNELS:
        flop, moved = STREAM_KERNELS[kernel]
        return Operation(
            operator=STREAM,
            dtype="fp64",
            intensity=flop / moved,
            rate=amount * flop / moved,
            formula=f"{flop} FLOP ÷ {moved} B",
            short=kernel,
        )
    return bytes_moved(amount, "copy") if kernel == "copy" else None


def _memory_bandwidth(params: Params, amount: float) -> Operation | None:
    return bytes_moved(amount, "copy") if params.get("test") in ("copy", "main_memory-bandwidth") else None


def _clpeak(params: Params, amount: float) -> Operation | None:
    """Reads of global memory alone; clpeak times local memory, images and transfers too."""
    return bytes_moved(amount, "clpeak") if params.get("test") == "Global memory bandwidth" else None


def _lattice(params: Params, amount: float) -> Operation | None:
    """A step of a D3Q19 lattice in fp32 reads and writes 153 B a cell: FluidX3D's README."""
    return bytes_moved(amount * 153, "FluidX3D") if params.get("precision") == "FP32/FP32" else None


def bytes_moved(rate: float, short: str) -> Operation:
    """Bytes each second with no operation counted."""
    formula = f"0 FLOP: {format_number(BYTES_INTENSITY)} FLOP/B"
    return Operation(operator=BYTES, dtype="", intensity=BYTES_INTENSITY, rate=rate, formula=formula, short=short)


def _formula(flop: str, moved: float, *, binary: bool = False) -> str:
    return f"{flop} FLOP ÷ {quantity_label(moved, 'B', binary=binary)}"


_READERS = {
    "gemm": _gemm,
    "operator-time": _matmul,
    "attention": _attention,
    "llama-bench": _llama_bench,
    "babelstream": _stream,
    "memory-bandwidth": _memory_bandwidth,
    "clpeak-bandwidth": _clpeak,
    "fluidx3d": _lattice,
}
BENCHMARKS = tuple(_READERS)
