"""The shape of a language model, and how many parameters each kind of tensor has. Pure: no Django.

Shapes are those of decoder-only transformers: grouped or latent attention, a gated or plain MLP, dense or with experts;
some layers may have a gated delta net (Yang et al. 2024) in place of attention, whose state does not grow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Tensor = Literal["embedding", "output", "value", "attention_out", "attention", "down", "mlp", "expert", "norm"]
NORMS_PER_LAYER = 2
CONVOLUTION = 4  # tokens that the short convolution before a gated delta net sees
STATE_BYTES = 4  # of a number of a state: 32 bits in llama.cpp, whatever the cache has


@dataclass(frozen=True, kw_only=True)
class ModelShape:
    """One language model. Counts are of tensors as published; 0 where the shape has no such part.

    `kv_rank`, `query_rank`, `rope_size`: of latent attention (DeepSeek-V2, section 2.1); 0 of grouped attention.
    `window`: tokens that `window_layers` of the layers see; the others see the whole context.
    `full_kv_heads`, `full_head_size`: of layers without a window where theirs differ, whose values are their keys.
    `dense_layers`: of a model with experts, those that have none. `is_gated`: three matrices in the MLP, not two.
    `state_layers`: with a gated delta net of `state_heads` values and `state_key_heads` keys of `state_head_size`.
    `has_output_gate`: attention gates its output by as many numbers as its queries have.
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
    full_kv_heads: int = 0
    full_head_size: int = 0
    state_layers: int = 0
    state_heads: int = 0
    state_key_heads: int = 0
    state_head_size: int = 0
    has_output_gate: bool = False

    @property
    def is_latent(self) -> bool:
        return self.kv_rank > 0

    @property
    def cached_layers(self) -> int:
        """Layers that keep every token: those with neither a window nor a state."""
        return self.layers - self.window_layers - self.state_layers

    @property
    def state_channels(self) -> int:
        """Queries, keys and values of a gated delta net, which pass the short convolution."""
        return (2 * self.state_key_heads + self.state_heads) * self.state_head_size

    @property
    def state_numbers(self) -> int:
        """Numbers of the states of one sequence: a matrix for each head, and the last tokens of the convolution."""
        matrices = self.state_heads * self.state_head_size**2
        return self.state_layers * (matrices + (CONVOLUTION - 1) * self.state_channels)

    @property
    def expert_layers(self) -> int:
        return self.layers - self.dense_layers if self.experts else 0

    @cached_property
    def tensors(self) -> Mapping[Tensor, int]:
        """Parameters by kind of tensor. A tied embedding counts as `output`: it is stored once and read as that."""
        table = self.vocabulary * self.hidden
        value, out, rest = self._attention()
        state_out, state_rest = self._delta_net()
        full_layers = self.cached_layers if self.full_head_size else 0
        attention_layers = self.layers - self.state_layers - full_layers
        full_out, full_rest = self._full_attention()
        plain_layers = self.layers - self.expert_layers
        down = self.hidden * self.intermediate
        return {
            "embedding": 0 if self.is_tied else table,
            "output": table,
            "value": value * attention_layers,
            "attention_out": out * attention_layers + full_out * full_layers + state_out * self.state_layers,
            "attention": rest * attention_layers + full_rest * full_layers + state_rest * self.state_layers,
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
            projected = 2 * queries if self.has_output_gate else queries
            return shared, queries * self.hidden, self.hidden * projected + shared
        value = self.kv_rank * queries
        query = self.hidden * self.query_rank + self.query_rank * self.heads * (self.head_size + self.rope_size)
        latent = self.hidden * (self.kv_rank + self.rope_size)
        return value, queries * self.hidden, query + latent + self.kv_rank * queries

    def _full_attention(self) -> tuple[int, int]:
        """Parameters of one layer with `full_head_size`: of its output projection, of the rest."""
        queries = self.heads * self.full_head_size
        return queries * self.hidden, self.hidden * (queries + self.full_kv_heads * self.full_head_size)

    def _delta_net(self) -> tuple[int, int]:
        """Parameters of one gated delta net: of its output projection, of the rest (it gates values and forgets)."""
        values = self.state_heads * self.state_head_size
        projected = self.state_channels + values + 2 * self.state_heads
        return values * self.hidden, self.hidden * projected + CONVOLUTION * self.state_channels
