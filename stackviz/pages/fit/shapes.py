"""The shape of a language model, and how many parameters each kind of tensor has. Pure: no Django.

Shapes are those of decoder-only transformers: grouped or latent attention, a gated or plain MLP, dense or with experts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Tensor = Literal["embedding", "output", "value", "attention_out", "attention", "down", "mlp", "expert", "norm"]
NORMS_PER_LAYER = 2


@dataclass(frozen=True, kw_only=True)
class ModelShape:
    """One language model. Counts are of tensors as published; 0 where the shape has no such part.

    `kv_rank`, `query_rank`, `rope_size`: of latent attention (DeepSeek-V2, section 2.1); 0 of grouped attention.
    `window`: tokens that `window_layers` of the layers see; the others see the whole context.
    `dense_layers`: of a model with experts, those that have none. `is_gated`: three matrices in the MLP, not two.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    intermediate: int
    vocabulary: int
    is_gated: bool = True
    is_tied: bool = False
    experts: int = 0
    experts_per_token: int = 0
    expert_intermediate: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    kv_rank: int = 0
    query_rank: int = 0
    rope_size: int = 0
    window: int = 0
    window_layers: int = 0

    @property
    def is_latent(self) -> bool:
        return self.kv_rank > 0

    @property
    def expert_layers(self) -> int:
        return self.layers - self.dense_layers if self.experts else 0

    @cached_property
    def tensors(self) -> Mapping[Tensor, int]:
        """Parameters by kind of tensor. A tied embedding counts as `output`: it is stored once and read as that."""
        table = self.vocabulary * self.hidden
        value, out, rest = self._attention()
        plain_layers = self.layers - self.expert_layers
        down = self.hidden * self.intermediate
        return {
            "embedding": 0 if self.is_tied else table,
            "output": table,
            "value": value * self.layers,
            "attention_out": out * self.layers,
            "attention": rest * self.layers,
            "down": down * plain_layers,
            "mlp": down * (2 if self.is_gated else 1) * plain_layers,
            "expert": self.expert_parameters * (self.experts + self.shared_experts) * self.expert_layers,
            "norm": (NORMS_PER_LAYER * self.layers + 1) * self.hidden + self.hidden * self.experts * self.expert_layers,
        }

    @property
    def expert_parameters(self) -> int:
        """Parameters of one expert in one layer."""
        return (3 if self.is_gated else 2) * self.hidden * self.expert_intermediate

    @property
    def parameters(self) -> int:
        return sum(self.tensors.values())

    def active_experts(self, tokens: int = 1) -> float:
        """Distinct experts of a layer that `tokens` tokens use, shared ones included: E (1 - (1 - k/E)^tokens).

        Tokens are taken to choose at random, which an untrained router would do.
        """
        if not self.experts:
            return 0.0
        unused: float = (1 - self.experts_per_token / self.experts) ** tokens
        return self.experts * (1 - unused) + self.shared_experts

    def read_share(self, tensor: Tensor, tokens: int = 1) -> float:
        """The share of a kind of tensor that one pass over `tokens` tokens reads."""
        if tensor == "embedding":
            return 0.0  # one row a token
        if tensor == "expert":
            return self.active_experts(tokens) / (self.experts + self.shared_experts) if self.experts else 0.0
        return 1.0

    @cached_property
    def active_parameters(self) -> float:
        """Parameters that one token multiplies with: all but the rows of the embedding and the experts not chosen."""
        return sum(count * self.read_share(tensor) for tensor, count in self.tensors.items())

    @property
    def layer_parameters(self) -> float:
        """The active parameters without the output matrix, which a prompt needs for its last token alone."""
        return self.active_parameters - self.tensors["output"]

    def _attention(self) -> tuple[int, int, int]:
        """Parameters of one layer: of the value projection, of the output projection, of the rest."""
        queries = self.heads * self.head_size
        if not self.is_latent:
            shared = self.hidden * self.kv_heads * self.head_size
            return shared, queries * self.hidden, self.hidden * queries + shared
        value = self.kv_rank * queries
        query = self.hidden * self.query_rank + self.query_rank * self.heads * (self.head_size + self.rope_size)
        latent = self.hidden * (self.kv_rank + self.rope_size)
        return value, queries * self.hidden, query + latent + self.kv_rank * queries
