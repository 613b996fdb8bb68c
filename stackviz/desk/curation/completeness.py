"""Catalogue completeness: for each accelerator and field what is published, by how many sources, checked when.

Two queries however many accelerators there are; all else is counted here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.models import Accelerator, SpecValue

OLD = timedelta(days=2 * 365)  # after this time the vendor may have corrected the value

# Names are aliases, and the vendor is the accelerator's own: neither is a value that could be missing.
NOT_COUNTED = frozenset({"vendor", "nvml_name", "reported_name"})
COUNTED: tuple[Field, ...] = tuple(
    sorted(
        (field for field in FIELDS.values() if field.name not in NOT_COUNTED), key=lambda field: not field.is_headline
    )
)

STATES: dict[str, str | Promise] = {
    "sound": _("two sources or more"),
    "one-source": _("one source only"),
    "old": _("not checked for two years"),
    "unreviewed": _("unreviewed only"),
    "missing": _("missing"),
    "not-applicable": _("does not apply"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """One field of one accelerator. `values`: public ones, `sources`: different ones of these, `waiting`: not public.

    `checked`: when one of the public values was last checked, or else loaded or changed; None where there is none.
    """

    field: str
    is_applicable: bool
    values: int = 0
    sources: int = 0
    waiting: int = 0
    checked: datetime | None = None
    is_old: bool = False

    @property
    def state(self) -> str:
        """The worst state that applies, one of STATES."""
        if self.values:
            return "old" if self.is_old else "one-source" if self.sources == 1 else "sound"
        if self.waiting:
            return "unreviewed"
        return "missing" if self.is_applicable else "not-applicable"

    @property
    def has_one_source(self) -> bool:
        return self.values > 0 and self.sources == 1


@dataclass(frozen=True, slots=True)
class MatrixAccelerator:
    """One accelerator with a cell for each of the matrix's fields, in their order."""

    accelerator: Accelerator
    cells: tuple[MatrixCell, ...]

    @property
    def tally(self) -> "Tally":
        return tally(self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Totals of a row or column of the matrix. `values` and `waiting` count values, the others count cells."""

    values: int
    waiting: int
    applicable: int
    present: int
    missing: int
    one_source: int
    old: int
    unreviewed: int

    @property
    def share(self) -> str:
        """`7/8`: cells with a public value, of those that apply."""
        return f"{self.present:,}/{self.applicable:,}"


@dataclass(frozen=True, slots=True)
class Matrix:
    fields: tuple[Field, ...]
    devices: tuple[MatrixAccelerator, ...]

    def columns(self) -> tuple[Tally, ...]:
        """The tally of each field, in their order."""
        return tuple(tally(device.cells[index] for device in self.devices) for index in range(len(self.fields)))

    def total(self) -> Tally:
        return tally(cell for device in self.devices for cell in device.cells)


def tally(cells: Iterable[MatrixCell]) -> Tally:
    cells = tuple(cells)
    states = Counter(cell.state for cell in cells)
    present = sum(1 for cell in cells if cell.values)
    return Tally(
        values=sum(cell.values for cell in cells),
        waiting=sum(cell.waiting for cell in cells),
        applicable=sum(1 for cell in cells if cell.is_applicable or cell.values or cell.waiting),
        present=present,
        missing=states["missing"],
        one_source=sum(1 for cell in cells if cell.has_one_source),
        old=states["old"],
        unreviewed=states["unreviewed"],
    )


def read_matrix(accelerators: QuerySet[Accelerator], fields: Sequence[Field], now: datetime) -> Matrix:
    """The cells of these accelerators and fields, rows in the order given. Two queries."""
    rows = list(accelerators.select_related("vendor"))
    counted = _counted(accelerators, fields)

    def cell(accelerator: Accelerator, field: Field) -> MatrixCell:
        applies = field.applies_to(accelerator.vendor.slug, accelerator.kind)
        counts = counted.get((accelerator.pk, field.name))
        if counts is None:
            return MatrixCell(field=field.name, is_applicable=applies)
        checked = counts["checked"]
        is_old = checked is not None and now - checked > OLD
        return MatrixCell(
            field=field.name,
            is_applicable=applies,
            values=counts["values"],
            sources=counts["sources"],
            waiting=counts["waiting"],
            checked=checked,
            is_old=is_old,
        )

    devices = tuple(MatrixAccelerator(row, tuple(cell(row, field) for field in fields)) for row in rows)
    return Matrix(tuple(fields), devices)


def _counted(accelerators: QuerySet[Accelerator], fields: Sequence[Field]) -> dict[tuple[int, str], dict[str, Any]]:
    """(accelerator, field) -> values, sources, waiting, checked. One query."""
    public = Q(status=SpecValue.Status.PUBLIC)
    waiting = Q(status__in=[SpecValue.Status.UNREVIEWED, SpecValue.Status.DRAFT])
    of_these = SpecValue.objects.filter(
        accelerator__in=accelerators.order_by().values("pk"), field__in=[field.name for field in fields]
    )
    rows: Iterable[Any] = (
        of_these.order_by()
        .values("accelerator_id", "field")
        .annotate(
            values=Count("pk", filter=public),
            sources=Count("source", filter=public, distinct=True),
            waiting=Count("pk", filter=waiting),
            checked=Max(Coalesce("checked_at", "changed_at"), filter=public),
        )
    )
    return {(row["accelerator_id"], row["field"]): row for row in rows}


# --- the accelerators people ask for most ---


@dataclass(frozen=True, slots=True)
class Remaining:
    """Headline fields that one of the most requested accelerators still lacks."""

    accelerator: Accelerator
    missing: tuple[str, ...]
    unreviewed: tuple[str, ...]
    one_source: tuple[str, ...]
    old: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return not (self.missing or self.unreviewed or self.one_source or self.old)


def remaining(matrix: Matrix, slugs: Sequence[str]) -> tuple[Remaining, ...]:
    """What these accelerators lack among the headline fields, in the order of `slugs`; others are absent."""
    by_slug = {device.accelerator.slug: device for device in matrix.devices}
    return tuple(_remaining(by_slug[slug], matrix.fields) for slug in slugs if slug in by_slug)


def _remaining(device: MatrixAccelerator, fields: Sequence[Field]) -> Remaining:
    def titles(is_meant: Callable[[MatrixCell], bool]) -> tuple[str, ...]:
        pairs = zip(fields, device.cells, strict=True)
        return tuple(field.words[0] for field, cell in pairs if field.is_headline and is_meant(cell))

    return Remaining(
        accelerator=device.accelerator,
        missing=titles(lambda cell: cell.state == "missing"),
        unreviewed=titles(lambda cell: cell.state == "unreviewed"),
        one_source=titles(lambda cell: cell.has_one_source),
        old=titles(lambda cell: cell.is_old),
    )
