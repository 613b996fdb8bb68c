"""The cited rates that calibrations are fitted to: public results of llama-bench and MLX whose model is in the table.

Two queries for the editions; one more in a process that has not read this edition of cited results yet.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from stackviz.catalog.queries import PublicCatalogue
from stackviz.cited.cases import edition_of_cases, public_results
from stackviz.fit.answers import FitCalibrations
from stackviz.fit.calibration import Calibration, CitedRate
from stackviz.fit.language_models import model_named, precision_named
from stackviz.fit.memory import CHUNK
from stackviz.fit.precisions import PRECISIONS
from stackviz.fit.rates import Pass, Test
from stackviz.fit.targets import fit_targets

BENCHMARKS = ("llama-bench", "mlx-lm")
_TEST = re.compile(r"(tg|pp)(\d{1,6})")
_TESTS: Mapping[str, Test] = {"tg": "decode", "pp": "prefill"}
_WRITTEN_IN_NAME = re.compile(r"(?P<model>.+?)[ -](?:i1-)?(?P<quant>Q\d\w*|F16|BF16|MXFP4)", re.IGNORECASE)
MOST_DEPTH = 10_000_000


def calibrations(catalogue: PublicCatalogue) -> FitCalibrations:
    """Fitted to all cited rates of one accelerator each."""
    return _calibrations(edition_of_cases(), catalogue)


@lru_cache(maxsize=2)
def _calibrations(_edition: str, catalogue: PublicCatalogue) -> FitCalibrations:
    rates = [rate for rate in cited_rates() if rate.cards == 1]
    known = {slug: target.rated for slug, target in fit_targets(catalogue).items()}
    return FitCalibrations(decode=Calibration("decode", rates, known), prefill=Calibration("prefill", rates, known))


def cited_rates() -> Iterator[CitedRate]:
    """Every public cited rate that can be read, of one accelerator or several. One query."""
    rows = public_results().filter(benchmark__in=BENCHMARKS).order_by("pk")
    for slug, cards, params, amount, title, url in rows.values_list(
        "accelerator__slug", "count", "params", "amount", "source__title", "source__url"
    ):
        rate = cited_rate(slug, params, amount, cards=cards, source=(title, url))
        if rate is not None:
            yield rate


def cited_rate(
    accelerator: str, params: Mapping[str, Any], tokens_per_s: float, *, cards: int = 1, source: tuple[str, str]
) -> CitedRate | None:
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
    return CitedRate(
        accelerator=accelerator,
        model=model.slug,
        test=_TESTS[test[1]],
        work=work,
        tokens_per_s=tokens_per_s,
        cards=cards,
        source_title=source[0],
        source_url=source[1],
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
