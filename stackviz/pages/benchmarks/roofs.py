"""The published ceilings of accelerators, with their sources, and the roofs they make: table rows, sentences, notes.

A ceiling is the memory bandwidth or the dense peak of a data type.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number, quantity_label, unit
from stackviz.draw.charts.roofline import Roof
from stackviz.draw.colours import Hue
from stackviz.pages.benchmarks.chart_page import short_label
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import base_condition
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, RATE_FIELDS
from stackviz.web.i18n.words import joined


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


# Drawn, with a word, where no peak of a chosen data type is published: the first of these that is.
FALLBACK_DTYPES = ("fp16", "fp32", "fp8", "int8", "fp4")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofRow:
    """One roof in the table. `dtype` "" and `peak` None: no peak is published; `bandwidth` None: no bandwidth is."""

    name: str
    slug: str
    css: str
    dtype: str
    bandwidth: Ceiling | None
    peak: Ceiling | None
    roof: Roof

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        """Those that are published, the peak first; at least one."""
        return tuple(ceiling for ceiling in (self.peak, self.bandwidth) if ceiling)

    @property
    def ridge_text(self) -> str:
        return format_number(self.roof.ridge) if self.roof.ridge else ""

    @property
    def dash(self) -> int:
        return self.roof.dash

    @property
    def sentence(self) -> str:
        if self.peak and self.bandwidth:
            words = _(
                "%(name)s: memory moves %(bandwidth)s; %(dtype)s reaches at most %(peak)s, from %(ridge)s FLOP/B on."
            )
        elif self.peak:
            words = _("%(name)s: %(dtype)s reaches at most %(peak)s.")
        else:
            words = _("%(name)s: memory moves %(bandwidth)s.")
        return words % {
            "name": self.name,
            "bandwidth": self.bandwidth.text if self.bandwidth else "",
            "dtype": self.dtype,
            "peak": self.peak.text if self.peak else "",
            "ridge": self.ridge_text,
        }


def roofs_of(
    catalogue: PublicCatalogue, accelerator: Accelerator, hue: Hue, dtypes: Sequence[str]
) -> Iterator[RoofRow]:
    """The roofs of the chosen data types; where none is published, that of the first of FALLBACK_DTYPES.

    A roof is one line alone where only the bandwidth or only a peak is published; none where neither is.
    """
    bandwidth = bandwidth_of(catalogue, accelerator)
    peaks = {dtype: peak_of(catalogue, accelerator, dtype) for dtype in (*dtypes, *FALLBACK_DTYPES)}
    shown = [dtype for dtype in dtypes if peaks[dtype]] or [dtype for dtype in FALLBACK_DTYPES if peaks[dtype]][:1]
    if not shown and bandwidth:
        shown = [""]
    for dtype in shown:
        peak = peaks.get(dtype)
        label = _roof_label(peaks, shown, dtype, bandwidth)
        yield RoofRow(
            name=accelerator.name,
            slug=accelerator.slug,
            css=hue.css,
            dtype=dtype,
            bandwidth=bandwidth,
            peak=peak,
            roof=Roof(
                key=f"{accelerator.slug} {dtype}",
                label=f"{short_label(accelerator)} {label}" if label else "",
                hue=hue,
                dash=dtypes.index(dtype) if dtype in dtypes else len(dtypes),
                bandwidth=bandwidth.amount if bandwidth else None,
                peak=peak.amount if peak else None,
            ),
        )


def _roof_label(
    peaks: Mapping[str, Ceiling | None], shown: Sequence[str], dtype: str, bandwidth: Ceiling | None
) -> str:
    """Return the label of a roof after the name: one for all types of one peak, at the first; "" at the others."""
    peak = peaks.get(dtype)
    if not peak:
        return bandwidth.text if bandwidth else ""
    equal = [other for other in shown if (rate := peaks[other]) and rate.amount == peak.amount]
    return f"{', '.join(equal)} {peak.text}" if equal[0] == dtype else ""


def roof_notes(accelerators: Sequence[Accelerator], rows: Sequence[RoofRow], dtypes: Sequence[str]) -> Iterator[str]:
    """What is not published of a roof, a sentence each."""
    for item in accelerators:
        of_item = [row for row in rows if row.slug == item.slug]
        shown = [row.dtype for row in of_item if row.peak]
        names = {"name": item.name, "shown": ", ".join(shown)}
        missing = [dtype for dtype in dtypes if dtype not in shown]
        if not of_item:
            yield _("%(name)s: neither a memory bandwidth nor a compute peak is published, so it has no roof.") % names
        elif not shown:
            yield _("%(name)s: no compute peak is published, so its roof is the memory bandwidth alone.") % names
        elif missing:
            words = _("%(name)s: no dense peak in %(missing)s is published; its roof is that of %(shown)s.")
            yield words % {**names, "missing": ", ".join(missing)}
        if shown and not of_item[0].bandwidth:
            yield _("%(name)s: no memory bandwidth is published, so its roof is the compute peak alone.") % names
