"""What every benchmark by MLX needs: random arrays, a run that does not wait, the distance from float64.

MLX is passed in. Its arrays are computed when somebody asks for them, and an operation makes a new one; so a run makes
its output anew, and hands over what makes it. https://ml-explore.github.io/mlx/
"""

from collections.abc import Callable
from typing import Any

__all__ = ["CHECKED", "MLX_TYPES", "relative_error_in_mlx", "runner", "uniform_in_mlx"]

MLX_TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
CHECKED = 64
"""Rows and columns of a product, queries of an attention, logits that are worked out again."""


def uniform_in_mlx(mx: Any, shape: tuple[int, ...], dtype: str) -> Any:  # noqa: ANN401 - MLX has no types here
    """Random numbers in [-1, 1), made in 32 bits as by torch."""
    made = mx.random.uniform(-1, 1, shape).astype(getattr(mx, MLX_TYPES[dtype]))
    mx.eval(made)
    return made


def runner(mx: Any, compute: Callable[[], Any]) -> tuple[Callable[[], None], list[Any]]:  # noqa: ANN401
    """(a run, which hands its work over and does not wait; the newest output)."""
    newest: list[Any] = []

    def run() -> None:
        newest[:] = [compute()]
        mx.async_eval(newest)

    return run, newest


def relative_error_in_mlx(mx: Any, computed: Any, expected: Any) -> float:  # noqa: ANN401
    """The largest difference, as a part of the largest number expected, in float64, which MLX has on processors."""
    with mx.stream(mx.cpu):
        exact = computed.astype(mx.float64)
        return float((exact - expected).abs().max() / expected.abs().max())
