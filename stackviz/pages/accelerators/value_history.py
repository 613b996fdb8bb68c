"""What happened to each figure of a sheet since it was first in public, as the public saw it: who, when, why, what.

States that were not public (draft, unreviewed, retired) are never shown.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from stackviz.base.units import unit_label
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.people import public_name
from stackviz.records.curated.change import LOADED

MOST_STEPS = 12  # of one figure; the change log has them all

Slot = tuple[str, str]  # field, condition
ValueStep = tuple[datetime, str, str, str, str]
Change = tuple[Any, str, str]  # historical record, the figure before it, the figure after it
# What is read of a record; an instance for each would cost more than the query.
_RECORDED = (
    "id", "history_id", "history_date", "history_type", "history_change_reason", "history_user_id",
    "field", "condition", "value", "unit", "status", "is_preferred", "note", "source_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class History:
    """Of one field under one condition: since when it is in public, and what changed since, newest first.

    A step is (when, by whom, from what, to what, why); from "" is added, to "" removed.
    """

    since: datetime
    steps: tuple[ValueStep, ...]
    left_out: int


def value_histories(accelerator_id: int, until: datetime | None = None) -> dict[Slot, History]:
    """The history of every figure that an accelerator has or had in public, up to a moment. Two queries."""
    records = SpecValue.history.filter(accelerator_id=accelerator_id)
    if until is not None:
        records = records.filter(history_date__lte=until)
    rows = list(records.order_by("id", "history_date", "history_id").values_list(*_RECORDED, named=True))
    people = get_user_model().objects.in_bulk({row.history_user_id for row in rows if row.history_user_id})
    by_row: dict[int, list[Any]] = defaultdict(list)
    for record in rows:
        by_row[record.id].append(record)
    first: dict[Slot, datetime] = {}
    steps: dict[Slot, list[ValueStep]] = defaultdict(list)
    for row in by_row.values():
        for slot, change in _visible_changes(row):
            record, old, _new = change
            first[slot] = min(record.history_date, first.get(slot, record.history_date))
            if old or not _is_load(record):
                steps[slot].append(_step(change, people))
    return {slot: _history(since, steps[slot]) for slot, since in first.items()}


def _history(since: datetime, steps: list[ValueStep]) -> History:
    newest = sorted(steps, key=itemgetter(0), reverse=True)
    return History(since, tuple(newest[:MOST_STEPS]), max(0, len(newest) - MOST_STEPS))


def _visible_changes(records: list[Any]) -> Iterator[tuple[Slot, Change]]:
    """Compare each record of a row with the one before it; changes the public did not see are left out."""
    before: Any = None
    for record in records:
        after = record if record.history_type != "-" and record.status == SpecValue.Status.PUBLIC else None
        old, new = _printed(before, after), _printed(after, before)
        if old != new:
            shown = after or before
            yield (shown.field, shown.condition), (record, old, new)
        before = after


def _is_load(record: Any) -> bool:  # noqa: ANN401 - a historical SpecValue, a class made while running
    return bool((record.history_change_reason or "").startswith(LOADED))


def _step(change: Change, people: Mapping[int, Any]) -> ValueStep:
    """The change as it is shown, without the reason of a load: who did it says as much."""
    record, old, new = change
    reason = "" if _is_load(record) else record.history_change_reason or ""
    return record.history_date, _who(record, people), old, new, reason


def _printed(record: Any, other: Any) -> str:  # noqa: ANN401
    """The figure, followed by what else differs from `other`; "" for no record."""
    if record is None:
        return ""
    beside = []
    if other is not None and record.condition != other.condition:
        beside.append(describe_condition(record.condition) or _("no condition"))
    if other is not None and record.is_preferred != other.is_preferred:
        beside.append(_("preferred") if record.is_preferred else _("an alternative"))
    if other is not None and record.note != other.note:
        beside.append(_("note: %(note)s") % {"note": record.note or _("none")})
    if other is not None and record.source_id != other.source_id:
        beside.append(
            _("from another source") if record.history_id > other.history_id else _("from its source at that time")
        )
    figure = f"{record.value} {unit_label(record.unit)}".rstrip()
    return f"{figure} ({'; '.join(beside)})" if beside else figure


def _who(record: Any, people: Mapping[int, Any]) -> str:  # noqa: ANN401
    if record.history_user_id in people:
        return public_name(people[record.history_user_id])
    if _is_load(record):
        return _("the catalogue's files")
    return _("not recorded")
