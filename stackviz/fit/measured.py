"""Rates of language models that machines of public labs measured with llama-bench: evidence beside what is cited."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any

from stackviz.benchmarks.comparability import is_of_whole_card, robust_best
from stackviz.benchmarks.measurement import Measurement
from stackviz.benchmarks.queries import measured_edition, public_runs
from stackviz.catalog.queries import PublicCatalogue
from stackviz.fit.calibration import ReachedRate
from stackviz.fit.named_rates import reached_rate
from stackviz.measuring.llama_bench import LLAMA_BENCH

# What a rate is predicted from. A result with another parameter that matters (layers left to the processor, a smaller
# type of the cache, a model that no table names) is no evidence.
_PREDICTED_FROM = ("test", "model", "quant", "depth")


def measured_rates(catalogue: PublicCatalogue) -> tuple[ReachedRate, ...]:
    """The robust best of each accelerator, test, model, quantisation and depth (docs/results.md), in a fixed order.

    Whoever asks, machines of private labs, noisy results and those that are set aside do not count. One query; six
    more at most when a public machine has reported since the last call in this process.
    """
    return _rates(measured_edition(), catalogue)


@lru_cache(maxsize=2)
def _rates(_edition: tuple[object, ...], catalogue: PublicCatalogue) -> tuple[ReachedRate, ...]:
    runs: dict[tuple[str, Hashable], list[Measurement]] = defaultdict(list)
    for result in public_runs(LLAMA_BENCH.key, LLAMA_BENCH.version):
        sheet = catalogue.by_pk.get(result.card.accelerator_id or 0) if result.card else None
        params = _predicted_from(result)
        is_calm = result.summary is not None and not result.summary.is_noisy
        if sheet is not None and params and is_of_whole_card(result) and is_calm:
            runs[sheet.slug, tuple(sorted(params.items()))].append(result)
    rates = (_rate(slug, group) for (slug, _params), group in runs.items())
    return tuple(sorted(filter(None, rates), key=repr))


def _predicted_from(result: Measurement) -> Mapping[str, Any]:
    """The parameters that must be equal; {} where there is one that no rate is predicted from."""
    compared = LLAMA_BENCH.compared(result.params)
    return compared if set(compared) <= set(_PREDICTED_FROM) else {}


def _rate(slug: str, runs: list[Measurement]) -> ReachedRate | None:
    """None where the model or its quantisation is not in the tables."""
    best = robust_best(runs)
    if best is None:
        return None
    return reached_rate(slug, _predicted_from(best.result), best.rate.value, is_measured=True)
