"""What published figures bound a case of a benchmark, as one division. Pure."""

from dataclasses import dataclass

from stackviz.records.cited.benchmark import CitedBenchmark, Params
from stackviz.records.cited.weights import weights_bytes


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
