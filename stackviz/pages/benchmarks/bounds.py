"""What bounds a cited result: a published peak, for decoding divided by the bytes of the weights."""

from dataclasses import dataclass

from stackviz.base.units import quantity_label, unit
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.bounds import case_bound
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import share_of_bound
from stackviz.records.cited.registry import CITED_BENCHMARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedBound:
    """The most that one device could reach. `amount`: in the result's base unit; `share`: of it that was reached.

    `field`: title of the published value; `peak`: that value; `divisor`: what it is divided by, "" for nothing.
    """

    amount: float
    share: float
    field: str
    peak: str
    divisor: str = ""

    @property
    def formula(self) -> str:
        return f"{self.peak} ÷ {self.divisor}" if self.divisor else self.peak


def reached_bound(result: CitedResult) -> ReachedBound | None:
    """The bound of a result with a sheet; None where nothing published bounds it, or not by what it says."""
    bound = share_of_bound(result)
    if bound is None:
        return None
    field = FIELDS[bound.field]
    title, peak = field.words[0], quantity_label(bound.peak, unit(field.unit).si)
    reached = result.amount_per_device
    if bound.share:
        return ReachedBound(amount=reached / bound.share, share=bound.share, field=title, peak=peak)
    by_case = case_bound(CITED_BENCHMARKS[result.benchmark], result.params)
    if by_case is None:
        return None
    most = by_case.most(bound.peak)
    divisor = quantity_label(by_case.divisor, "B", binary=True, digits=3)
    return ReachedBound(amount=most, share=reached / most, field=title, peak=peak, divisor=divisor)
