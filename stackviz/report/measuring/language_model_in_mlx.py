"""The language models of `llm-decode` and `llm-prefill` by MLX: the same geometry, its own fast operators.

Weights of 8 and 4 bits are MLX's own ("affine"): a scale and a zero in the type of the activations for each 64 of a
row, also of 8 bits. Keys and values are written as mlx-lm writes them, by assignment to a part of the cache: in place,
but where a run that is still in progress reads the same memory; then MLX copies it.
https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.quantize.html
"""

from collections.abc import Callable
from typing import Any

from stackviz.report.measuring.benchmark import Params, Prepared
from stackviz.report.measuring.language_model import MODELS, logits_problem, program_of_sizes
from stackviz.report.measuring.weight_formats import GROUP, QUANTIZED_BITS

__all__ = [
    "CHECKED",
    "MLX_TYPES",
    "decode_lines",
    "prefill_lines",
    "prepare_decode",
    "prepare_prefill",
    "relative_error_in_mlx",
    "runner",
    "takes_model",
    "uniform_in_mlx",
]

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


_EPSILON = 1e-5


def takes_model(params: Params) -> bool:
    """Whether MLX has the type of the activations and the bits of the weights."""
    return params["dtype"] in MLX_TYPES and ("weights" not in params or params["weights"] in QUANTIZED_BITS)


class _Matrices:
    """Random matrices of a model, and the product with one: a tuple of arrays, of one where it is not quantized."""

    def __init__(self, mx: Any, params: Params) -> None:  # noqa: ANN401
        self._mx, self._dtype = mx, str(params["dtype"])
        bits = QUANTIZED_BITS.get(str(params.get("weights")))
        self._format = {"group_size": GROUP, "bits": bits} if bits else None

    def make(self, rows: int, columns: int) -> tuple[Any, ...]:
        """Of variance 1/columns, so that nothing grows from layer to layer."""
        matrix = uniform_in_mlx(self._mx, (rows, columns), self._dtype) * (3 / columns) ** 0.5
        stored = tuple(self._mx.quantize(matrix, **self._format)) if self._format else (matrix,)
        self._mx.eval(stored)
        return stored

    def copied(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """Copy the arrays into new memory."""
        made = tuple(each + self._mx.array(0, each.dtype) for each in stored)
        self._mx.eval(made)
        return made

    def linear(self, x: Any, stored: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """`x` of shape (..., columns) -> (..., rows)."""
        return self._mx.quantized_matmul(x, *stored, **self._format) if self._format else x @ stored[0].T

    def last_rows(self, stored: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """The last 64 rows in float64."""
        mx, last = self._mx, tuple(each[-CHECKED:] for each in stored)
        with mx.stream(mx.cpu):
            return (mx.dequantize(*last, **self._format) if self._format else last[0]).astype(mx.float64)


Attend = Callable[[int, Any, Any, Any], Any]
"""(layer, queries, keys, values), each (batch, heads, tokens, head width) -> the mix, in the shape of the queries."""


def _prepared_pass(mx: Any, params: Params, tokens: int, attend: Attend) -> Prepared:  # noqa: ANN401
    """A run is a pass of `tokens` tokens a sequence with the logits of the last; some of these are worked out again."""
    shape, batch, matrices = MODELS[str(params["model"])], int(params["batch"]), _Matrices(mx, params)
    first = tuple(matrices.make(rows, columns) for rows, columns in shape.matrices)
    layers = [first, *(tuple(matrices.copied(each) for each in first) for _ in range(shape.layers - 1))]
    head = matrices.make(shape.vocabulary, shape.width)
    x = uniform_in_mlx(mx, (batch, tokens, shape.width), str(params["dtype"]))
    gated = mx.compile(lambda gate, up: gate * mx.sigmoid(gate) * up)
    split_at = [shape.heads, shape.heads + shape.kv_heads]

    def compute() -> tuple[Any, Any]:
        now = x
        for number, (qkv, out, gate_up, down) in enumerate(layers):
            by_head = matrices.linear(_norm(mx, now), qkv).reshape(batch, tokens, -1, shape.head_width)
            mixed = attend(number, *mx.split(by_head.transpose(0, 2, 1, 3), split_at, axis=1))
            now = now + matrices.linear(mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, -1), out)
            now = now + matrices.linear(gated(*mx.split(matrices.linear(_norm(mx, now), gate_up), 2, axis=-1)), down)
        last = _norm(mx, now[:, -1])
        return last, matrices.linear(last, head)

    run, newest = runner(mx, compute)

    def check() -> str | None:
        last, logits = newest[0]
        with mx.stream(mx.cpu):
            expected = last.astype(mx.float64) @ matrices.last_rows(head).T
        return logits_problem(relative_error_in_mlx(mx, logits[:, -CHECKED:], expected))

    return Prepared(run=run, output=x, check=check, conditions={"inputs": "uniform"})


def _norm(mx: Any, x: Any) -> Any:  # noqa: ANN401
    return mx.fast.rms_norm(x, None, _EPSILON)


def _caches(mx: Any, params: Params, length: int) -> list[list[Any]]:  # noqa: ANN401
    """Keys and values of each layer, (batch, heads, length + 1, head width).

    One token longer than what is in it: to an assignment to all of an array MLX answers with another name.
    """
    shape, dtype = MODELS[str(params["model"])], str(params["dtype"])
    each = int(params["batch"]), shape.kv_heads, length + 1, shape.head_width
    return [[uniform_in_mlx(mx, each, dtype) for _ in range(2)] for _ in range(shape.layers)]


def _attending(mx: Any, params: Params, length: int, mask: str | None) -> Attend:  # noqa: ANN401
    """Attention by `length` tokens, the last of which are the new ones, written to the cache."""
    caches, scale = _caches(mx, params, length), MODELS[str(params["model"])].head_width ** -0.5

    def attend(layer: int, queries: Any, keys: Any, values: Any) -> Any:  # noqa: ANN401
        cached, new = caches[layer], slice(length - queries.shape[2], length)
        cached[0][:, :, new] = keys
        cached[1][:, :, new] = values
        known_keys, known_values = (each[:, :, :length] for each in cached)
        return mx.fast.scaled_dot_product_attention(queries, known_keys, known_values, scale=scale, mask=mask)

    return attend


def prepare_decode(mx: Any, params: Params) -> Prepared:  # noqa: ANN401
    """One token for each sequence; the cache is full with it."""
    return _prepared_pass(mx, params, 1, _attending(mx, params, int(params["context"]), None))


def prepare_prefill(mx: Any, params: Params) -> Prepared:  # noqa: ANN401
    """A whole prompt, written to the cache."""
    prompt = int(params["prompt"])
    return _prepared_pass(mx, params, prompt, _attending(mx, params, prompt, "causal"))


def decode_lines(params: Params) -> tuple[str, ...]:
    """The same as lines of a program."""
    return _lines(params, 1, int(params["context"]), "")


def prefill_lines(params: Params) -> tuple[str, ...]:
    """The same as lines of a program."""
    return _lines(params, int(params["prompt"]), int(params["prompt"]), ', mask="causal"')


def _lines(params: Params, tokens: int, cached: int, mask: str) -> tuple[str, ...]:
    store, product = "(r(rows, columns),)", "x @ w[0].T"
    if bits := QUANTIZED_BITS.get(str(params.get("weights"))):
        in_format = f"group_size={GROUP}, bits={bits}"
        store, product = f"mx.quantize(r(rows, columns), {in_format})", f"mx.quantized_matmul(x, *w, {in_format})"
    dtype = MLX_TYPES[str(params["dtype"])]
    return (
        program_of_sizes(MODELS[str(params["model"])]),
        f"B, T, C = {params['batch']}, {tokens}, {cached}",
        f"r = lambda *s: (mx.random.uniform(-1, 1, s) * (3 / s[-1]) ** 0.5).astype(mx.{dtype})",
        f"m = lambda rows, columns: {store}",
        f"linear = lambda x, w: {product}",
        "W = [(m((H + 2 * K) * d, D), m(D, H * d), m(2 * I, D), m(D, I)) for _ in range(L)]",
        "head, caches = m(V, D), [[r(B, K, C + 1, d), r(B, K, C + 1, d)] for _ in W]; mx.eval(W, head, caches)",
        f"norm = lambda x: mx.fast.rms_norm(x, None, {_EPSILON:g})",
        "act = mx.compile(lambda g, u: g * mx.sigmoid(g) * u)",
        "def run(x=r(B, T, D)):",
        "    for (qkv, out, gate_up, down), c in zip(W, caches):",
        "        a = linear(norm(x), qkv).reshape(B, T, -1, d).transpose(0, 2, 1, 3)",
        "        q, c[0][:, :, C - T:C], c[1][:, :, C - T:C] = mx.split(a, [H, H + K], axis=1)",
        "        k, v = c[0][:, :, :C], c[1][:, :, :C]",
        f"        a = mx.fast.scaled_dot_product_attention(q, k, v, scale=d ** -0.5{mask})",
        "        x = x + linear(a.transpose(0, 2, 1, 3).reshape(B, T, H * d), out)",
        "        x = x + linear(act(*mx.split(linear(norm(x), gate_up), 2, axis=-1)), down)",
        "    mx.async_eval(linear(norm(x[:, -1]), head))",
    )
