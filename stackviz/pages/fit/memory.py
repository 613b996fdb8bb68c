"""The memory a model needs for inference, part by part. Pure: no Django.

    weights       parameters x bits / 8, by kind of tensor
    cache         2 x layers x KV heads x head size x tokens x batch x bits / 8
    activations   the largest buffer of one pass: tokens of a chunk x (vocabulary + hidden) x 4 bytes
    runtime       what the driver and its libraries take before the first tensor
    slack         what the allocator cannot hand out

All sizes in bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stackviz.pages.fit.precisions import CACHE_PRECISIONS, Precision, weight_bytes
from stackviz.pages.fit.shapes import STATE_BYTES, ModelShape, Tensor

PartKey = Literal[
    "weights", "tables", "cache", "gradients", "master", "optimizer", "adapters",
    "activations", "logits", "runtime", "slack",
]  # fmt: skip
Form = Literal[
    "weights", "tables", "tables-tied", "tables-host", "cache", "cache-windowed", "cache-latent", "cache-state",
    "buffer", "buffer-scores", "runtime", "slack", "gradients", "states", "factored", "master", "adapters", "saved",
    "checkpoints", "logits", "training-slack",
]  # fmt: skip
Split = Literal["pipeline", "tensor"]
CHUNK = 512  # tokens of a prompt that one pass takes: `n_ubatch` of llama.cpp
CACHE_PAGE = 256  # tokens to which llama.cpp rounds the cache up
# llama.cpp logs a compute buffer of 258.50 MiB for Llama 3 8B at a context of 8,192: 512 x (128,256 + 4,096) x 4 bytes
# are 258.5 MiB. Without flash attention the scores count: heads x chunk x context x 4 are 512 MiB (logged: 560 MiB).
ACTIVATION_BYTES = 4
SLACK = 0.05  # of cache and activations; weights are taken in one piece
# Context, kernels and the workspace of the matrix library: assumed, and held by the cited verdicts of tests/pages/fit.
CUDA_RUNTIME = 500e6
METAL_RUNTIME = 100e6  # pipelines and command buffers; the system's own share is outside the limit


@dataclass(frozen=True, kw_only=True)
class MemoryPart:
    """One part of what is needed, in bytes. `form`: which formula; `worked`: that formula with its numbers."""

    key: PartKey
    size: float
    form: Form
    worked: str = ""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is run. `context`: tokens of each of the `batch` sequences that the cache must hold.

    `has_scores`: attention writes its scores to memory (no flash attention). `is_unified`: the processor shares it.
    """

    shape: ModelShape
    precision: Precision
    context: int
    batch: int = 1
    cache_precision: str = "fp16"
    cards: int = 1
    split: Split = "pipeline"
    has_scores: bool = False
    is_unified: bool = False

    @property
    def leaves_embedding(self) -> bool:
        """llama.cpp looks rows of the embedding up on the processor, and logs it in a buffer of the processor's."""
        return self.precision.runtime == "llama.cpp" and not self.is_unified and not self.shape.is_tied


def cache_bytes(shape: ModelShape, tokens: float, bits: float, chunk: int = 0) -> float:
    """The KV cache of one sequence of `tokens`. Layers with a window hold it and the chunk being read, no more.

    Grouped attention: a key and a value of each KV head (Ainslie et al. 2023). Latent attention: one compressed vector
    and the part of the key that carries the position, whatever the number of heads (DeepSeek-V2, section 2.1.3).
    A gated delta net: its state, whatever the tokens and the precision of the cache.
    """
    seen = min(tokens, shape.window + chunk) if shape.window else tokens
    windowed, full = _cached_numbers(shape)
    numbers = full * shape.cached_layers * tokens + windowed * shape.window_layers * seen
    return numbers * bits / 8 + shape.state_numbers * STATE_BYTES


def _cached_numbers(shape: ModelShape) -> tuple[int, int]:
    """Numbers a token leaves in one layer: with a window, without."""
    if shape.is_latent:
        return 0, shape.kv_rank + shape.rope_size
    windowed = 2 * shape.kv_heads * shape.head_size
    return windowed, 2 * shape.full_kv_heads * shape.full_head_size or windowed


def inference_parts(load: Workload, runtime: float = CUDA_RUNTIME) -> list[MemoryPart]:
    """What all cards together need; `runtime` is that of one card."""
    cache, activations = _cache_part(load), _activation_part(load)
    loose = cache.size + activations.size
    return [
        *weight_parts(load.shape, load.precision, has_embedding=not load.leaves_embedding),
        cache,
        activations,
        runtime_part(runtime, load.cards),
        MemoryPart(key="slack", size=loose * SLACK, form="slack", worked=f"{SLACK:g} × {loose:,.0f}"),
    ]


def runtime_part(runtime: float, cards: int) -> MemoryPart:
    return MemoryPart(key="runtime", size=runtime * cards, form="runtime", worked=f"{runtime:,.0f} × {cards}")


def weight_parts(shape: ModelShape, precision: Precision, *, has_embedding: bool = True) -> list[MemoryPart]:
    """The layers, and the tables of the vocabulary, which many formats store in more bits."""
    sizes = weight_bytes(shape, precision)
    kinds: tuple[Tensor, ...] = ("embedding", "output") if has_embedding else ("output",)
    tables, table_count = sum(sizes[kind] for kind in kinds), sum(shape.tensors[kind] for kind in kinds)
    layers = sum(sizes.values()) - sizes["embedding"] - sizes["output"]
    layer_count = shape.parameters - shape.tensors["embedding"] - shape.tensors["output"]
    form: Form = "tables-tied" if shape.is_tied else "tables" if has_embedding else "tables-host"
    return [
        MemoryPart(key="weights", size=layers, form="weights", worked=_worked(layer_count, layers)),
        MemoryPart(key="tables", size=tables, form=form, worked=_worked(table_count, tables)),
    ]


def _worked(count: int, size: float) -> str:
    return f"{count:,} × {size * 8 / count:.4g} ÷ 8"


def _cache_part(load: Workload) -> MemoryPart:
    shape, bits = load.shape, CACHE_PRECISIONS[load.cache_precision]
    tokens = math.ceil(load.context / CACHE_PAGE) * CACHE_PAGE
    chunk = min(CHUNK, tokens)
    numbers = f"2 × {shape.kv_heads} × {shape.head_size} × "
    layers = f"{shape.cached_layers} × {tokens:,}"
    windowed = f"{shape.window_layers} × {min(tokens, shape.window + chunk):,}"
    if shape.is_latent:
        numbers = f"({shape.kv_rank} + {shape.rope_size}) × "
    elif shape.full_head_size:
        full = f"2 × {shape.full_kv_heads} × {shape.full_head_size} × {layers}"
        numbers, layers = "", f"({full} + {numbers}{windowed})"
    elif shape.window_layers:
        layers = f"({layers} + {windowed})"
    states = f" + {shape.state_numbers:,} × {STATE_BYTES} × {load.batch}" if shape.state_layers else ""
    return MemoryPart(
        key="cache",
        size=cache_bytes(shape, tokens, bits, chunk) * load.batch,
        form=_cache_form(shape),
        worked=f"{numbers}{layers} × {load.batch} × {bits:g} ÷ 8{states}",
    )


def _cache_form(shape: ModelShape) -> Form:
    if shape.is_latent:
        return "cache-latent"
    if shape.state_layers:
        return "cache-state"
    return "cache-windowed" if shape.window_layers else "cache"


def _activation_part(load: Workload) -> MemoryPart:
    shape, chunk = load.shape, max(min(CHUNK, load.context), load.batch)
    size = chunk * (shape.vocabulary + shape.hidden) * ACTIVATION_BYTES * load.cards
    worked = f"{chunk} × ({shape.vocabulary:,} + {shape.hidden:,}) × {ACTIVATION_BYTES} × {load.cards}"
    if load.has_scores:
        size += shape.heads * chunk * load.context * ACTIVATION_BYTES * load.cards
        worked += f" + {shape.heads} × {chunk} × {load.context:,} × {ACTIVATION_BYTES} × {load.cards}"
    form: Form = "buffer-scores" if load.has_scores else "buffer"
    return MemoryPart(key="activations", size=float(size), form=form, worked=worked)


WHOLE_ON_EACH: frozenset[PartKey] = frozenset({"activations", "runtime", "logits"})  # held by every card


def fullest_card(parts: Sequence[MemoryPart], shape: ModelShape, cards: int, split: Split) -> float:
    """The bytes of the card that needs most.

    Tensor split: every matrix in `cards` pieces; the cache by KV heads, repeated where there are fewer than cards.
    Pipeline: whole layers, the output matrix counted as one more, as llama.cpp splits them.
    """
    if cards == 1:
        return sum(part.size for part in parts)
    each = sum(part.size for part in parts if part.key in WHOLE_ON_EACH) / cards
    shared = [part for part in parts if part.key not in WHOLE_ON_EACH]
    if split == "tensor":
        heads = 1 / cards if shape.is_latent else max(1 / cards, 1 / shape.kv_heads)
        return each + sum(part.size * (heads if part.key == "cache" else 1 / cards) for part in shared)
    output = sum(part.size / (2 if part.form == "tables" else 1) for part in shared if part.key == "tables")
    layer = sum(part.size for part in shared if part.key != "tables") / shape.layers
    most = math.ceil((shape.layers + 1) / cards)
    return each + max(most * layer, (most - 1) * layer + output)
