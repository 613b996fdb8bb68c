"""The published ceilings of an accelerator: memory bandwidth, and the dense peak of a data type. With their sources."""

from dataclasses import dataclass

from stackviz.base.units import quantity_label, unit
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import base_condition
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, RATE_FIELDS
from stackviz.web.templatetags.web import joined


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A value of a spec sheet that bounds a rate: `amount` in the base unit `si`; `basis` as the catalogue has it."""

    field: str
    title: str
    amount: float
    si: str
    text: str
    condition: str
    basis: str
    source_title: str
    source_url: str

    @property
    def is_published(self) -> bool:
        return self.basis == SpecValue.Basis.PUBLISHED

    @property
    def remark(self) -> str:
        """`dense, accumulate fp32 · derived`"""
        basis = "" if self.is_published else str(SpecValue.Basis(self.basis).label)
        return joined([describe_condition(self.condition), basis])


def bandwidth_of(catalogue: PublicCatalogue, accelerator: Accelerator) -> Ceiling | None:
    return _first(catalogue, accelerator, MEMORY_BANDWIDTH)


def peak_of(catalogue: PublicCatalogue, accelerator: Accelerator, dtype: str) -> Ceiling | None:
    """The peak of a data type under the first of its field's usual conditions; None where nobody publishes one."""
    return _first(catalogue, accelerator, RATE_FIELDS[dtype])


def ceiling_under(catalogue: PublicCatalogue, accelerator: Accelerator, field: str, condition: str) -> Ceiling | None:
    """The value of a field under exactly this condition."""
    values = [value for value in catalogue.preferred(accelerator.pk, field) if value.amount]
    return next((_ceiling(value) for value in values if value.condition == condition), None)


def _first(catalogue: PublicCatalogue, accelerator: Accelerator, fields: tuple[str, ...]) -> Ceiling | None:
    for field in fields:
        values = catalogue.preferred(accelerator.pk, field)
        for condition in FIELDS[field].usual:
            under = [value for value in values if value.amount and base_condition(value) == condition]
            if under:
                return _ceiling(under[-1])  # of variants the largest
    return None


def _ceiling(value: SpecValue) -> Ceiling:
    si = unit(value.unit).si
    return Ceiling(
        field=value.field,
        title=FIELDS[value.field].words[0],
        amount=value.amount or 0.0,
        si=si,
        text=quantity_label(value.amount or 0.0, si),
        condition=value.condition,
        basis=str(value.basis),
        source_title=value.source.title if value.source else "",
        source_url=value.source.url if value.source else "",
    )
