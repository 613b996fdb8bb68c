"""How the weights of a language model lie in memory, and torch's product with them.

Besides floating-point numbers: 8 bits with a scale for each row, 4 bits with a scale and a zero for each 64 of a row,
multiplied with activations of 16 bits by `torch._weight_int8pack_mm` and `torch._weight_int4pack_mm`: torch's own
operators, which are not the fastest there are; on CUDA that of int8 is a simple kernel. Names with an underscore may
change with any release of torch: where a small product fails the case is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackviz.report.measuring.benchmark import FLOAT_BYTES, AnyParams, Unavailable, breaks_device, float_type

__all__ = ["GROUP", "QUANTIZED_BITS", "WeightFormat", "bytes_of_weight", "program_of_format", "weight_format"]

QUANTIZED_BITS = {"int8": 8, "int4": 4}
GROUP = 64
"""Weights of 4 bits that share a scale and a zero: as many as by default in MLX."""

_BYTES = {"int8": 1.0, "int4": 0.5 + 2 * FLOAT_BYTES["bf16"] / GROUP}
_MOST = {"int8": 127, "int4": 7}
_OPERATORS = {
    "int8": ("_weight_int8pack_mm",),
    "int4": (
        "_convert_weight_to_int4pack",
        "_convert_weight_to_int4pack_for_cpu",
        "_weight_int4pack_mm",
        "_weight_int4pack_mm_for_cpu",
    ),
}
_LONGEST_REASON = 120
_TILE = 16  # columns; CUDA reads eight of them at a time, or four


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """`store(matrix)`: what is kept of random fp32 numbers of shape (rows, columns), a tensor or a tuple of tensors.
    `exact(matrix)`: the numbers that `store` keeps, float64 on the CPU. `linear(x, stored)`: `x` of shape
    (..., columns) -> (..., rows).
    """

    store: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    linear: Callable[[Any, Any], Any]


def bytes_of_weight(params: AnyParams) -> float | None:
    """Bytes of a weight with its share of scales; one for int8, whose scale of a row is left out. None for an unknown
    format.
    """
    if "weights" not in params:
        return FLOAT_BYTES.get(str(params.get("dtype")))
    return _BYTES.get(str(params["weights"]))


def weight_format(torch: Any, device: str, params: AnyParams) -> WeightFormat:  # noqa: ANN401
    """The format of a case. Raises Unavailable where this torch has no product for it on the device."""
    if "weights" not in params:
        dtype = getattr(torch, float_type(str(params["dtype"])))
        return WeightFormat(
            lambda matrix: matrix.to(dtype),
            lambda matrix: matrix.to(dtype).cpu().to(torch.float64),
            torch.nn.functional.linear,
        )
    name = str(params["weights"])
    if not all(hasattr(torch, operator) for operator in _OPERATORS[name]):
        raise Unavailable(f"this torch has no product with {name} weights")
    made = _int8(torch) if name == "int8" else _int4(torch, device)
    _try_product(torch, device, name, made)
    return made


def _rounded(torch: Any, matrix: Any, most: int) -> tuple[Any, Any]:  # noqa: ANN401
    """Whole numbers up to `most`, as fp32, and the scale of each row in bf16."""
    scale = (matrix.abs().amax(-1) / most).to(torch.bfloat16)
    return (matrix / scale.unsqueeze(-1)).round_().clamp_(-most, most), scale


def _exact(torch: Any, whole: Any, scale: Any) -> Any:  # noqa: ANN401
    return whole.cpu().to(torch.float64) * scale.cpu().to(torch.float64).unsqueeze(-1)


def _int8(torch: Any) -> WeightFormat:  # noqa: ANN401
    def store(matrix: Any) -> tuple[Any, Any]:  # noqa: ANN401
        whole, scale = _rounded(torch, matrix, _MOST["int8"])
        return whole.to(torch.int8), scale

    def linear(x: Any, stored: tuple[Any, Any]) -> Any:  # noqa: ANN401
        rows = torch._weight_int8pack_mm(x.reshape(-1, x.shape[-1]), *stored)  # noqa: SLF001 - torch has no other
        return rows.view(*x.shape[:-1], rows.shape[-1])

    return WeightFormat(store, lambda matrix: _exact(torch, *_rounded(torch, matrix, _MOST["int8"])), linear)


def _int4(torch: Any, device: str) -> WeightFormat:  # noqa: ANN401
    is_cpu = device == "cpu"
    multiply = torch._weight_int4pack_mm_for_cpu if is_cpu else torch._weight_int4pack_mm  # noqa: SLF001 - as above

    def grouped(matrix: Any) -> tuple[Any, Any]:  # noqa: ANN401
        return _rounded(torch, matrix.view(matrix.shape[0], -1, GROUP), _MOST["int4"])

    def store(matrix: Any) -> tuple[Any, Any]:  # noqa: ANN401
        whole, scale = grouped(matrix)
        codes = whole.add_(_MOST["int4"] + 1).view(matrix.shape).to(torch.int32 if is_cpu else torch.uint8)
        scales_and_zeros = torch.stack([scale, torch.zeros_like(scale)], -1).transpose(0, 1).contiguous()
        if is_cpu:
            return torch._convert_weight_to_int4pack_for_cpu(codes, 8), scales_and_zeros  # noqa: SLF001 - as above
        tiles = 8 if matrix.shape[1] % (8 * _TILE) == 0 else 4
        pairs = (codes[:, ::2] << 4 | codes[:, 1::2]).contiguous()
        return torch._convert_weight_to_int4pack(pairs, tiles), scales_and_zeros  # noqa: SLF001 - as above

    def linear(x: Any, stored: tuple[Any, Any]) -> Any:  # noqa: ANN401
        packed, scales_and_zeros = stored
        rows = multiply(x.reshape(-1, x.shape[-1]), packed, GROUP, scales_and_zeros)
        return rows.view(*x.shape[:-1], rows.shape[-1])

    def exact(matrix: Any) -> Any:  # noqa: ANN401
        return _exact(torch, *grouped(matrix)).view(matrix.shape)

    return WeightFormat(store, exact, linear)


def _try_product(torch: Any, device: str, name: str, made: WeightFormat) -> None:  # noqa: ANN401
    """A small product: whether this torch has the operator for the device. Raises Unavailable."""
    columns = 8 * _TILE
    try:
        stored = made.store(torch.ones((columns, columns), device=device))
        made.linear(torch.ones((1, columns), device=device, dtype=torch.bfloat16), stored)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        if breaks_device(error) or "out of memory" in str(error):  # no answer about the operator
            raise
        why = str(error).partition("\n")[0][:_LONGEST_REASON]
        raise Unavailable(f"this torch has no product with {name} weights on the device: {why}") from error


def program_of_format(params: AnyParams) -> tuple[str, ...]:
    """Lines of a program that define `linear(x, stored)` and `m(rows, columns)`, which makes what is stored, by `r`,
    which makes random numbers in the type of the activations; without a format, weights are just those.
    """
    if "weights" not in params:
        return ("linear, m = F.linear, r",)
    name = str(params["weights"])
    most = _MOST[name]
    if name == "int8":
        return (
            "def m(rows, columns):",
            f"    a = r(rows, columns).float(); s = (a.abs().amax(1) / {most}).bfloat16()",
            f"    return (a / s[:, None]).round().clamp(-{most}, {most}).to(torch.int8), s",
            "linear = lambda x, w: torch._weight_int8pack_mm(x.reshape(-1, x.shape[-1]), *w).view(*x.shape[:-1], -1)",
        )
    return (
        'pack, cpu = torch._convert_weight_to_int4pack, device == "cpu"',
        "mm = torch._weight_int4pack_mm_for_cpu if cpu else torch._weight_int4pack_mm",
        "def m(rows, columns):",
        f"    a = r(rows, columns).float().view(rows, -1, {GROUP}); s = (a.abs().amax(2) / {most}).bfloat16()",
        f"    q = ((a / s[..., None]).round().clamp(-{most}, {most}) + {most + 1}).view(rows, columns)",
        "    z = torch.stack([s, 0 * s], -1).transpose(0, 1).contiguous()",
        "    if cpu: return torch._convert_weight_to_int4pack_for_cpu(q.int(), 8), z",
        "    q = q.to(torch.uint8); return pack(q[:, ::2] << 4 | q[:, 1::2], 8 if columns % 128 == 0 else 4), z",
        f"linear = lambda x, w: mm(x.reshape(-1, x.shape[-1]), w[0], {GROUP}, w[1]).view(*x.shape[:-1], -1)",
    )
