"""Rates of language models that machines of public labs measured with llama-bench: evidence beside what is cited."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

from django.db.models import Q

from stackviz.pages.fit.calibration import ReachedRate
from stackviz.pages.fit.named_rates import reached_rate
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.series.comparability import robust_best
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import cached_for_edition, public_runs
from stackviz.report.measuring.llama_bench import LLAMA_BENCH

# What a rate is predicted from. A result with another parameter that matters (layers left to the processor, a smaller
# type of the cache, a model that no table names) is no evidence.
_PREDICTED_FROM = ("test", "model", "quant", "depth")


def measured_rates(catalogue: PublicCatalogue) -> tuple[ReachedRate, ...]:
    """The robust best of each accelerator, test, model, quantisation and depth (docs/results.md), in a fixed order.

    Noisy and disturbed results do not count, nor do those that `public_runs` leaves out. The queries of
    `measured_edition`; six more at most where something has changed since the last call in this process.
    """
    return cached_for_edition(_rates, catalogue, is_translated=False)


def _rates(catalogue: PublicCatalogue) -> tuple[ReachedRate, ...]:
    runs: dict[tuple[str, Hashable], list[Measurement]] = defaultdict(list)
    for result in public_runs(Q(benchmark=LLAMA_BENCH.key, version=LLAMA_BENCH.version)):
        sheet = catalogue.by_pk.get(result.accelerator_id or 0)
        params = _predicted_from(result)
        is_calm = result.summary is not None and not result.summary.is_uncertain
        if sheet is not None and params and is_calm:
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
