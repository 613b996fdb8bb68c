"""Cited results as curves: what one accelerator reaches over sizes, lengths or batches, all else equal.

A curve is of one accelerator, one source, one number of devices; all other parameters are equal along it. Curves are
read once for each edition and process; those of fewer than FEWEST_POINTS points are dropped then.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from stackviz.base.units import unit
from stackviz.records.cited.benchmark import CitedBenchmark, Params
from stackviz.records.cited.cases import edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.parameters import pairs_text
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import parameter_text, result_address, software_text
from stackviz.web.i18n.words import joined

FEWEST_POINTS = 3
_TEST = re.compile(r"(pp|tg)(\d{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveKind:
    """What is drawn over what. `split(params)`: (place on the horizontal axis, the parameters that stay), or None."""

    key: str
    title: str | Promise
    benchmark: str
    x_title: str | Promise
    split: Callable[[Params], tuple[int, Params] | None]
    x_unit: str = ""
    measured: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """`amount` in the base unit; `url`: of the result."""

    x: int
    amount: float
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """`setting`: what must be equal for two curves to be compared, as `name=value; name=value`.

    `made`: other parameters and software, which may differ between curves and never along one.
    """

    accelerator_id: int
    count: int
    setting: str
    params: Params
    si: str
    made: str
    source_title: str
    source_url: str
    points: tuple[CurvePoint, ...]
    is_measured: bool = False

    @property
    def most(self) -> float:
        return max(point.amount for point in self.points)


def _square_side(params: Params) -> tuple[int, Params] | None:
    sides = {params.get(side) for side in ("m", "n", "k")}
    side = next(iter(sides))
    if len(sides) != 1 or not isinstance(side, int):
        return None
    return side, {name: value for name, value in params.items() if name not in ("m", "n", "k")}


def _count(name: str, **required: str) -> Callable[[Params], tuple[int, Params] | None]:
    """Over a parameter that counts something; `required`: values that others must have."""

    def split(params: Params) -> tuple[int, Params] | None:
        value = params.get(name)
        if not isinstance(value, int) or any(params.get(other) != text for other, text in required.items()):
            return None
        return value, {other: text for other, text in params.items() if other != name}

    return split


def _tokens(kind: str) -> Callable[[Params], tuple[int, Params] | None]:
    """Over the tokens of llama-bench's tests: pp512, tg128."""

    def split(params: Params) -> tuple[int, Params] | None:
        test = _TEST.fullmatch(str(params.get("test", "")))
        if test is None or test[1] != kind:
            return None
        return int(test[2]), {name: value for name, value in params.items() if name != "test"}

    return split


KINDS: Mapping[str, CurveKind] = {
    kind.key: kind
    for kind in (
        CurveKind(
            key="prefill",
            title=_("Prefill over prompt length"),
            benchmark="llama-bench",
            x_title=_("tokens of the prompt"),
            split=_tokens("pp"),
        ),
        CurveKind(
            key="decode",
            title=_("Decoding over answer length"),
            benchmark="llama-bench",
            x_title=_("generated tokens"),
            split=_tokens("tg"),
        ),
        CurveKind(
            key="depth",
            title=_("Language models over context"),
            benchmark="llama-bench",
            x_title=_("tokens in the context"),
            split=_count("depth"),
        ),
        CurveKind(
            key="gemm",
            title=_("Matrix product over size"),
            benchmark="gemm",
            x_title=_("rows and columns of square matrices"),
            split=_square_side,
            measured="gemm",
        ),
        CurveKind(
            key="copy",
            title=_("Copy over working set"),
            benchmark="memory-bandwidth",
            x_title=_("bytes copied (MB)"),
            split=_count("bytes", test="copy"),
            x_unit="MB",
            measured="memory-copy",
        ),
        CurveKind(
            key="attention",
            title=_("Attention over sequence length"),
            benchmark="attention",
            x_title=_("sequence length"),
            split=_count("sequence"),
        ),
        CurveKind(
            key="batch",
            title=_("Inference throughput over batch"),
            benchmark="inference-throughput",
            x_title=_("batch"),
            split=_count("batch"),
        ),
        CurveKind(
            key="train",
            title=_("Training throughput over batch"),
            benchmark="train-throughput",
            x_title=_("batch"),
            split=_count("batch"),
        ),
        CurveKind(
            key="serving",
            title=_("Serving throughput over batch"),
            benchmark="llm-throughput",
            x_title=_("batch"),
            split=_count("batch"),
        ),
        CurveKind(
            key="allreduce",
            title=_("All-reduce over message size"),
            benchmark="nccl-allreduce",
            x_title=_("bytes of the message (MB)"),
            split=_count("bytes"),
            x_unit="MB",
        ),
    )
}


def cited_curves(kind: CurveKind) -> Sequence[Curve]:
    """All curves of public results. One query in a process that has not read this edition yet."""
    return _cited_curves(edition_of_cases(), get_language() or "", kind.key)


@lru_cache(maxsize=24)
def _cited_curves(_edition: str, _language: str, key: str) -> Sequence[Curve]:
    kind = KINDS[key]
    benchmark = CITED_BENCHMARKS[kind.benchmark]
    groups: dict[tuple[object, ...], list[tuple[int, CitedResult]]] = defaultdict(list)
    for result in _best_of_settings(benchmark):
        split = kind.split(result.params)
        if split is not None:
            x, rest = split
            identity = (result.accelerator_id, result.source_id, result.count, result.si, pairs_text(rest))
            groups[identity].append((x, result))
    curves = (_curve(kind, benchmark, results) for results in groups.values())
    return tuple(curve for curve in curves if len(curve.points) >= FEWEST_POINTS)


def cited_places(kind: CurveKind) -> tuple[int, ...]:
    """Return the places of cited results on the horizontal axis, whether they make a curve or not."""
    return _cited_places(edition_of_cases(), kind.key)


@lru_cache(maxsize=24)
def _cited_places(_edition: str, key: str) -> tuple[int, ...]:
    kind = KINDS[key]
    rows = public_results().filter(benchmark=kind.benchmark).order_by().values_list("params", flat=True).distinct()
    return tuple(sorted({split[0] for params in rows if (split := kind.split(params))}))


def _best_of_settings(benchmark: CitedBenchmark) -> Iterable[CitedResult]:
    """Of each accelerator, source and number of devices the best result of exactly the same parameters."""
    best_first = F("amount").desc() if benchmark.higher_is_better else F("amount").asc()
    same = ["accelerator", "source", "count", "params"]
    rank = Window(RowNumber(), partition_by=same, order_by=[best_first, F("pk").asc()])
    rows = public_results().filter(benchmark=benchmark.key).order_by().annotate(rank_in_setting=rank)
    return rows.filter(rank_in_setting=1).select_related("source").iterator()


def _curve(kind: CurveKind, benchmark: CitedBenchmark, results: list[tuple[int, CitedResult]]) -> Curve:
    """`results`: with equal parameters but the one along the axis."""
    by_place = dict(sorted(results, key=lambda item: item[0]))
    first = results[0][1]
    split = kind.split(first.params)
    rest = split[1] if split else {}
    compared = benchmark.compared_params(rest)
    others = {name: value for name, value in sorted(rest.items()) if name not in compared}
    words = (parameter_text(name, value) for name, value in others.items())
    return Curve(
        accelerator_id=first.accelerator_id or 0,
        count=first.count,
        setting=setting_key(compared, first.count, first.si),
        params=compared,
        si=first.si,
        made=joined([*words, software_text(first.software), first.date]),
        source_title=first.source.title,
        source_url=first.source.url,
        points=tuple(CurvePoint(x, result.amount, result_address(result)) for x, result in by_place.items()),
    )


def setting_key(params: Params, count: int, si: str) -> str:
    """`model=Llama 3 8B; quant=Q4_K_M`, `devices=8; unit=B/s`: what an address names a setting by."""
    devices: Params = {"devices": count} if count > 1 else {}
    return pairs_text({**params, **devices}) or f"unit={unit(si).symbol}"
