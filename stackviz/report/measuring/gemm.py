"""`gemm`: the product of two square matrices, C = A x B."""

from collections.abc import Callable
from typing import Any

from stackviz.report.measuring.benchmark import (
    TENSOR_PEAKS,
    AnyParams,
    Benchmark,
    Conditions,
    Params,
    Prepared,
    Unavailable,
    gettext_noop,
    note_error,
    positive,
    relative_error,
    uniform,
)

__all__ = ["GEMM"]

_BLOCKS = {"mxfp8": 32, "nvfp4": 16}
"""Numbers that share a scale of one byte, along k: OCP Microscaling Formats 1.0, and NVIDIA's PTX ISA for NVFP4."""

_ITEM_BYTES = {
    "fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0, "mxfp8": 1 + 1 / 32,
    "nvfp4": 1 / 2 + 1 / 16, "int8": 1.0,
}  # fmt: skip
_OUTPUT_TYPES = {"fp8": "bf16", "mxfp8": "bf16", "nvfp4": "bf16", "int8": "int32"}  # of the others: that of the inputs
_OUTPUT_BYTES = _ITEM_BYTES | {"fp8": 2.0, "mxfp8": 2.0, "nvfp4": 2.0, "int8": 4.0}
_TORCH_TYPES = {
    "fp64": "float64",
    "fp32": "float32",
    "tf32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8": "float8_e4m3fn",
    "mxfp8": "float8_e4m3fn",
    "nvfp4": "float4_e2m1fn_x2",
    "int8": "int8",
    "int32": "int32",
}
_QUICK_TYPES = {
    "cuda": ("fp32", "tf32", "fp16", "bf16"),
    "mps": ("fp32", "fp16", "bf16"),
    "xpu": ("fp32", "fp16", "bf16"),
    "cpu": ("fp32", "bf16"),
}
_FULL_TYPES = {
    "cuda": ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"),
    "mps": ("fp32", "fp16", "bf16"),
    "xpu": ("fp32", "fp16", "bf16"),
    "cpu": ("fp64", "fp32", "fp16", "bf16", "fp8", "int8"),
}
_QUICK_SIZES = {"cpu": (1024, 2048)}
_FULL_SIZES = {"cpu": (512, 1024, 2048, 4096)}
_QUICK_SIZES_OF_OTHERS = (2048, 8192)
_FULL_SIZES_OF_OTHERS = (1024, 2048, 4096, 8192, 16384)
_LEAST_SIZE_OF_BLOCKS = 4096  # below, such a product is too short for the units to matter
_QUICK_BF16_SIZE = 1024  # on a processor: many have no units for it and would take a third of the time of all cases
_LONGEST_STANDARD_SIZE = 8192
_LONG_TYPES = {"cpu": {"fp8", "int8"}}  # torch has slow products of them there: seconds of int8 1024 on two cores
_SCALED = frozenset({"fp8", *_BLOCKS})
_SCALE_TYPES = {"mxfp8": "float8_e8m0fnu", "nvfp4": "float8_e4m3fn"}
_CODE_OF_1 = {"mxfp8": 127, "nvfp4": 56}  # the byte that means 1.0: an exponent of 0 with its bias, 127 and 7 << 3
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # by its lower three bits; the fourth is the sign
_PROBED_SIZE = 512
_CHECKED_COLUMNS = 64
# What they may differ from the same sums in float64, relative to the largest: rounding in the inputs' type over 16384
# random terms stays well below; a wrong kernel, or none, far above. Products with scales are rounded to bf16.
_TOLERANCE = {
    "fp64": 1e-9, "fp32": 5e-5, "tf32": 1e-2, "fp16": 2e-2, "bf16": 5e-2, "fp8": 5e-2,
    "mxfp8": 5e-2, "nvfp4": 5e-2, "int8": 0.0,
}  # fmt: skip


# TF32 rounds inputs to 11 bits: with k from 512 to 16384 random terms off by 2e-4 to 4e-4 of the largest of 64 sums,
# fp32 by at most 3e-6, summed one by one (worked out with inputs rounded so). What lies between tells that the other
# one ran: on a card without TF32, or where the environment forbids it or forces it on fp32 (NVIDIA_TF32_OVERRIDE).
_TF32_IS_OFF_BY = 1e-5


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    types = (_QUICK_TYPES if quick else _FULL_TYPES)[kind]
    others = _QUICK_SIZES_OF_OTHERS if quick else _FULL_SIZES_OF_OTHERS
    sizes = (_QUICK_SIZES if quick else _FULL_SIZES).get(kind, others)
    return [
        _square(dtype, size)
        for dtype in types
        for size in sizes
        if not (quick and kind == "cpu" and dtype == "bf16" and size > _QUICK_BF16_SIZE)
        and not (dtype in _BLOCKS and size < _LEAST_SIZE_OF_BLOCKS)
    ]


def _square(dtype: str, size: int) -> Params:
    return {"dtype": dtype, "m": size, "n": size, "k": size}


def _working_set_bytes(params: Params) -> int:
    m, n, k = (int(params[name]) for name in ("m", "n", "k"))
    dtype = str(params["dtype"])
    return int((m * k + k * n) * _ITEM_BYTES[dtype] + m * n * _OUTPUT_BYTES[dtype])


def _extra_bytes(params: Params) -> int:
    """Shorter inputs are made of 32-bit numbers, one matrix after the other, before there is an output."""
    made_bytes = int(params["k"]) * max(int(params["m"]), int(params["n"])) * 4
    output_bytes = int(int(params["m"]) * int(params["n"]) * _OUTPUT_BYTES[str(params["dtype"])])
    return max(0, made_bytes - output_bytes) if params["dtype"] in {"fp16", "bf16", "fp8", "mxfp8"} else 0


def _is_long(kind: str, params: Params) -> bool:
    return int(params["m"]) > _LONGEST_STANDARD_SIZE or params["dtype"] in _LONG_TYPES.get(kind, ())


def _smaller(params: Params) -> tuple[Params, float] | None:
    size = int(params["m"])
    return (_square(str(params["dtype"]), _PROBED_SIZE), (size / _PROBED_SIZE) ** 3) if size > _PROBED_SIZE else None


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Uniform numbers in [-1, 1): zeros and ones draw less power and let clocks rise."""
    dtype = str(params["dtype"])
    m, n, k = (int(params[name]) for name in ("m", "n", "k"))
    torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
    if dtype in _SCALED and not (hasattr(torch, "_scaled_mm") and hasattr(torch, _TORCH_TYPES[dtype])):
        raise Unavailable(f"this torch has no product of {dtype}")
    a = _random(torch, device, dtype, m, k)
    # A product with scales wants its second factor by columns, as the weights of a layer lie.
    b = _random(torch, device, dtype, n, k).t() if dtype in _SCALED else _random(torch, device, dtype, k, n)
    output_type = _TORCH_TYPES[_OUTPUT_TYPES.get(dtype, dtype)]
    c = torch.empty((m, n), device=device, dtype=getattr(torch, output_type))
    conditions: Conditions = {
        "inputs": "uniform",
        "matmul_precision": torch.get_float32_matmul_precision(),
        "tf32": dtype == "tf32",
    }
    return Prepared(
        run=_product(torch, dtype, a, b, c),
        output=c,
        check=lambda: _problem(note_error(conditions, _error(torch, a, b, c)), dtype),
        conditions=conditions,
    )


def _product(torch: Any, dtype: str, a: Any, b: Any, c: Any) -> Callable[[], object]:  # noqa: ANN401
    """What makes C once. Raises Unavailable where torch has no product of this type for this device."""
    if dtype == "int8":
        return lambda: torch._int_mm(a, b, out=c)  # noqa: SLF001 - the only product of int8 torch has
    if dtype not in _SCALED:
        return lambda: torch.mm(a, b, out=c)
    scale_a, scale_b = (_scales(torch, dtype, rows) for rows in (a, b.t()))

    def run() -> object:
        return torch._scaled_mm(a, b, scale_a=scale_a, scale_b=scale_b, out_dtype=c.dtype, out=c)  # noqa: SLF001 - as above

    try:
        run()
    except NotImplementedError as error:
        raise Unavailable(f"this torch has no product of {dtype} for this device") from error
    return run


def _scales(torch: Any, dtype: str, rows: Any) -> Any:  # noqa: ANN401
    """Scales of 1: one for all of fp8, else one for each block, of whole tiles of 128 rows by 4 blocks, in whose order
    they lie (cuBLAS documentation, block scaling factors layout): as all are alike, the order is any."""
    if dtype == "fp8":
        return torch.ones((), device=rows.device)
    count, k = rows.shape[0], rows.shape[1] * (2 if dtype == "nvfp4" else 1)
    of_tiles = -(-count // 128) * 128 * -(-k // (4 * _BLOCKS[dtype])) * 4
    scales = torch.full((of_tiles,), _CODE_OF_1[dtype], dtype=torch.uint8, device=rows.device)
    return scales.view(getattr(torch, _SCALE_TYPES[dtype]))


def _random(torch: Any, device: str, dtype: str, rows: int, columns: int) -> Any:  # noqa: ANN401
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), device=device, dtype=torch.int8)
    if dtype == "nvfp4":  # two numbers a byte, of which each is one of 16
        made = torch.randint(0, 256, (rows, columns // 2), device=device, dtype=torch.uint8)
        return made.view(torch.float4_e2m1fn_x2)
    made_as = torch.float64 if dtype == "fp64" else torch.float32  # not every device makes random 16-bit numbers
    return uniform(torch, device, (rows, columns), made_as).to(getattr(torch, _TORCH_TYPES[dtype]))


def _error(torch: Any, a: Any, b: Any, c: Any) -> float:  # noqa: ANN401
    """A corner again, in float64 on the CPU: a device that did no work, or other work, is found out."""
    expected = _last_rows(torch, a, 1) @ _last_rows(torch, b.t(), _CHECKED_COLUMNS).t()
    return relative_error(c[-1:, -_CHECKED_COLUMNS:], expected)


def _last_rows(torch: Any, matrix: Any, count: int) -> Any:  # noqa: ANN401
    """In float64 on the CPU."""
    if not str(matrix.dtype).endswith("x2"):
        return matrix[-count:].cpu().to(torch.float64)
    both = matrix.view(torch.uint8)[-count:].cpu().long()
    values = torch.tensor([*_E2M1, *(-value for value in _E2M1)], dtype=torch.float64)
    return torch.stack([values[both % 16], values[both // 16]], -1).flatten(1)


def _problem(off: float, dtype: str) -> str | None:
    """What a corner that is so far off says."""
    if not off <= _TOLERANCE[dtype]:  # NaN too
        return f"the product is wrong: off by {off:.2g} of its largest value"
    if dtype == "tf32" and off < _TF32_IS_OFF_BY:
        return f"TF32 was not in effect: off by {off:.2g} of its largest value only, as fp32 is"
    return None


def _work(params: AnyParams) -> float | None:
    sides = [positive(params, side) for side in ("m", "n", "k")]
    return 2.0 * sides[0] * sides[1] * sides[2] if all(sides) else None


def _bytes_moved(params: AnyParams) -> float | None:
    """A and B read once, C written once."""
    is_known = _work(params) and params.get("dtype") in _ITEM_BYTES
    return float(_working_set_bytes(dict(params))) if is_known else None


def _script(params: Params) -> tuple[str, ...]:
    dtype, n = str(params["dtype"]), params["m"]
    if dtype == "int8":
        return (
            f'a, b = (torch.randint(-128, 128, ({n}, {n}), dtype=torch.int8, device=device) for _ in "ab")',
            f"c = torch.empty({n}, {n}, dtype=torch.int32, device=device)",
            "run = lambda: torch._int_mm(a, b, out=c)",
        )
    if dtype in _BLOCKS:
        return _script_of_blocks(dtype, int(n))
    if dtype == "fp8":
        made = f"torch.empty({n}, {n}, device=device).uniform_(-1, 1).to(torch.float8_e4m3fn)"
        return (
            f"a, b, scale = {made}, {made}.t(), torch.ones((), device=device)",
            f"c = torch.empty({n}, {n}, dtype=torch.bfloat16, device=device)",
            "run = lambda: torch._scaled_mm(a, b, scale_a=scale, scale_b=scale, out_dtype=c.dtype, out=c)",
        )
    precision = 'torch.set_float32_matmul_precision("high"); ' if dtype == "tf32" else ""
    made = f"torch.empty({n}, {n}, device=device).uniform_(-1, 1).to(torch.{_TORCH_TYPES[dtype]})"
    return f'{precision}a, b = ({made} for _ in "ab")', "c = torch.empty_like(a)", "run = lambda: torch.mm(a, b, out=c)"


def _script_of_blocks(dtype: str, n: int) -> tuple[str, ...]:
    made = (
        f"torch.randint(0, 256, ({n}, {n // 2}), dtype=torch.uint8, device=device).view(torch.float4_e2m1fn_x2)"
        if dtype == "nvfp4"
        else f"torch.empty({n}, {n}, device=device).uniform_(-1, 1).to(torch.float8_e4m3fn)"
    )
    ones = f"torch.full(({n * n // _BLOCKS[dtype]},), {_CODE_OF_1[dtype]}, dtype=torch.uint8, device=device)"
    return (
        f'a, b = ({made} for _ in "ab")',
        f"scale = {ones}.view(torch.{_SCALE_TYPES[dtype]})  # each of them is 1.0",
        "run = lambda: torch._scaled_mm(a, b.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)",
    )


GEMM = Benchmark(
    key="gemm",
    version=1,
    title=gettext_noop("Matrix product"),
    measures=gettext_noop("Operations per second of the product of two square matrices in one number format."),
    runs=gettext_noop(
        "C = A x B, square, uniform random numbers in [-1, 1); of fp8 (e4m3), mxfp8, nvfp4 C is bf16, of int8 int32. "
        "Scales are 1: fp8 has one, mxfp8 one for 32 numbers, nvfp4 one for 16. On a processor, where torch multiplies "
        "fp8 and int8 slowly, a full suite alone has them."
    ),
    sizes="fp64, fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, int8 as the device has them; 512 to 16384",
    order=10,
    cases=_cases,
    light=_square("fp32", 2048),
    prepare=_prepare,
    working_set_bytes=_working_set_bytes,
    extra_bytes=_extra_bytes,
    smaller=_smaller,
    is_long=_is_long,
    unit="FLOP/s",
    integer_unit="op/s",
    work=_work,
    formula="2·m·n·k / s",
    source="a multiplication and an addition for each of m·n·k products: LAPACK Working Note 41, operation counts",
    bounds=TENSOR_PEAKS,
    operations=_work,
    operations_formula="2·m·n·k",
    bytes_moved=_bytes_moved,
    bytes_formula="(m·k + k·n)·b + m·n·c",
    script=_script,
    setting_names_it=True,
)
