"""What calibrations are fitted to: cited rates of llama-bench and MLX, and what public machines measured.

Three queries for the editions; one more in a process that has not read this edition of cited results yet, and at most
six for measured ones.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

from django.db.models import Q

from stackviz.pages.fit.answers import FitCalibrations
from stackviz.pages.fit.calibration import Calibration, ReachedRate
from stackviz.pages.fit.language_models import model_named, precision_named
from stackviz.pages.fit.memory import CHUNK
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.fit.rates import Pass, Test
from stackviz.pages.fit.targets import fit_targets
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.cases import edition_of_cases, public_results
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


_TEST = re.compile(r"(tg|pp)(\d{1,6})")
_TESTS: Mapping[str, Test] = {"tg": "decode", "pp": "prefill"}
_WRITTEN_IN_NAME = re.compile(r"(?P<model>.+?)[ -](?:i1-)?(?P<quant>Q\d\w*|F16|BF16|MXFP4)", re.IGNORECASE)
MOST_DEPTH = 10_000_000


def reached_rate(
    accelerator: str,
    params: Mapping[str, Any],
    tokens_per_s: float,
    *,
    cards: int = 1,
    is_measured: bool = False,
    source_title: str = "",
) -> ReachedRate | None:
    """The rate a result states; None where its model, quantisation or test is not one of ours."""
    test = _TEST.fullmatch(str(params.get("test", "")))
    name, quant = _model_and_quant(params)
    model, precision = model_named(name), PRECISIONS.get(precision_named(quant))
    depth = _depth(params)
    if test is None or model is None or precision is None or depth is None or tokens_per_s <= 0:
        return None
    tokens = int(test[2])
    if not tokens:
        return None
    work = Pass(
        shape=model.shape,
        precision=precision,
        depth=depth + tokens / 2,
        chunk=min(tokens, CHUNK),
    )
    return ReachedRate(
        accelerator=accelerator,
        model=model.slug,
        test=_TESTS[test[1]],
        work=work,
        tokens_per_s=tokens_per_s,
        cards=cards,
        is_measured=is_measured,
        source_title=source_title,
    )


def _model_and_quant(params: Mapping[str, Any]) -> tuple[str, str]:
    """The two, also where the name of the model ends with the quantisation."""
    name, quant = str(params.get("model", "")), str(params.get("quant", ""))
    written = _WRITTEN_IN_NAME.fullmatch(name)
    return (written["model"], written["quant"]) if written is not None and not quant else (name, quant)


def _depth(params: Mapping[str, Any]) -> int | None:
    """Tokens in the cache before the test; 0 where the result does not say."""
    text = str(params.get("depth", "") or "0")
    return int(text) if text.isascii() and text.isdecimal() and int(text) <= MOST_DEPTH else None


BENCHMARKS = ("llama-bench", "mlx-lm")


@dataclass(frozen=True)
class FitEvidence:
    """All rates as they are now. `measured`: in an order of their own, equal where nothing that counts has changed."""

    cited_edition: str
    measured: tuple[ReachedRate, ...]

    @cached_property
    def edition(self) -> str:
        """Moves with what a calibration is fitted to, equal in all processes; other reports leave it as it is."""
        return f"{self.cited_edition} {blake2b(repr(self.measured).encode(), digest_size=16).hexdigest()}"


def fit_evidence(catalogue: PublicCatalogue) -> FitEvidence:
    return FitEvidence(edition_of_cases(), measured_rates(catalogue))


@lru_cache(maxsize=2)
def calibrations(evidence: FitEvidence, catalogue: PublicCatalogue) -> FitCalibrations:
    """Fitted to all rates of one accelerator each."""
    rates = [*(rate for rate in cited_rates() if rate.cards == 1), *evidence.measured]
    known = {slug: target.rated for slug, target in fit_targets(catalogue).items()}
    return FitCalibrations(decode=Calibration("decode", rates, known), prefill=Calibration("prefill", rates, known))


def cited_rates() -> Iterator[ReachedRate]:
    """Every public cited rate that can be read, of one accelerator or several. One query."""
    rows = public_results().filter(benchmark__in=BENCHMARKS).order_by("pk")
    fields = ("accelerator__slug", "count", "params", "amount", "source__title")
    for slug, cards, params, amount, title in rows.values_list(*fields):
        rate = reached_rate(slug, params, amount, cards=cards, source_title=title)
        if rate is not None:
            yield rate
