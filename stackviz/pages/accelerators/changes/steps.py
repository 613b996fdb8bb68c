"""Single steps of the log: records of the histories that the public may see, each with the record before it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, Max, Model, OuterRef, Q, QuerySet, Subquery

from stackviz.pages.accelerators.changes.entry import CITED, NAMES, PRICES, SHEETS, LogFilter, LogPosition
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueLoad, SpecValue
from stackviz.records.cited.models import CitedResult
from stackviz.records.curated.change import LOADED
from stackviz.records.prices.price import Price

READ = 400  # records of each kind read for a page; the rest is on the next page
# Of records of one moment, as LogPosition orders them.
VALUE_RANK, NAME_RANK, SHEET_RANK, LOAD_RANK, CITED_RANK, CITED_LOAD_RANK, PRICE_RANK = range(7)
BY_LOADER = Q(history_user__isnull=True, history_change_reason__startswith=LOADED)


@dataclass(frozen=True, slots=True)
class LogStep:
    """One record of a history with the one before it (None: the row was made), read for one page."""

    position: LogPosition
    record: Any
    before: Any

    @property
    def cause(self) -> tuple[object, ...]:
        return self.record.history_user_id, self.record.history_change_reason or ""

    @property
    def accelerator_id(self) -> int | None:
        """None for a cited result without a certain sheet."""
        pk: int | None = self.record.id if self.position.rank == SHEET_RANK else self.record.accelerator_id
        return pk


@dataclass(frozen=True, slots=True)
class RecordKind:
    """One of the histories: its model, and a filter for the records to show."""

    rank: int
    model: type[Model]
    related: tuple[str, ...]
    is_shown: Callable[["QuerySet[Any]"], "QuerySet[Any]"]

    @property
    def history(self) -> Any:  # noqa: ANN401 - simple_history makes the class while running
        return self.model.history  # type: ignore[attr-defined]


def _before(model: type[Model], name: str) -> Subquery:
    """A column of the record before, of the same row."""
    history: Any = model.history  # type: ignore[attr-defined]
    earlier = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id")).order_by("-history_id")
    return Subquery(earlier.values(name)[:1])


def _public_values(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    return _once_public(rows, SpecValue)


def _public_prices(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    return _once_public(rows, Price)


def _once_public(rows: "QuerySet[Any]", model: type[SpecValue] | type[Price]) -> "QuerySet[Any]":
    """Steps of what was public before or after them."""
    public = model.Status.PUBLIC
    rows = rows.annotate(status_before=_before(model, "status"))
    return _of_public_sheets(rows.filter(Q(status=public) | Q(status_before=public)))


def _printed_names(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Names with a source. One without may come from a private lab: it is matched by, and never shown."""
    rows = rows.annotate(source_before=_before(Alias, "source_id"))
    return _of_public_sheets(rows.filter(Q(source__isnull=False) | Q(source_before__isnull=False)))


def _cited_results(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Results of any state, since all have a page; also those without a certain sheet."""
    return _of_public_sheets(rows, or_of_none=Q(accelerator_id__isnull=True))


def _of_public_sheets(rows: "QuerySet[Any]", or_of_none: Q | None = None) -> "QuerySet[Any]":
    """Steps on sheets that were public at the time and still are, or were until they were removed."""
    history: Any = Accelerator.history
    of_sheet = history.filter(id=OuterRef("accelerator_id"))
    then = of_sheet.filter(history_date__lte=OuterRef("history_date")).order_by("-history_date", "-history_id")
    # Not by a join: filtered by accelerator it would be an inner one, and lose what was removed.
    is_public = Exists(Accelerator.objects.filter(pk=OuterRef("accelerator_id"), is_public=True))
    is_there = is_public | Exists(of_sheet.filter(history_type="-", is_public=True))
    rows = rows.annotate(sheet_was_public=Subquery(then.values("is_public")[:1]))
    is_shown = is_there & ~Q(sheet_was_public=False)
    return rows.filter(is_shown if or_of_none is None else is_shown | or_of_none)


def _public_sheets(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    rows = rows.annotate(public_before=_before(Accelerator, "is_public"))
    return rows.filter(Q(is_public=True) | Q(public_before=True))


def matching_rows(rows: "QuerySet[Any]", kind: RecordKind, chosen: LogFilter) -> "QuerySet[Any]":
    """The records of one history that the filters let through."""
    row_of = "id" if kind.model is Accelerator else "accelerator_id"
    history: Any = Accelerator.history
    if chosen.accelerator:
        same = Accelerator.objects.filter(slug=chosen.accelerator).values("pk")
        was = history.filter(slug=chosen.accelerator).values("id")
        rows = rows.filter(Q(**{f"{row_of}__in": same}) | Q(**{f"{row_of}__in": was}))
    if chosen.vendor:
        now = Accelerator.objects.filter(vendor__slug=chosen.vendor).values("pk")
        was = history.filter(vendor__slug=chosen.vendor).values("id")
        rows = rows.filter(Q(**{f"{row_of}__in": now}) | Q(**{f"{row_of}__in": was}))
    if chosen.field and kind.model is SpecValue:
        return rows.filter(field=chosen.field)
    only = {SHEETS: Accelerator, NAMES: Alias, PRICES: Price, CITED: CitedResult}.get(chosen.field, SpecValue)
    return rows if not chosen.field or kind.model is only else rows.none()


CATALOGUE_KINDS = (
    RecordKind(VALUE_RANK, SpecValue, ("source", "checked_by"), _public_values),
    RecordKind(NAME_RANK, Alias, ("source",), _printed_names),
    RecordKind(SHEET_RANK, Accelerator, ("vendor",), _public_sheets),
    RecordKind(PRICE_RANK, Price, ("source", "checked_by"), _public_prices),
)
CITED_KIND = RecordKind(CITED_RANK, CitedResult, ("source",), _cited_results)


def comes_after(position: LogPosition, *, rank: int, when: str = "history_date", pk: str = "history_id") -> Q:
    """Rows of the history with this rank that come after the place: older, or of the same moment and further down."""
    older = Q(**{f"{when}__lt": position.when})
    if rank > position.rank:
        return older | Q(**{when: position.when})
    if rank == position.rank:
        return older | Q(**{when: position.when, f"{pk}__lt": position.pk})
    return older


def read_steps(
    kind: RecordKind, before: LogPosition | None, chosen: LogFilter
) -> tuple[list[LogStep], LogPosition | None]:
    """The next READ records of one history with those before them -> (steps, where older ones begin). Two queries."""
    rows = kind.history.order_by("-history_date", "-history_id")
    if before is not None:
        rows = rows.filter(comes_after(before, rank=kind.rank))
    rows = rows.exclude(BY_LOADER) if chosen.load is None else rows.filter(BY_LOADER & _window_of(chosen.load))
    rows = kind.is_shown(matching_rows(rows, kind, chosen)).annotate(before_id=_before(kind.model, "history_id"))
    records = list(rows.select_related("history_user", *kind.related)[:READ])
    ids = [record.before_id for record in records if record.before_id]
    befores = kind.history.select_related(*kind.related).in_bulk(ids)
    steps = [
        LogStep(LogPosition(record.history_date, kind.rank, record.history_id), record, befores.get(record.before_id))
        for record in records
    ]
    return steps, steps[-1].position if len(steps) == READ else None


def _window_of(load_pk: int) -> Q:
    load = CatalogueLoad.objects.filter(pk=load_pk).first()
    if load is None:
        return Q(pk__in=[])
    earlier = CatalogueLoad.objects.filter(loaded_at__lt=load.loaded_at).aggregate(last=Max("loaded_at"))["last"]
    return in_load(load, earlier)


def in_load(load: CatalogueLoad, load_before: datetime | None) -> Q:
    """Records since the load before, None: there is none. With BY_LOADER they are this load's, as loads take turns."""
    until = Q(history_date__lte=load.loaded_at)
    return until if load_before is None else until & Q(history_date__gt=load_before)
