"""Published figures that bound a case of a benchmark, as one division; and the bytes of a model's weights. Pure."""

import re
from dataclasses import dataclass

from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, CitedBenchmark, Params
from stackviz.report.measuring.llama_bench import WEIGHTS_BYTES

FASTEST_TYPE = 4  # fp4 against fp16, as vendors publish them
_SIZE = re.compile(r"(?<![\d.])(\d{1,4}(?:\.\d{1,2})?) ?b(?![a-z])", re.IGNORECASE)
_ACTIVE = re.compile(r"\bA(\d{1,3}(?:\.\d{1,2})?)([BM])\b", re.IGNORECASE)  # Qwen3-30B-A3B, granite-1b-a400m
_MIXTURES = re.compile(
    r"mixtral|moe\b|gpt[- ]oss|deepseek.*(?:v\d|67\d|685)|grok|dbrx|jamba|kimi|glm|dots|scout|maverick"
)
"""Names of mixtures of experts that print all of their parameters, and not how many a token passes."""
_BITS = re.compile(r"(\d{1,2}(?:\.\d{1,2})?) ?-?(?:bit|bpw)|(?:q|f|fp|bf|int)(\d{1,2})(?!\d)", re.IGNORECASE)


def weights_bytes(params: Params) -> float | None:
    """As the parameters print it, or known of the model; None where neither is, or no tokens are generated."""
    if not str(params.get("test", "")).startswith("tg"):
        return None
    printed = params.get("weights_bytes")
    if isinstance(printed, int):
        return printed
    return WEIGHTS_BYTES.get((str(params.get("model")), str(params.get("quant"))))


def least_work(params: Params, field: str) -> float | None:
    """What a token takes at least: bytes if `field` is a bandwidth, else FLOP. None where the names say too little.

    Decoding reads the parameters in the model's name at the bits in the format's, once for all requests of a batch.
    Formats have a little more than their bits (Q4_K_M: 4.8), which outweighs the embedding that is not read. A prompt
    takes two FLOP a parameter, at most four times as fast as in 16 bits where the units compute in four.
    """
    parameters = parameters_in_name(str(params.get("model", "")))
    if parameters is None or "+" in str(params.get("test", "")):  # pp512+tg128: a mix
        return None
    if field not in MEMORY_BANDWIDTH:
        return 2 * parameters / FASTEST_TYPE
    read = weights_of_name(params)
    users = 1 if params.get("per") == "user" else params.get("batch", 1)
    return read / users if read is not None and isinstance(users, int) and users >= 1 else None


def weights_of_name(params: Params) -> float | None:
    """Bytes of the weights that a token passes, by the size in the model's name and the bits in the format's."""
    parameters = parameters_in_name(str(params.get("model", "")))
    bits = _BITS.search(str(params.get("quant") or params.get("precision") or ""))
    return None if parameters is None or bits is None else parameters * float(bits[1] or bits[2]) / 8


def parameters_in_name(model: str) -> float | None:
    """`Qwen2.5-14B` -> 14e9; of a mixture of experts those that one token passes: `Qwen3_30B_a3B` -> 3e9."""
    model = model.replace("_", " ")
    if active := _ACTIVE.search(model):
        return float(active[1]) * (1e6 if active[2] in "mM" else 1e9)
    size = _SIZE.search(model)
    return float(size[1]) * 1e9 if size and not _MIXTURES.search(model.casefold()) else None


@dataclass(frozen=True, slots=True)
class CaseBound:
    """A rate is at most a published figure of one of `fields` ÷ `divisor`, all in base units.

    `is_weights`: the divisor is the bytes of the weights that decoding reads for each token.
    """

    fields: tuple[str, ...]
    divisor: float
    is_weights: bool = False

    def most(self, peak: float) -> float:
        return peak / self.divisor


def case_bound(benchmark: CitedBenchmark, params: Params) -> CaseBound | None:
    """None where nothing published bounds the case, or not by what its parameters say."""
    bound = benchmark.bound(params)
    if bound is None:
        return None
    if bound.work is not None:
        return CaseBound(bound.fields, bound.work)
    weights = weights_bytes(params)
    return None if weights is None else CaseBound(bound.fields, weights, is_weights=True)
