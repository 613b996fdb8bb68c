"""What calibrations are fitted to: cited rates of llama-bench and MLX, and what public machines measured.

Three queries for the editions; one more in a process that has not read this edition of cited results yet, and at most
six for measured ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b

from stackviz.pages.fit.answers import FitCalibrations
from stackviz.pages.fit.calibration import Calibration, ReachedRate
from stackviz.pages.fit.measured import measured_rates
from stackviz.pages.fit.named_rates import reached_rate
from stackviz.pages.fit.targets import fit_targets
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.cases import edition_of_cases, public_results

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
