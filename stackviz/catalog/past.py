"""The public catalogue as of a moment, rebuilt from the history of its rows; nothing extra is stored.

Accelerators, values and names are as they were. Sources and vendors are current: a moved address is more useful than a
dead one. A value whose source was deleted is left out, because it cannot be traced.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery

from stackviz.catalog.models import Accelerator, Alias, Source, SpecValue, Vendor


def public_values_at(accelerator_ids: Iterable[int], at: datetime) -> list[SpecValue]:
    """The content of these accelerators' sheets at the moment: preferred values and alternatives, sources loaded.

    The rows are as they were then, with the id they had, and are not to be saved. Of an accelerator that was not public
    then there are none. In the order of SpecValue. Three queries.
    """
    ids = public_accelerators_at(accelerator_ids, at, with_vendors=False).keys()
    rows: list[SpecValue] = _rows_at(SpecValue, at, accelerator_id__in=ids, status=SpecValue.Status.PUBLIC)
    rows.sort(key=lambda row: (row.accelerator_id, row.field, row.condition, not row.is_preferred, row.pk))
    return _with_sources(rows)


def names_at(accelerator_id: int, at: datetime) -> list[Alias]:
    """The names an accelerator had at the moment, by kind and name, sources loaded. Two queries."""
    rows: list[Alias] = _rows_at(Alias, at, accelerator_id=accelerator_id)
    rows.sort(key=lambda row: (row.kind, row.name, row.pk))
    return _with_sources(rows)


def public_accelerators_at(
    accelerator_ids: Iterable[int], at: datetime, *, with_vendors: bool = True
) -> dict[int, Accelerator]:
    """Those of these accelerators that anybody could see at the moment, as they were, by id. Two queries, or one."""
    rows: list[Accelerator] = _rows_at(Accelerator, at, id__in=set(accelerator_ids), is_public=True)
    if with_vendors:
        vendors = Vendor.objects.in_bulk({row.vendor_id for row in rows})
        rows = [row for row in rows if row.vendor_id in vendors]
        for row in rows:
            row.vendor = vendors[row.vendor_id]
    return {row.pk: row for row in rows}


def _rows_at(model: Any, at: datetime, **then: Any) -> list[Any]:  # noqa: ANN401 - the history's classes are made at run time
    """The rows of a model that were there at the moment and were as `then` says: the last record of each says so."""
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
