"""The memory that training needs: weights, gradients, states of the optimizer, activations. Pure: no Django.

Sources: Rajbhandari et al. 2020, ZeRO, section 3.1 (16 bytes a parameter for mixed precision with Adam); Dettmers et
al. 2022, 8-bit optimizers; Shazeer and Stern 2018, Adafactor; Hu et al. 2021, LoRA; Korthikanti et al. 2022, Reducing
activation recomputation, section 4 (bytes a token and layer). Attention is taken to be fused (no scores in memory).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stackviz.pages.fit.memory import CUDA_RUNTIME, MemoryPart, Split, runtime_part, weight_parts
from stackviz.pages.fit.precisions import Precision
from stackviz.pages.fit.shapes import ModelShape

Method = Literal["full", "lora"]
Checkpointing = Literal["none", "full"]
TRAINING_SLACK = 0.06  # of all but the weights: blocks that PyTorch's allocator cannot reuse
MASTER_BITS = 32  # weights that the optimizer changes, beside the 16-bit copy that the passes read
GRADIENT_BYTES_MIXED, GRADIENT_BYTES_FP32 = 2, 4
FACTORED_BYTES = 4  # of one state in 32 bits
LOGIT_BYTES = 8  # logits and their gradient in 32 bits
SIXTEEN_BITS, FULL_BITS = 16, 32


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """`state_bytes`: of its states for one parameter; `is_factored`: states by row and column, not by parameter."""

    name: str
    state_bytes: float
    is_factored: bool = False
    source: tuple[str, str] = ("", "")


ZERO = ("ZeRO, section 3.1", "https://arxiv.org/abs/1910.02054")
EIGHT_BIT = ("8-bit optimizers", "https://arxiv.org/abs/2110.02861")
FACTORED = ("Adafactor, section 3", "https://arxiv.org/abs/1804.04235")
OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer(name="AdamW", state_bytes=8, source=ZERO),
    "adamw-8bit": Optimizer(name="AdamW, 8-bit", state_bytes=2, source=EIGHT_BIT),
    "adafactor": Optimizer(name="Adafactor", state_bytes=0, is_factored=True, source=FACTORED),
    "sgd-momentum": Optimizer(name="SGD with momentum", state_bytes=4, source=ZERO),
    "sgd": Optimizer(name="SGD", state_bytes=0, source=ZERO),
}


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """`context`: tokens of each of the `batch` sequences on one card. `rank`: of LoRA's adapters.

    `has_master`: the optimizer changes a 32-bit copy of 16-bit weights.
    """

    shape: ModelShape
    precision: Precision
    context: int
    batch: int = 1
    method: Method = "full"
    optimizer: str = "adamw"
    checkpointing: Checkpointing = "full"
    rank: int = 16
    has_master: bool = True
    cards: int = 1
    split: Split = "pipeline"


def training_parts(run: TrainingRun, runtime: float = CUDA_RUNTIME) -> list[MemoryPart]:
    """What all cards together need, each part held once."""
    weights = weight_parts(run.shape, run.precision)
    states = _full_parts(run) if run.method == "full" else _lora_parts(run)
    parts = [*states, _activation_part(run), _logit_part(run)]
    loose = sum(part.size for part in parts)
    worked = f"{TRAINING_SLACK:g} × {loose:,.0f}"
    return [
        *weights,
        *parts,
        runtime_part(runtime, run.cards),
        MemoryPart(key="slack", size=loose * TRAINING_SLACK, form="training-slack", worked=worked),
    ]


def _full_parts(run: TrainingRun) -> list[MemoryPart]:
    count = run.shape.parameters
    is_mixed = run.precision.usual <= SIXTEEN_BITS
    gradient = GRADIENT_BYTES_MIXED if is_mixed else GRADIENT_BYTES_FP32
    parts = [
        MemoryPart(key="gradients", size=float(count * gradient), form="gradients", worked=f"{count:,} × {gradient}"),
        _state_part(run.optimizer, run.shape, count, in_16_bits=is_mixed and not run.has_master),
    ]
    if is_mixed and run.has_master:
        each = MASTER_BITS // 8
        parts.append(MemoryPart(key="master", size=float(count * each), form="master", worked=f"{count:,} × {each}"))
    return parts


def _state_part(name: str, shape: ModelShape, count: float, *, in_16_bits: bool = False) -> MemoryPart:
    """States in 32 bits, in 16 where the weights have no 32-bit copy (as torchtune's pure bf16 training)."""
    optimizer = OPTIMIZERS[name]
    if optimizer.is_factored:
        rows = _rows_and_columns(shape) * (count / shape.parameters)
        return MemoryPart(
            key="optimizer", size=rows * FACTORED_BYTES, form="factored", worked=f"{rows:,.0f} × {FACTORED_BYTES}"
        )
    halves = 2 if in_16_bits and optimizer.state_bytes >= FACTORED_BYTES else 1
    each = optimizer.state_bytes / halves
    return MemoryPart(key="optimizer", size=count * each, form="states", worked=f"{count:,.0f} × {each:g}")


def matrices(shape: ModelShape) -> list[tuple[int, int, int]]:
    """(how many, inputs, outputs) of the matrices in the layers."""
    queries, shared = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    full = shape.cached_layers if shape.full_head_size else 0
    hidden, layers = shape.hidden, shape.layers - shape.state_layers - full
    if shape.is_latent:
        rope = shape.heads * (shape.head_size + shape.rope_size)
        kinds = [
            (layers, hidden, shape.query_rank),
            (layers, shape.query_rank, rope),
            (layers, hidden, shape.kv_rank + shape.rope_size),
            (2 * layers, shape.kv_rank, queries),
        ]
    else:
        kinds = [(layers, hidden, 2 * queries if shape.has_output_gate else queries), (2 * layers, hidden, shared)]
    kinds.append((layers, queries, hidden))
    if full:
        queries, keys = shape.heads * shape.full_head_size, shape.full_kv_heads * shape.full_head_size
        kinds += [(full, hidden, queries), (full, hidden, keys), (full, queries, hidden)]
    if shape.state_layers:
        values = shape.state_heads * shape.state_head_size
        kinds += [
            (shape.state_layers, hidden, shape.state_channels + values + 2 * shape.state_heads),
            (shape.state_layers, values, hidden),
        ]
    ups = 2 if shape.is_gated else 1
    plain, expert = shape.layers - shape.expert_layers, shape.expert_layers * (shape.experts + shape.shared_experts)
    for many, inner in ((plain, shape.intermediate), (expert, shape.expert_intermediate)):
        if many:
            kinds += [(ups * many, hidden, inner), (many, inner, hidden)]
    return kinds


def _rows_and_columns(shape: ModelShape) -> int:
    layers = sum(many * (rows + columns) for many, rows, columns in matrices(shape))
    return layers + (1 if shape.is_tied else 2) * (shape.vocabulary + shape.hidden)


def adapter_parameters(shape: ModelShape, rank: int) -> int:
    """Parameters of LoRA on every matrix of the layers: rank × (inputs + outputs) each."""
    return rank * sum(many * (rows + columns) for many, rows, columns in matrices(shape))


def _lora_parts(run: TrainingRun) -> list[MemoryPart]:
    """The weights are frozen: adapters, their gradients and states alone, in 32 bits."""
    count = adapter_parameters(run.shape, run.rank)
    each = 2 * MASTER_BITS // 8
    return [
        MemoryPart(
            key="adapters",
            size=float(count * each),
            form="adapters",
            worked=f"{run.rank} × {count // run.rank:,} × {each}",
        ),
        _state_part(run.optimizer, run.shape, count),
    ]


def activation_bytes_per_token(shape: ModelShape, bits: float) -> float:
    """Bytes one layer saves for the backward pass, for one token.

    Korthikanti et al., section 4.1, counts 34 x hidden for 16 bits, here by what is saved: the inputs of the two norms;
    of attention its input, queries, keys, values and output; of the MLP its input and what lies between its matrices
    (two or, gated, four tensors). Their dropout masks (2 x hidden) are left out: no model here has dropout.
    """
    queries, shared = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    between = 4 if shape.is_gated else 2
    inner = shape.intermediate
    if shape.experts:
        inner = (shape.experts_per_token + shape.shared_experts) * shape.expert_intermediate
    numbers = 2 * shape.hidden + (shape.hidden + 2 * queries + 2 * shared) + (shape.hidden + between * inner)
    return numbers * bits / 8


def _activation_part(run: TrainingRun) -> MemoryPart:
    """Without checkpoints every layer's; with them each layer's input, and all of the one that is recomputed."""
    bits = max(SIXTEEN_BITS, min(run.precision.usual, FULL_BITS))
    tokens, layers = run.context * run.batch, run.shape.layers
    each = activation_bytes_per_token(run.shape, bits)
    if run.checkpointing == "none":
        worked = f"{tokens:,} × {layers} × {each:,.0f}"
        return MemoryPart(key="activations", size=tokens * layers * each, form="saved", worked=worked)
    saved = run.shape.hidden * bits / 8
    size = tokens * (layers * saved + each)
    worked = f"{tokens:,} × ({layers} × {saved:,.0f} + {each:,.0f})"
    return MemoryPart(key="activations", size=size, form="checkpoints", worked=worked)


def _logit_part(run: TrainingRun) -> MemoryPart:
    tokens = run.context * run.batch
    size = float(tokens * run.shape.vocabulary * LOGIT_BYTES)
    worked = f"{tokens:,} × {run.shape.vocabulary:,} × {LOGIT_BYTES}"
    return MemoryPart(key="logits", size=size, form="logits", worked=worked)


def card_share(parts: Sequence[MemoryPart], shape: ModelShape, cards: int, split: Split) -> float:
    """The bytes of the fullest card when parameters, states and activations are shared out."""
    if cards == 1:
        return sum(part.size for part in parts)
    layers = math.ceil(shape.layers / cards) / shape.layers if split == "pipeline" else 1 / cards
    whole = {"runtime": 1 / cards, "logits": 1.0 if split == "pipeline" else 1 / cards}
    return sum(part.size * whole.get(part.key, layers) for part in parts)
