"""What bounds the rate of a model on a card: times of one pass, term by term. Pure: no Django.

A term is a time that a perfect machine would take, in seconds. What machines reach is a sum of terms, each times a
coefficient, and one factor for the card (calibration.py). One pass of decoding gives one token to each sequence:

    layers     one microsecond a layer: starting kernels, waiting for the last one
    bytes      weights and cache that the pass reads / published bandwidth
    unpack     multiplications of quantised weights / published fp32 rate: blocks are turned into numbers
    unpack_k   the same where blocks have scales of scales (llama.cpp's k-quants)
    route      one microsecond a layer with experts: choosing and gathering them

Reading a prompt takes, for one token of a chunk: layers (shared by the chunk), products (2 x parameters / matrix rate),
attention (4 x heads x head size x layers x depth / matrix rate), bytes of the weights once a chunk, products again for
quantised weights, and again for experts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from stackviz.pages.fit.memory import CHUNK, cache_bytes
from stackviz.pages.fit.precisions import CACHE_PRECISIONS, F16, Precision, bytes_read
from stackviz.pages.fit.shapes import STATE_BYTES, ModelShape

Test = Literal["decode", "prefill"]
Bound = Literal["bandwidth", "compute", "overhead"]
LAYER_S = 1e-6
UNKNOWN_FP32_PER_BYTE = 40.0  # FLOP of fp32 for a byte of bandwidth, where no rate is published: the median of ours

DECODE_TERMS: Mapping[str, Bound] = {
    "layers": "overhead",
    "bytes": "bandwidth",
    "unpack": "compute",
    "unpack_k": "compute",
    "route": "overhead",
}
PREFILL_TERMS: Mapping[str, Bound] = {
    "layers": "overhead",
    "products": "compute",
    "attention": "compute",
    "bytes": "bandwidth",
    "unpack": "compute",
    "experts": "compute",
}
TERMS: Mapping[Test, Mapping[str, Bound]] = {"decode": DECODE_TERMS, "prefill": PREFILL_TERMS}


@dataclass(frozen=True, kw_only=True)
class RatedAccelerator:
    """What is published of an accelerator, as far as rates need it. bytes/s and FLOP/s; None: not published.

    `family`: its architecture, or the generation of an Apple chip. `matrix_flops`: dense, of the fastest 16-bit path.
    """

    slug: str
    vendor: str
    family: str
    bandwidth: float | None
    vector_flops: float | None
    matrix_flops: float | None

    @property
    def unpack_flops(self) -> float:
        """The fp32 rate; where none is published, one that fits the bandwidth."""
        return self.vector_flops or (self.bandwidth or 0.0) * UNKNOWN_FP32_PER_BYTE


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One pass of a model: `depth` tokens are in the cache of each of `batch` sequences.

    `shards`: into how many pieces every matrix is cut; the time to exchange results is not counted.
    """

    shape: ModelShape
    precision: Precision
    depth: float
    batch: int = 1
    cache_precision: str = "fp16"
    chunk: int = CHUNK
    shards: int = 1

    @property
    def is_quantised(self) -> bool:
        return self.precision.usual < F16

    @property
    def is_k_quant(self) -> bool:
        return self.precision.slug.endswith(("_k", "_k_m"))

    @cached_property
    def cache_read(self) -> float:
        """Bytes of the cache that a pass of decoding reads; those of states are written, too."""
        cache = cache_bytes(self.shape, self.depth, CACHE_PRECISIONS[self.cache_precision])
        return self.batch * (cache + self.shape.state_numbers * STATE_BYTES)

    @cached_property
    def weights_read(self) -> float:
        return bytes_read(self.shape, self.precision, self.batch)

    @cached_property
    def chunk_read(self) -> float:
        """Bytes of the weights that a chunk of a prompt reads."""
        return bytes_read(self.shape, self.precision, self.chunk)


def pass_terms(test: Test, work: Pass, card: RatedAccelerator) -> tuple[float, ...]:
    """The terms of a test in the order of TERMS, in seconds for one pass (decode) or one token (prefill)."""
    return decode_terms(work, card) if test == "decode" else prefill_terms(work, card)


def decode_terms(work: Pass, card: RatedAccelerator) -> tuple[float, ...]:
    shape, bandwidth = work.shape, _known(card.bandwidth)
    unpacked = shape.active_parameters / card.unpack_flops / work.shards if work.is_quantised else 0.0
    return (
        shape.layers * LAYER_S,
        (work.weights_read + work.cache_read) / bandwidth / work.shards,
        unpacked,
        unpacked if work.is_k_quant else 0.0,
        shape.expert_layers * LAYER_S,
    )


def prefill_terms(work: Pass, card: RatedAccelerator) -> tuple[float, ...]:
    shape, matrix = work.shape, _known(card.matrix_flops) * work.shards
    products = 2 * shape.layer_parameters / matrix
    scores = 4 * shape.heads * _seen_numbers(shape, work.depth)
    return (
        shape.layers * LAYER_S / work.chunk,
        products,
        scores / matrix,
        work.chunk_read / _known(card.bandwidth) / work.chunk / work.shards,
        products if work.is_quantised else 0.0,
        products if shape.experts else 0.0,
    )


def _seen_numbers(shape: ModelShape, depth: float) -> float:
    """Head size × depth, summed over the layers: those with a window see no more than that, those with a state none."""
    windowed = min(depth, shape.window) if shape.window else depth
    full = shape.full_head_size or shape.head_size
    return shape.cached_layers * full * depth + shape.window_layers * shape.head_size * windowed


def _known(amount: float | None) -> float:
    if not amount:
        raise NotPublished
    return amount


class NotPublished(Exception):
    """The card's bandwidth or rate is not published, so no bound can be given."""
