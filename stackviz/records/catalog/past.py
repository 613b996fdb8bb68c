"""The public catalogue as of a moment, rebuilt from the history of its rows; nothing extra is stored.

Accelerators, values and names are as they were. Sources and vendors are current: a moved address is more useful than a
dead one. A value whose source was deleted is left out, because it cannot be traced.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery

from stackviz.records.catalog.models import Accelerator, Alias, Price, Source, SpecValue, Vendor
from stackviz.records.catalog.queries import peaks_of
from stackviz.records.curated.change import own_reason
from stackviz.records.prices.price import newest_prices_first


def public_values_at(accelerator_ids: Iterable[int], at: datetime) -> list[SpecValue]:
    """The content of these accelerators' sheets at the moment: preferred values and alternatives, sources loaded.

    The rows are as they were then, with the id they had, and are not to be saved. Of an accelerator that was not public
    then there are none. In the order of SpecValue. Three queries.
    """
    ids = public_accelerators_at(accelerator_ids, at, with_vendors=False).keys()
    rows: list[SpecValue] = rows_at(SpecValue, at, accelerator_id__in=ids, status=SpecValue.Status.PUBLIC)
    rows.sort(key=lambda row: (row.accelerator_id, row.field, row.condition, not row.is_preferred, row.pk))
    return _with_sources(rows)


def withdrawn_since(accelerator_ids: Iterable[int], at: datetime) -> list[tuple[SpecValue, str]]:
    """The preferred values of these sheets at the moment that were retired since, each with the reason, "" for none.

    One query; three where there are any.
    """
    retired = SpecValue.objects.filter(accelerator_id__in=set(accelerator_ids), status=SpecValue.Status.RETIRED)
    ids = list(retired.values_list("pk", flat=True))
    if not ids:
        return []
    rows: list[SpecValue] = rows_at(SpecValue, at, id__in=ids, status=SpecValue.Status.PUBLIC, is_preferred=True)
    rows.sort(key=lambda row: (row.accelerator_id, row.field, row.condition, row.pk))
    records = SpecValue.history.filter(id__in=[row.pk for row in rows]).order_by("history_date", "history_id")
    reasons = dict(records.values_list("id", "history_change_reason"))
    return [(row, own_reason(reasons.get(row.pk))) for row in rows]


def peaks_at(accelerator_ids: Iterable[int], at: datetime) -> dict[tuple[int, str, str], float]:
    """`catalog.queries.peaks` as they were at the moment. Three queries; none without an accelerator."""
    ids = set(accelerator_ids)
    return peaks_of(value for value in public_values_at(ids, at) if value.is_preferred) if ids else {}


def names_at(accelerator_id: int, at: datetime) -> list[Alias]:
    """The names an accelerator had at the moment, by kind and name, sources loaded. Two queries."""
    rows: list[Alias] = rows_at(Alias, at, accelerator_id=accelerator_id)
    rows.sort(key=lambda row: (row.kind, row.name, row.pk))
    return _with_sources(rows)


def public_prices_at(accelerator_id: int, at: datetime) -> list[Price]:
    """The public prices that the sheet had at the moment, newest first, sources loaded. Two queries."""
    return public_prices_of_sheets_at([accelerator_id], at)[accelerator_id]


def public_prices_of_sheets_at(accelerator_ids: Iterable[int], at: datetime) -> dict[int, list[Price]]:
    """The same of several sheets, by accelerator. Two queries."""
    ids = set(accelerator_ids)
    rows: list[Price] = rows_at(Price, at, accelerator_id__in=ids, status=Price.Status.PUBLIC)
    newest_first = newest_prices_first(_with_sources(rows))
    return {pk: [row for row in newest_first if row.accelerator_id == pk] for pk in ids}


def public_accelerators_at(
    accelerator_ids: Iterable[int], at: datetime, *, with_vendors: bool = True
) -> dict[int, Accelerator]:
    """Those of these accelerators that anybody could see at the moment, as they were, by id. Two queries, or one."""
    rows: list[Accelerator] = rows_at(Accelerator, at, id__in=set(accelerator_ids), is_public=True)
    if with_vendors:
        vendors = Vendor.objects.in_bulk({row.vendor_id for row in rows})
        rows = [row for row in rows if row.vendor_id in vendors]
        for row in rows:
            row.vendor = vendors[row.vendor_id]
    return {row.pk: row for row in rows}


def rows_at(model: Any, at: datetime, **then: Any) -> list[Any]:  # noqa: ANN401 - the history's classes are made at run time
    """The rows of a model that were there at the moment and were as `then` says: the last record of each says so.

    They are not to be saved, and have the ids of other rows only. One query.
    """
    of_row = model.history.filter(id=OuterRef("id"), history_date__lte=at).order_by("-history_date", "-history_id")
    last = model.history.filter(history_id=Subquery(of_row.values("history_id")[:1]), **then)
    return [record.instance for record in last.exclude(history_type="-")]


def _with_sources(rows: list[Any]) -> list[Any]:
    """The rows with their sources as they are now; without those whose source is gone. One query."""
    sources = Source.objects.in_bulk({row.source_id for row in rows if row.source_id})
    sourced = [row for row in rows if row.source_id is None or row.source_id in sources]
    for row in sourced:
        row.source = sources.get(row.source_id)
    return sourced
