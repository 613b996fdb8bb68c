"""`/fit/` as CSV: every accelerator of the answer, with the bars of its memory and its rates."""

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from django.http import HttpResponse

from stackviz.pages.fit.answers import FitAnswer, requested_first
from stackviz.pages.fit.calibration import Prediction
from stackviz.pages.fit.query import FitQuery
from stackviz.pages.fit.words import PARTS
from stackviz.web.http.download import Columns, of_part, table_file

RankedAnswer: TypeAlias = tuple[int | None, FitAnswer]


def _bytes_of(key: str, answer: FitAnswer) -> float | None:
    return next((part.size for part in answer.parts if part.key == key), None)


def _rate_columns(name: str) -> Columns[Prediction]:
    return {
        f"{name}_low": lambda rate: rate.low,
        f"{name}_mid": lambda rate: rate.mid,
        f"{name}_high": lambda rate: rate.high,
        f"{name}_bound": lambda rate: str(rate.bound_by),
        f"{name}_share_of_bound": lambda rate: rate.efficiency,
    }


_COLUMNS: Columns[RankedAnswer] = {
    "rank": lambda row: row[0],
    **of_part(
        lambda row: row[1],
        {
            "slug": lambda answer: answer.target.slug,
            "name": lambda answer: answer.target.name,
            "vendor": lambda answer: answer.target.vendor_name,
            "cards": lambda answer: answer.cards,
            "memory_gb": lambda answer: answer.limit.printed_gb,
            "fits": lambda answer: answer.fits,
            "needed_bytes": lambda answer: answer.needed,
            "usable_bytes": lambda answer: answer.available,
            "fullest_card_percent": lambda answer: answer.fullest / answer.usable * 100,
            **{f"{key}_bytes": partial(_bytes_of, key) for key in PARTS},
            **of_part(lambda answer: answer.decode, _rate_columns("decode")),
            **of_part(lambda answer: answer.prefill, _rate_columns("prefill")),
            "rate_unit": lambda _: "token/s",
            "limit_source_title": lambda answer: answer.limit.source[0],
            "limit_source_url": lambda answer: answer.limit.source[1],
            "kind": lambda _: "derived",
        },
    ),
}


def fit_csv(query: FitQuery, answers: Sequence[FitAnswer]) -> HttpResponse:
    """Return those that run it, ranked as on the page; before them the chosen ones that do not fit, without a rank.

    A chosen accelerator has a row for each of its memory sizes, or for the chosen one.
    """
    chosen = frozenset(query.accelerators)
    misses = [answer for answer in answers if not answer.fits and answer.target.slug in chosen]
    rows: list[RankedAnswer] = [*((None, answer) for answer in misses), *enumerate(requested_first(answers), 1)]
    return table_file(f"fit {query.model.slug} {query.precision.slug}", _COLUMNS, rows)
