"""How many bits each kind of tensor takes in a precision or quantisation, scales included. Pure: no Django.

llama.cpp's formats mix block types by tensor (`llama_tensor_get_type_impl` in src/llama-quant.cpp) and the size of a
block is in ggml/src/ggml-common.h; the shares below are those rules. Files come within 1 % of what is computed here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from stackviz.pages.fit.shapes import ModelShape, Tensor

Runtime = Literal["llama.cpp", "mlx", "torch"]
# Vendors whose accelerators a runtime has a backend for (llama.cpp's README: CUDA, Metal, HIP, SYCL, MUSA, CANN).
BACKENDS: Mapping[Runtime, frozenset[str]] = {
    "llama.cpp": frozenset({"nvidia", "apple", "amd", "intel", "moore-threads", "huawei"}),
    "mlx": frozenset({"apple"}),
}
QUANT = (
    "llama.cpp: src/llama-quant.cpp",
    "https://github.com/ggml-org/llama.cpp/blob/007dbbf3fd17eefe9b47fee45f48f7ba5e62b714/src/llama-quant.cpp",
)
IEEE = ("IEEE 754-2019", "https://standards.ieee.org/ieee/754/6210/")
MLX = (
    "MLX: mlx.core.quantize",
    "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.quantize.html",
)
GPTQ = ("AutoGPTQ README", "https://github.com/AutoGPTQ/AutoGPTQ")
QLORA = ("QLoRA, section 3", "https://arxiv.org/abs/2305.14314")
INT8 = ("LLM.int8(), section 3", "https://arxiv.org/abs/2208.07339")
FP8 = ("FP8 formats for deep learning", "https://arxiv.org/abs/2209.05433")

# Bits per weight of a block: (bytes of the block) x 8 / (weights in it), from
# https://github.com/ggml-org/llama.cpp/blob/01243c587feceaa5d6a6c2305535ef2f549c48b8/ggml/src/ggml-common.h.
Q8_0 = (2 + 32) * 8 / 32
Q6_K = (2 + 16 + 192) * 8 / 256
Q5_K = (4 + 12 + 32 + 128) * 8 / 256
Q4_K = (4 + 12 + 128) * 8 / 256
Q4_0 = (2 + 16) * 8 / 32
Q3_K = (2 + 64 + 32 + 12) * 8 / 256
Q2_K = (4 + 16 + 64) * 8 / 256
IQ4_XS = (2 + 2 + 4 + 128) * 8 / 256
MXFP4 = (1 + 16) * 8 / 32
F32, F16, BYTE = 32.0, 16.0, 8.0
GROUPED_HEADS = 4  # query heads for each KV head, from which llama.cpp gives the value projection more bits


def more_bits(layers: int) -> float:
    """The share of layers that `use_more_bits` picks: the first and last eighth, and every third between."""
    eighth = layers // 8
    picked = [i for i in range(layers) if i < eighth or i >= 7 * layers // 8 or (i - eighth) % 3 == 2]
    return len(picked) / layers


def mixed(more: float, fewer: float, share: float) -> float:
    return fewer + (more - fewer) * share


Bits = Callable[[ModelShape], Mapping[Tensor, float]]


@dataclass(frozen=True, kw_only=True)
class Precision:
    """One way to store weights. `bits`: of the kinds of tensors that differ from `usual`, for a shape.

    `runtime`: what runs such files, which decides what else takes memory.
    """

    slug: str
    name: str
    usual: float
    bits: Bits = field(default=lambda _shape: {})
    runtime: Runtime = "torch"
    note: str = ""
    source_title: str = ""
    source_url: str = ""

    def runs_on(self, vendor: str) -> bool:
        """Whether its runtime has a backend for this vendor; PyTorch is taken to have one for every."""
        return vendor in BACKENDS.get(self.runtime, {vendor})

    def bits_of(self, shape: ModelShape) -> dict[Tensor, float]:
        """Bits per weight of every kind of tensor."""
        special = self.bits(shape)
        return {tensor: special.get(tensor, self.usual) for tensor in shape.tensors}


def _k_quant(usual: float, more: float) -> Bits:
    """The `_M` mixes of 4 and 5 bits: half of the value and down projections get 6."""

    def bits(shape: ModelShape) -> Mapping[Tensor, float]:
        raised = mixed(more, usual, more_bits(shape.layers))
        # the experts' down projections are a third of them
        expert = (2 * usual + raised) / 3
        return {"output": Q6_K, "value": raised, "down": raised, "expert": expert, "norm": F32}

    return bits


def _q3_k_m(shape: ModelShape) -> Mapping[Tensor, float]:
    value = mixed(Q5_K, Q4_K, 2 / shape.layers)
    down = mixed(Q5_K, Q4_K, (shape.layers // 16) / shape.layers)
    expert = (2 * Q3_K + down) / 3
    return {"output": Q6_K, "value": value, "attention_out": Q4_K, "down": down, "expert": expert, "norm": F32}


def _q2_k(shape: ModelShape) -> Mapping[Tensor, float]:
    value = Q4_K if shape.heads >= GROUPED_HEADS * shape.kv_heads else Q3_K
    expert = (2 * Q2_K + Q3_K) / 3
    return {"output": Q6_K, "value": value, "attention_out": Q3_K, "down": Q3_K, "expert": expert, "norm": F32}


def _iq4_xs(shape: ModelShape) -> Mapping[Tensor, float]:
    value = Q5_K if shape.heads >= GROUPED_HEADS * shape.kv_heads else IQ4_XS
    down = mixed(Q5_K, IQ4_XS, (shape.layers // 8) / shape.layers)
    expert = (2 * IQ4_XS + down) / 3
    return {"output": Q6_K, "value": value, "down": down, "expert": expert, "norm": F32}


def _output_q6(_shape: ModelShape) -> Mapping[Tensor, float]:
    return {"output": Q6_K, "norm": F32}


def _norm_f32(_shape: ModelShape) -> Mapping[Tensor, float]:
    return {"norm": F32}


def _tables_16(_shape: ModelShape) -> Mapping[Tensor, float]:
    """The embedding, the output matrix and the norms stay in 16 bits."""
    return {"embedding": F16, "output": F16, "norm": F16}


def _norm_16(_shape: ModelShape) -> Mapping[Tensor, float]:
    return {"norm": F16}


def _mxfp4(_shape: ModelShape) -> Mapping[Tensor, float]:
    return {"expert": MXFP4, "norm": F32}


def _llama(slug: str, name: str, usual: float, bits: Bits, note: str = "") -> Precision:
    title, url = QUANT
    return Precision(
        slug=slug, name=name, usual=usual, bits=bits, runtime="llama.cpp", note=note, source_title=title, source_url=url
    )


def _torch(slug: str, name: str, usual: float, source: tuple[str, str], bits: Bits = lambda _shape: {}) -> Precision:
    return Precision(slug=slug, name=name, usual=usual, bits=bits, source_title=source[0], source_url=source[1])


def _mlx(slug: str, name: str, bits: int, group: int) -> Precision:
    """A scale and a bias of 16 bits for each group of weights; the embedding is quantised too."""
    return Precision(
        slug=slug,
        name=name,
        usual=bits + 2 * F16 / group,
        bits=_norm_16,
        runtime="mlx",
        source_title=MLX[0],
        source_url=MLX[1],
    )


GPTQ_GROUP = 128  # weights that share a 16-bit scale and a 4-bit zero point
QLORA_BLOCK, QLORA_BLOCKS = 64, 256  # an 8-bit constant a block, a 32-bit one for 256 blocks

_ALL = (
    _llama("q4_k_m", "Q4_K_M", Q4_K, _k_quant(Q4_K, Q6_K)),
    _llama("q4_0", "Q4_0", Q4_0, _output_q6),
    _llama("q5_k_m", "Q5_K_M", Q5_K, _k_quant(Q5_K, Q6_K)),
    _llama("q6_k", "Q6_K", Q6_K, _norm_f32),
    _llama("q8_0", "Q8_0", Q8_0, _norm_f32),
    _llama("f16", "F16 (GGUF)", F16, _norm_f32),
    _llama("q3_k_m", "Q3_K_M", Q3_K, _q3_k_m),
    _llama("q2_k", "Q2_K", Q2_K, _q2_k),
    _llama("iq4_xs", "IQ4_XS", IQ4_XS, _iq4_xs),
    _llama("mxfp4", "MXFP4 (experts)", Q8_0, _mxfp4, "experts in 4.25 bits, everything else in Q8_0"),
    _mlx("mlx-4bit", "MLX 4-bit", 4, 64),
    _mlx("mlx-5bit", "MLX 5-bit", 5, 64),
    _mlx("mlx-6bit", "MLX 6-bit", 6, 64),
    _mlx("mlx-8bit", "MLX 8-bit", 8, 64),
    _torch("fp32", "fp32", F32, IEEE),
    _torch("fp16", "fp16", F16, IEEE),
    _torch("bf16", "bf16", F16, IEEE),
    _torch("fp8", "fp8", BYTE, FP8, _tables_16),
    _torch("int8", "int8 (LLM.int8)", BYTE, INT8, _tables_16),
    _torch("int4", "int4 (GPTQ, AWQ; groups of 128)", 4 + (16 + 4) / GPTQ_GROUP, GPTQ, _tables_16),
    _torch(
        "nf4", "nf4 (QLoRA)", 4 + 8 / QLORA_BLOCK + 32 / (QLORA_BLOCK * QLORA_BLOCKS), QLORA, _tables_16
    ),
)  # fmt: skip
PRECISIONS: Mapping[str, Precision] = {precision.slug: precision for precision in _ALL}

# Bits of one number of the KV cache.
CACHE_PRECISIONS: Mapping[str, float] = {"fp16": F16, "fp8": BYTE, "q8_0": Q8_0, "q4_0": Q4_0, "fp32": F32}


def weight_bytes(shape: ModelShape, precision: Precision) -> dict[Tensor, float]:
    """Bytes of all weights by kind of tensor."""
    bits = precision.bits_of(shape)
    return {tensor: count * bits[tensor] / 8 for tensor, count in shape.tensors.items()}


def bytes_read(shape: ModelShape, precision: Precision, tokens: int = 1) -> float:
    """Bytes of weights that a pass over `tokens` tokens, one of each sequence, reads."""
    return sum(size * shape.read_share(tensor, tokens) for tensor, size in weight_bytes(shape, precision).items())
