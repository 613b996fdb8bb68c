"""Decoder-only language models with random weights: their geometry, what a token costs, and a forward pass in torch.

Weights, norms and attention of Llama: grouped queries, SwiGLU, RMSNorm, an output matrix. Rotary embedding is left out:
it adds no weights and next to no operations. Touvron et al., arXiv:2302.13971; Ainslie et al., arXiv:2305.13245.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Params,
    Prepared,
    float_type,
    positive,
    relative_error,
    uniform,
)
from stackviz.report.measuring.weight_formats import WeightFormat, bytes_of_weight, program_of_format, weight_format

__all__ = [
    "MODELS", "Geometry", "ModelPass", "Weights", "causal_attention", "geometry", "logits_problem", "make_weights",
    "making_bytes",
    "pass_of", "prepared_pass", "program_of_layers", "program_of_pass", "program_of_sizes", "through_layers",
    "token_count",
]  # fmt: skip

_CHECKED = 64  # rows of the output matrix, its last ones, whose logits are worked out again
_TOLERANCE = 0.05  # sums of thousands of terms in 16 bits stay well below


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """`config.json` of a model: hidden_size, intermediate_size, num_hidden_layers, num_attention_heads,
    num_key_value_heads, head_dim, vocab_size.
    """

    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int

    @property
    def qkv_rows(self) -> int:
        return (self.heads + 2 * self.kv_heads) * self.head_width

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        """(rows, columns) of the matrices of one layer: queries, keys and values; output; gate and up; down."""
        return (
            (self.qkv_rows, self.width),
            (self.width, self.heads * self.head_width),
            (2 * self.inner, self.width),
            (self.width, self.inner),
        )

    @property
    def layer_weights(self) -> int:
        """Numbers in the matrices of one layer; its norms have `2·width` more, which nobody would notice."""
        return sum(rows * columns for rows, columns in self.matrices)

    @property
    def head_weights(self) -> int:
        """Numbers in the output matrix."""
        return self.vocabulary * self.width

    @property
    def read_weights(self) -> int:
        """Numbers that a token needs: of the input embedding one row only."""
        return self.layers * self.layer_weights + self.head_weights

    @property
    def cached_numbers(self) -> int:
        """Keys and values of one token in all layers."""
        return 2 * self.layers * self.kv_heads * self.head_width

    @property
    def attention_operations(self) -> int:
        """Of one query with one key, in all layers: two products, each with a multiplication and an addition."""
        return 4 * self.layers * self.heads * self.head_width


MODELS = {
    # HuggingFaceTB/SmolLM2-135M, unsloth/Llama-3.2-1B and meta-llama/Llama-3.1-8B: config.json
    "135M": Geometry(width=576, inner=1536, layers=30, heads=9, kv_heads=3, head_width=64, vocabulary=49152),
    "1B": Geometry(width=2048, inner=8192, layers=16, heads=32, kv_heads=8, head_width=64, vocabulary=128256),
    "8B": Geometry(width=4096, inner=14336, layers=32, heads=32, kv_heads=8, head_width=128, vocabulary=128256),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """Per layer: rows of queries, keys and values; output of attention; gate and up; down. Then the output matrix.

    Each as the format stores it. `last_rows`: the last 64 rows of the output matrix, float64 on the CPU.
    """

    stored_as: WeightFormat
    layers: list[tuple[Any, Any, Any, Any]]
    head: Any
    last_rows: Any


def make_weights(torch: Any, device: str, shape: Geometry, params: Params) -> Weights:  # noqa: ANN401
    """Random numbers of variance 1/inputs, so that nothing grows from layer to layer. Layers are copies of the first:
    each has separate memory, and random numbers take longer than a copy. Raises Unavailable for a format that this
    torch cannot multiply.
    """
    made_as = weight_format(torch, device, params)

    def random(rows: int, columns: int) -> Any:  # noqa: ANN401
        return uniform(torch, device, (rows, columns), torch.float32).mul_((3 / columns) ** 0.5)

    first = tuple(made_as.store(random(rows, columns)) for rows, columns in shape.matrices)
    others = [tuple(_copy(each) for each in first) for _ in range(shape.layers - 1)]
    head = random(shape.vocabulary, shape.width)
    return Weights(made_as, [first, *others], made_as.store(head), made_as.exact(head[-_CHECKED:]))


def _copy(stored: Any) -> Any:  # noqa: ANN401
    return tuple(each.clone() for each in stored) if isinstance(stored, tuple) else stored.clone()


Attend = Callable[[int, Any, Any, Any], Any]
"""(layer, queries, keys, values of the new tokens) -> what attention makes of them, in the shape of the queries."""


def last_token(torch: Any, shape: Geometry, weights: Weights, x: Any, attend: Attend) -> Any:  # noqa: ANN401
    """One pass of `x`, (sequences, tokens, width), through all layers. -> what the output matrix gets."""
    return torch.nn.functional.rms_norm(through_layers(torch, shape, weights, x, attend)[:, -1], (shape.width,))


def through_layers(torch: Any, shape: Geometry, weights: Weights, x: Any, attend: Attend) -> Any:  # noqa: ANN401
    """`x`, (sequences, tokens, width), after all layers, before the last norm."""
    functional, linear = torch.nn.functional, weights.stored_as.linear
    norm, width = functional.rms_norm, (shape.width,)
    sizes = [shape.heads * shape.head_width, *[shape.kv_heads * shape.head_width] * 2]
    for number, (qkv, out, gate_up, down) in enumerate(weights.layers):
        queries, keys, values = linear(norm(x, width), qkv).split(sizes, -1)
        x = x + linear(attend(number, queries, keys, values), out)
        gate, up = linear(norm(x, width), gate_up).chunk(2, -1)
        x = x + linear(functional.silu(gate) * up, down)
    return x


def prepared_pass(
    torch: Any,  # noqa: ANN401
    shape: Geometry,
    weights: Weights,
    x: Any,  # noqa: ANN401
    attend: Attend,
) -> Prepared:
    """A run is a pass with its logits; some of these are worked out again in float64 on the CPU."""
    newest: list[Any] = []

    def run() -> None:
        last = last_token(torch, shape, weights, x, attend)
        newest[:] = [last, weights.stored_as.linear(last, weights.head)]

    def check() -> str | None:
        last, logits = newest
        off = relative_error(logits[:, -_CHECKED:], last.cpu().to(torch.float64) @ weights.last_rows.t())
        return logits_problem(off)

    first = weights.stored_as.linear(x[:, -1].contiguous(), weights.head)  # to see on which device a product ends
    return Prepared(run=run, output=first, check=check, conditions={"inputs": "uniform"})


def logits_problem(off: float) -> str | None:
    """What is wrong with logits that are `off` by this part of the largest one; None for nothing."""
    return None if off < _TOLERANCE else f"the logits are wrong: off by {off:.2g} of the largest value"


def program_of_pass(params: Params, tokens: int, cached: int, attend: str) -> tuple[str, ...]:
    """The same as lines of a program; `attend`: an expression of the cache c and of q, k, v of a layer."""
    shape, dtype, batch = MODELS[str(params["model"])], str(params["dtype"]), int(params["batch"])
    return (
        program_of_sizes(shape),
        f"B, T, C, F = {batch}, {tokens}, {cached}, torch.nn.functional",
        (
            "def r(*s): return (torch.empty(s, device=device).uniform_(-1, 1) * (3 / s[-1]) ** 0.5)"
            f".to(torch.{float_type(dtype)})"
        ),
        *program_of_format(params),
        "W = [(m((H + 2 * K) * d, D), m(D, H * d), m(2 * I, D), m(D, I), r(2, B, K, C, d)) for _ in range(L)]",
        "head, norm = m(V, D), lambda x: F.rms_norm(x, (D,))",
        "@torch.inference_mode()",
        "def run(x=r(B, T, D)):",
        *program_of_layers(attend, ", c", ("        c[0, :, :, C - T:], c[1, :, :, C - T:] = k, v",)),
        "    return linear(norm(x[:, -1]), head)",
    )


def program_of_sizes(shape: Geometry) -> str:
    """The line that names the sizes of a model, as the other lines use them."""
    return (
        f"L, D, I, H, K, d, V = {shape.layers}, {shape.width}, {shape.inner}, {shape.heads}, {shape.kv_heads}, "
        f"{shape.head_width}, {shape.vocabulary}"
    )


def program_of_layers(attend: str, more: str = "", stored: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The lines in which x goes through all layers, by `linear`, which others define.

    `attend`: an expression of q, k, v; `more`: what else W has of a layer, with a comma before it; `stored`: lines
    between the two.
    """
    return (
        f"    for qkv, out, gate_up, down{more} in W:",
        "        q, k, v = linear(norm(x), qkv).view(B, T, -1, d).transpose(1, 2).split([H, K, K], 1)",
        *stored,
        f"        x = x + linear({attend}, out)",
        "        g, u = linear(norm(x), gate_up).chunk(2, -1)",
        "        x = x + linear(F.silu(g) * u, down)",
    )


def causal_attention(keys: str, values: str) -> str:
    """The expression of `program_of_layers` in which a token sees itself and those before it."""
    return (
        f"F.scaled_dot_product_attention(q, {keys}, {values}, is_causal=True, enable_gqa=True).transpose(1, 2)"
        ".reshape(B, T, H * d)"
    )


def geometry(params: AnyParams) -> tuple[Geometry, int] | None:
    """The model of these parameters and the bytes of an activation; None where there is none such."""
    shape, item = MODELS.get(str(params.get("model"))), FLOAT_BYTES.get(str(params.get("dtype")))
    return (shape, item) if shape and item else None


@dataclass(frozen=True, slots=True)
class ModelPass:
    """What a pass is of: `length` tokens of each of `batch` sequences are in the cache or in the prompt.

    `item_bytes`: of an activation, a key, a value; `weight_bytes`: of a weight.
    """

    shape: Geometry
    item_bytes: int
    weight_bytes: float
    batch: float
    length: float

    @property
    def bytes_moved(self) -> float:
        """Weights read once; keys and values of all tokens read or written once."""
        cached = self.batch * self.length * self.shape.cached_numbers
        return self.weight_bytes * self.shape.read_weights + self.item_bytes * cached


def pass_of(params: AnyParams, length: str) -> ModelPass | None:
    """The pass of these parameters, `length` the name of one; None where they do not say all of it."""
    known, weight = geometry(params), bytes_of_weight(params)
    batch, tokens = positive(params, "batch"), positive(params, length)
    return ModelPass(*known, weight, batch, tokens) if known and weight and batch and tokens else None


def token_count(params: AnyParams, length: str) -> float | None:
    """Tokens of all sequences of the pass; None where the parameters do not say."""
    known = pass_of(params, length)
    return known.batch * known.length if known else None


def making_bytes(params: Params) -> int:
    """What making the largest matrix takes: its numbers in 32 bits before they are in their own type, and for int4 the
    32-bit codes that a processor packs.
    """
    shape, arrays = MODELS[str(params["model"])], 3 if params.get("weights") == "int4" else 2
    return arrays * 4 * max(shape.head_weights, 2 * shape.inner * shape.width)
