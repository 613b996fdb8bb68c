"""`/fit/` as CSV: every accelerator of the answer, with the bars of its memory and its rates."""

from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse

from stackviz.pages.fit.answers import FitAnswer, smallest_first
from stackviz.pages.fit.calibration import Prediction
from stackviz.pages.fit.query import FitQuery
from stackviz.pages.fit.words import PARTS
from stackviz.web.download import csv_response

__all__ = ["fit_csv"]

_RATE = ("low", "mid", "high", "bound", "share_of_bound")
HEADER = (
    "rank", "slug", "name", "vendor", "cards", "memory_gb", "fits", "needed_bytes", "usable_bytes",
    "fullest_card_percent", *(f"{key}_bytes" for key in PARTS), *(f"decode_{name}" for name in _RATE),
    *(f"prefill_{name}" for name in _RATE), "rate_unit", "limit_source_title", "limit_source_url", "kind",
)  # fmt: skip


def fit_csv(query: FitQuery, answers: Sequence[FitAnswer]) -> HttpResponse:
    """Those that run it, ranked as the page ranks them; before them the chosen ones that do not fit, without a rank."""
    fitting = smallest_first(answers)
    chosen = frozenset(query.accelerators)
    misses = [answer for answer in answers if not answer.fits and answer.target.slug in chosen]
    ranked: Iterable[tuple[int | None, FitAnswer]] = enumerate(fitting, 1)
    rows = [_row(rank, answer) for rank, answer in (*((None, answer) for answer in misses), *ranked)]
    return csv_response(f"fit {query.model.slug} {query.precision.slug}", HEADER, rows)


def _row(rank: int | None, answer: FitAnswer) -> tuple[object, ...]:
    target, limit = answer.target, answer.limit
    sizes: dict[str, float] = {part.key: part.size for part in answer.parts}
    return (
        rank, target.slug, target.name, target.vendor_name, answer.cards, limit.printed_gb, answer.fits,
        answer.needed, answer.available, answer.fullest / answer.usable * 100, *(sizes.get(key) for key in PARTS),
        *_rate(answer.decode), *_rate(answer.prefill), "token/s", *limit.source, "derived",
    )  # fmt: skip


def _rate(prediction: Prediction | None) -> Iterator[object]:
    if prediction is None:
        yield from (None for _name in _RATE)
    else:
        yield from (prediction.low, prediction.mid, prediction.high, str(prediction.bound_by), prediction.efficiency)
