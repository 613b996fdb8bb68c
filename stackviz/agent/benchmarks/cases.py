"""What can be run: each benchmark, its cases on a kind of device, and one run of it in torch.

The site knows the same keys, versions and parameters (stackviz/benchmarks/registry.py) and works out operations,
bytes and rates from them. Change what a run does and its version must rise. Torch is handed in.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["BENCHMARKS", "LIGHT_PARAMS", "Benchmark", "Case", "Prepared", "plan"]

Params = dict[str, str | int]
MIB = 2**20


@dataclass(frozen=True)
class Case:
    """One benchmark with one set of parameters on one device."""

    benchmark: str
    version: int
    device: str
    params: Params

    def __str__(self) -> str:
        return f"{self.benchmark} {' '.join(map(str, _told(self.params)))} on {self.device}"


def _told(params: Params) -> Iterator[str | int]:
    """The parameters as people say them: a square product by one side, bytes as MiB."""
    sides = [params[name] for name in ("m", "n", "k") if name in params]
    yield from (value for name, value in params.items() if name not in {"m", "n", "k", "bytes"})
    if sides:
        yield sides[0] if len(set(sides)) == 1 else "x".join(map(str, sides))
    if "bytes" in params:
        yield f"{int(params['bytes']) // MIB} MiB"


@dataclass(frozen=True)
class Prepared:
    """A case with its inputs made. `run` does it once, without waiting; `check` says what is wrong with the last run's
    output, None if nothing; `output` is looked at for the device that was really used."""

    run: Callable[[], object]
    output: Any
    check: Callable[[], str | None]
    conditions: Mapping[str, str | bool]


@dataclass(frozen=True)
class Benchmark:
    """`cases(kind of device, quick)` -> parameter sets. `prepare(torch, device, params)` makes random inputs.

    `working_set_bytes(params)`: memory that inputs and output take. `smaller(params)`: a set whose run is shorter, and
    by what factor, to tell beforehand that a run would take too long; None if every run is short.
    """

    key: str
    version: int
    cases: Callable[[str, bool], list[Params]]
    prepare: Callable[[Any, str, Params], Prepared]
    working_set_bytes: Callable[[Params], int]
    smaller: Callable[[Params], tuple[Params, float] | None]
    must_exceed_cache: bool = False


# ---- gemm: C = A x B ------------------------------------------------------------------------------------------------

_ITEM_BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "int8": 1}
_TORCH_TYPES = {
    "fp64": "float64",
    "fp32": "float32",
    "tf32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "int8": "int8",
}
_QUICK_TYPES = {
    "cuda": ("fp32", "tf32", "fp16", "bf16"),
    "mps": ("fp32", "fp16", "bf16"),
    "xpu": ("fp32", "fp16", "bf16"),
    "cpu": ("fp32", "bf16"),
}
_FULL_TYPES = {
    "cuda": ("fp64", "fp32", "tf32", "fp16", "bf16", "int8"),
    "mps": ("fp32", "fp16", "bf16"),
    "xpu": ("fp32", "fp16", "bf16"),
    "cpu": ("fp64", "fp32", "fp16", "bf16"),
}
_QUICK_SIZES = {"cpu": (1024, 2048)}
_FULL_SIZES = {"cpu": (512, 1024, 2048, 4096)}
_QUICK_SIZES_OF_OTHERS = (2048, 8192)
_FULL_SIZES_OF_OTHERS = (1024, 2048, 4096, 8192, 16384)
_PROBED_SIZE = 512
_CHECKED_COLUMNS = 64
# What they may differ from the same sums in float64, relative to the largest: rounding in the inputs' type over 16384
# random terms stays well below; a wrong kernel, or none, far above.
_TOLERANCE = {"fp64": 1e-9, "fp32": 1e-3, "tf32": 1e-2, "fp16": 2e-2, "bf16": 5e-2, "int8": 0.0}


def _gemm_cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 - the signature of Benchmark.cases
    types = (_QUICK_TYPES if quick else _FULL_TYPES)[kind]
    others = _QUICK_SIZES_OF_OTHERS if quick else _FULL_SIZES_OF_OTHERS
    sizes = (_QUICK_SIZES if quick else _FULL_SIZES).get(kind, others)
    return [_square(dtype, size) for dtype in types for size in sizes]


def _square(dtype: str, size: int) -> Params:
    return {"dtype": dtype, "m": size, "n": size, "k": size}


def _gemm_bytes(params: Params) -> int:
    m, n, k = (int(params[name]) for name in ("m", "n", "k"))
    output_bytes = 4 if params["dtype"] == "int8" else _ITEM_BYTES[str(params["dtype"])]
    return (m * k + k * n) * _ITEM_BYTES[str(params["dtype"])] + m * n * output_bytes


def _gemm_smaller(params: Params) -> tuple[Params, float] | None:
    size = int(params["m"])
    return (_square(str(params["dtype"]), _PROBED_SIZE), (size / _PROBED_SIZE) ** 3) if size > _PROBED_SIZE else None


def _prepare_gemm(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Uniform numbers in [-1, 1): zeros and ones draw less power and let clocks rise."""
    dtype = str(params["dtype"])
    m, n, k = (int(params[name]) for name in ("m", "n", "k"))
    torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
    a, b = _random(torch, device, dtype, m, k), _random(torch, device, dtype, k, n)
    kind = torch.int32 if dtype == "int8" else getattr(torch, _TORCH_TYPES[dtype])
    c = torch.empty((m, n), device=device, dtype=kind)
    product = torch._int_mm if dtype == "int8" else torch.mm  # noqa: SLF001 - the only product of int8 torch has
    return Prepared(
        run=lambda: product(a, b, out=c),
        output=c,
        check=lambda: _wrong_corner(torch, a, b, c, _TOLERANCE[dtype]),
        conditions={
            "inputs": "uniform",
            "matmul_precision": torch.get_float32_matmul_precision(),
            "tf32": dtype == "tf32",
        },
    )


def _random(torch: Any, device: str, dtype: str, rows: int, columns: int) -> Any:  # noqa: ANN401
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), device=device, dtype=torch.int8)
    made_as = torch.float64 if dtype == "fp64" else torch.float32  # not every device makes random 16-bit numbers
    made = torch.empty((rows, columns), device=device, dtype=made_as).uniform_(-1, 1)
    return made.to(getattr(torch, _TORCH_TYPES[dtype]))


def _wrong_corner(torch: Any, a: Any, b: Any, c: Any, tolerance: float) -> str | None:  # noqa: ANN401
    """A corner again, in float64 on the CPU: a device that did no work, or other work, is found out."""
    row, columns = a[-1:].cpu().to(torch.float64), b[:, -_CHECKED_COLUMNS:].cpu().to(torch.float64)
    expected = row @ columns
    off = float((c[-1:, -_CHECKED_COLUMNS:].cpu().to(torch.float64) - expected).abs().max() / expected.abs().max())
    return None if off <= tolerance else f"the product is wrong: off by {off:.2g} of its largest value"


# ---- memory-copy: B = A ---------------------------------------------------------------------------------------------

_QUICK_BYTES = (256 * MIB, 1024 * MIB)
_FULL_BYTES = (256 * MIB, 1024 * MIB, 4096 * MIB)


def _copy_cases(_kind: str, quick: bool) -> list[Params]:  # noqa: FBT001
    return [{"bytes": size} for size in (_QUICK_BYTES if quick else _FULL_BYTES)]


def _prepare_copy(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Random 4-byte numbers; `bytes` are read and as many written."""
    source = torch.empty((int(params["bytes"]) // 4,), device=device, dtype=torch.float32).uniform_(-1, 1)
    target = torch.empty_like(source)
    return Prepared(
        run=lambda: target.copy_(source),
        output=target,
        check=lambda: None if _same_ends(torch, source, target) else "the copy differs from its source",
        conditions={"inputs": "uniform"},
    )


def _same_ends(torch: Any, source: Any, target: Any) -> bool:  # noqa: ANN401
    return bool(torch.equal(source[:1000], target[:1000]) and torch.equal(source[-1000:], target[-1000:]))


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        "gemm": Benchmark("gemm", 1, _gemm_cases, _prepare_gemm, _gemm_bytes, _gemm_smaller),
        "memory-copy": Benchmark(
            "memory-copy",
            1,
            _copy_cases,
            _prepare_copy,
            working_set_bytes=lambda params: 2 * int(params["bytes"]),
            smaller=lambda _params: None,
            must_exceed_cache=True,
        ),
    }
)
"""Key -> benchmark, in the order they are run."""


LIGHT_PARAMS: Mapping[str, Params] = MappingProxyType(
    {"gemm": _square("fp32", 2048), "memory-copy": {"bytes": 256 * MIB}}
)
"""Key -> the one case every plan has for the CPU. A benchmark that could not be run at all is told of with these, so
that a later run takes its place."""


def plan(devices: list[tuple[str, str]], keys: list[str], *, quick: bool) -> list[Case]:
    """Cases for (name, kind) of each device. A quick plan that has accelerators asks the CPU for little."""
    has_accelerator = any(kind != "cpu" for _, kind in devices)
    return [
        Case(key, BENCHMARKS[key].version, name, params)
        for name, kind in devices
        for key in keys
        for params in BENCHMARKS[key].cases(kind, quick)
        if not (quick and has_accelerator and kind == "cpu" and not _is_light(key, params))
    ]


def _is_light(key: str, params: Params) -> bool:
    """Copies are all light, and which of them exceeds the processor's caches is not known here."""
    return key != "gemm" or params == LIGHT_PARAMS[key]
