"""The parameters of a result of llama-bench or MLX -> the rate it states, of a model and a precision of ours. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from stackviz.pages.fit.calibration import ReachedRate
from stackviz.pages.fit.language_models import model_named, precision_named
from stackviz.pages.fit.memory import CHUNK
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.fit.rates import Pass, Test

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
