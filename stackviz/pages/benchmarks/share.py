"""The share of a published peak that accelerators reached: of a data type's dense rate, or of the memory bandwidth.

Of each accelerator the best cited result and the best measured one. Results above the peak are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import gettext as _

from stackviz.base.units import format_number, quantity_label
from stackviz.draw.colours import Hue, hue_of
from stackviz.pages.benchmarks.best_results import (
    MeasuredBest,
    best_of_cases,
    cited_conditions,
    cited_setting,
    matmul_cases,
    measured_bests,
)
from stackviz.pages.benchmarks.intensity import BYTES, GEMM, operation_of
from stackviz.pages.benchmarks.roofs import Ceiling, bandwidth_of, ceiling_under, peak_of
from stackviz.pages.benchmarks.selection import BANDWIDTH, ShareChoice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import share_of_bound
from stackviz.records.cited.words import result_address

RATE_BENCHMARKS = ("gemm", "operator-time")
BANDWIDTH_BENCHMARKS = ("fluidx3d", "babelstream", "gpu-stream", "memory-bandwidth", "clpeak-bandwidth")
CITED, MEASURED = "cited", "measured"


def share_benchmarks(of: str) -> tuple[str, ...]:
    """The cited benchmarks that reach for this peak."""
    return BANDWIDTH_BENCHMARKS if of == BANDWIDTH else RATE_BENCHMARKS


@dataclass(frozen=True, slots=True)
class CitedShare:
    """A cited result of one accelerator with the value of its sheet that bounds it."""

    result: CitedResult
    peak: Ceiling
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePoint:
    """One result: `share` of `peak`; `rate`: in the peak's base unit."""

    kind: str
    share: float
    rate: float
    peak: Ceiling
    setting: str
    made: str
    source_title: str
    source_url: str
    url: str

    @property
    def percent(self) -> float:
        return float(f"{self.share * 100:.12g}")

    @property
    def at(self) -> float:
        """Per cent of the scale."""
        return round(self.share * 100, 1)

    @property
    def share_text(self) -> str:
        return f"{format_number(self.share * 100, 2 if self.share < 1 else 3)} %"

    @property
    def rate_text(self) -> str:
        return quantity_label(self.rate, self.peak.si)

    @property
    def is_filled(self) -> bool:
        return self.kind == MEASURED


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    """One accelerator; `points`: its best cited and its best measured result, the higher first."""

    rank: int
    accelerator: Accelerator
    points: tuple[SharePoint, ...]

    @property
    def best(self) -> SharePoint:
        return self.points[0]

    @property
    def hue(self) -> Hue:
        return hue_of(self.accelerator.vendor.slug)

    @property
    def css(self) -> str:
        return self.hue.css


def ranked_shares(catalogue: PublicCatalogue, choice: ShareChoice) -> tuple[ShareRow, ...]:
    """All accelerators with a result, the highest share first. The queries of `best_of_cases` and `measured_bests`."""
    points: dict[int, list[SharePoint]] = {}
    for cited in _best_cited(choice):
        if cited.result.accelerator_id in catalogue.by_pk:
            points[cited.result.accelerator_id] = [_cited_point(cited)]
    if not choice.benchmark:
        for pk, point in _measured_points(catalogue, choice.of):
            points.setdefault(pk, []).append(point)
    ordered = sorted(
        ((catalogue.by_pk[pk], sorted(of_one, key=lambda point: -point.share)) for pk, of_one in points.items()),
        key=lambda item: (-item[1][0].share, item[0].name),
    )
    return tuple(
        ShareRow(rank=rank, accelerator=accelerator, points=tuple(of_one))
        for rank, (accelerator, of_one) in enumerate(ordered, 1)
    )


def _best_cited(choice: ShareChoice) -> Iterable[CitedShare]:
    best: dict[int, CitedShare] = {}
    for key in [choice.benchmark] if choice.benchmark else share_benchmarks(choice.of):
        for cited in _shares(edition_of_cases(), key, choice.of):
            pk = cited.result.accelerator_id
            if pk is not None and (pk not in best or best[pk].share < cited.share):
                best[pk] = cited
    return best.values()


@lru_cache(maxsize=32)
def _shares(_edition: str, key: str, of: str) -> Sequence[CitedShare]:
    """The share of each best result of a benchmark, those above the peak left out. The same for all visitors."""
    catalogue = public_catalogue()
    rows = best_of_cases(key, matmul_cases() if key == "operator-time" else ())
    shares = (_share(catalogue, result, of) for result in rows)
    return tuple(cited for cited in shares if cited is not None and 0 < cited.share <= 1)


def _share(catalogue: PublicCatalogue, result: CitedResult, of: str) -> CitedShare | None:
    accelerator = catalogue.by_pk.get(result.accelerator_id or 0)
    if accelerator is None:
        return None
    if result.benchmark == "operator-time":
        operation = operation_of(result.benchmark, result.params, result.amount_per_device)
        peak = peak_of(catalogue, accelerator, of) if operation and operation.dtype == of else None
        return CitedShare(result, peak, operation.rate / peak.amount) if operation and peak else None
    if of != BANDWIDTH and result.params.get("dtype") != of:
        return None
    bound = share_of_bound(result)
    if bound is None or bound.share is None:
        return None
    peak = ceiling_under(catalogue, accelerator, bound.field, bound.condition)
    if peak and not _may_be_of(peak.condition, result):
        return None
    return CitedShare(result, peak, bound.share) if peak else None


def _may_be_of(condition: str, result: CitedResult) -> bool:
    """Whether a peak is of the accumulate type that the result states, if both name one."""
    accumulate = result.params.get("accumulate")
    return accumulate is None or "accumulate=" not in condition or f"accumulate={accumulate}" in condition


def _cited_point(cited: CitedShare) -> SharePoint:
    result = cited.result
    return SharePoint(
        kind=CITED,
        share=cited.share,
        rate=cited.share * cited.peak.amount,
        peak=cited.peak,
        setting=cited_setting(result),
        made=cited_conditions(result),
        source_title=result.source.title,
        source_url=result.source.url,
        url=result_address(result),
    )


def _measured_points(catalogue: PublicCatalogue, of: str) -> Iterator[tuple[int, SharePoint]]:
    best: dict[int, SharePoint] = {}
    for measured in measured_bests():
        accelerator = catalogue.by_pk.get(measured.accelerator_id)
        point = _measured_point(catalogue, accelerator, measured, of) if accelerator else None
        if accelerator and point and point.share <= 1:
            current = best.get(accelerator.pk)
            if current is None or current.share < point.share:
                best[accelerator.pk] = point
    yield from best.items()


def _measured_point(
    catalogue: PublicCatalogue, accelerator: Accelerator, measured: MeasuredBest, of: str
) -> SharePoint | None:
    operation = measured.operation
    if of == BANDWIDTH and operation.operator == BYTES:
        peak = bandwidth_of(catalogue, accelerator)
    elif operation.operator == GEMM and operation.dtype == of:
        peak = peak_of(catalogue, accelerator, of)
    else:
        return None
    if peak is None:
        return None
    return SharePoint(
        kind=MEASURED,
        share=operation.rate / peak.amount,
        rate=operation.rate,
        peak=peak,
        setting=measured.setting,
        made=measured.made,
        source_title=measured.machine,
        source_url=measured.url,
        url=measured.url,
    )


def of_words(of: str) -> str:
    """`memory bandwidth`, `bf16 peak rate`"""
    return _("memory bandwidth") if of == BANDWIDTH else _("%(dtype)s peak rate") % {"dtype": of}


def share_notes(rows: Sequence[ShareRow], of: str) -> Iterator[str]:
    """What a reader must know: who is missing, and why."""
    vendors = {row.accelerator.vendor.slug for row in rows}
    if "apple" not in vendors and of != BANDWIDTH:
        yield _("Apple: no result in %(dtype)s is known, or Apple publishes no peak of it; fp32 and the memory "
                "bandwidth have both.") % {"dtype": of}  # fmt: skip
    if of == "fp32":
        yield _(
            "Results of mlx-benchmark are of oblong matrices that the memory bandwidth bounds in part: the share of "
            "their roof is in the roofline."
        )


def share_sentences(rows: Sequence[ShareRow]) -> Iterator[str]:
    """The first of each vendor in words."""
    seen: set[str] = set()
    for row in rows:
        if row.accelerator.vendor.slug in seen:
            continue
        seen.add(row.accelerator.vendor.slug)
        words = _("%(vendor)s: %(name)s reaches most, %(share)s (%(rate)s of %(peak)s).")
        yield words % {
            "vendor": row.accelerator.vendor.name,
            "name": row.accelerator.name,
            "share": row.best.share_text,
            "rate": row.best.rate_text,
            "peak": row.best.peak.text,
        }
