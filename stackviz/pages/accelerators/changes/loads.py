"""Loads of curated files in the log: one line each, with the counts of what it did."""

from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from stackviz.pages.accelerators.changes.entry import (
    CITED,
    PER_PAGE,
    Entry,
    Line,
    LogFilter,
    LogPosition,
    counted_words,
)
from stackviz.pages.accelerators.changes.steps import (
    BY_LOADER,
    CATALOGUE_KINDS,
    CITED_LOAD_RANK,
    CITED_RANK,
    LOAD_RANK,
    RecordKind,
    comes_after,
    in_load,
    matching_rows,
)
from stackviz.records.catalog.models import CatalogueLoad
from stackviz.records.cited.models import CitedLoad


def load_lines(before: LogPosition | None, chosen: LogFilter) -> tuple[list[Line], LogPosition | None]:
    """Loads that changed something public -> (their lines, where older loads may begin). Five queries."""
    loads = _loads(before)
    shown = loads[:PER_PAGE]
    by_rank = {kind.rank: _counts(kind, shown, chosen) for kind in CATALOGUE_KINDS}
    lines = []
    for index, (load, _earlier) in enumerate(shown):
        counted = [(rank, what, n) for rank, counts in by_rank.items() for what, n in counts[index].items() if n]
        if counted:
            position = LogPosition(load.loaded_at, LOAD_RANK, load.pk)
            lines.append(Line(position, position, ("load", load.pk), LOAD_RANK, _load_entry(load, counted)))
    last = shown[-1][0] if len(loads) > PER_PAGE else None
    return lines, LogPosition(last.loaded_at, LOAD_RANK, last.pk) if last else None


def _loads(before: LogPosition | None) -> list[tuple[CatalogueLoad, datetime | None]]:
    """The loads that can appear on the page, newest first, each with the time of the one before it. One query."""
    rows = CatalogueLoad.objects.order_by("-loaded_at", "-pk")
    if before is not None:
        rows = rows.filter(comes_after(before, rank=LOAD_RANK, when="loaded_at", pk="pk"))
    newest = list(rows[: PER_PAGE + 2])
    earlier = [load.loaded_at for load in newest[1:]]
    return [
        (load, earlier[index] if index < len(earlier) else None) for index, load in enumerate(newest[: PER_PAGE + 1])
    ]


def _counts(
    kind: RecordKind, loads: Sequence[tuple[CatalogueLoad, datetime | None]], chosen: LogFilter
) -> list[dict[str, int]]:
    """For each load: type of record -> how many of them the public may see. One query."""
    if not loads:
        return []
    windows = [in_load(load, earlier) for load, earlier in loads]
    any_window = reduce(or_, windows)
    rows = kind.is_shown(matching_rows(kind.history.filter(BY_LOADER & any_window), kind, chosen))
    sums = {
        f"n{index}{name}": Count("history_id", filter=window & Q(history_type=sign))
        for index, window in enumerate(windows)
        for name, sign in (("added", "+"), ("changed", "~"), ("removed", "-"))
    }
    counts = rows.aggregate(**sums)
    return [
        {name: counts[f"n{index}{name}"] for name in ("added", "changed", "removed")} for index in range(len(windows))
    ]


def _load_entry(load: CatalogueLoad, counted: Sequence[tuple[int, str, int]]) -> Entry:
    return Entry(
        key=f"load-{load.pk}",
        when=load.loaded_at,
        who=_("the catalogue's files"),
        what="loaded",
        reason=_("version %(version)s") % {"version": load.version[:12]},
        count=sum(n for _rank, _what, n in counted),
        counts=tuple(counted_words(*line) for line in counted),
        load=load.pk,
    )


def cited_load_lines(before: LogPosition | None, chosen: LogFilter) -> tuple[list[Line], LogPosition | None]:
    """Loads of the files of cited results that changed results -> (their lines, where older ones may begin). One query.

    Their counts are of the whole load, so that a part of the catalogue has none.
    """
    if chosen.accelerator or chosen.vendor or chosen.field not in ("", CITED):
        return [], None
    rows = CitedLoad.objects.exclude(counts={}).order_by("-loaded_at", "-pk")
    if before is not None:
        rows = rows.filter(comes_after(before, rank=CITED_LOAD_RANK, when="loaded_at", pk="pk"))
    loads = list(rows[: PER_PAGE + 1])
    positions = [LogPosition(load.loaded_at, CITED_LOAD_RANK, load.pk) for load in loads]
    lines = [
        Line(position, position, ("cited load", load.pk), CITED_LOAD_RANK, _cited_load_entry(load))
        for load, position in zip(loads[:PER_PAGE], positions, strict=False)
    ]
    return lines, positions[PER_PAGE - 1] if len(loads) > PER_PAGE else None


def _cited_load_entry(load: CitedLoad) -> Entry:
    return Entry(
        key=f"cited-load-{load.pk}",
        when=load.loaded_at,
        who=_("the files of cited results"),
        what="loaded",
        title=_("The files of cited results were loaded"),
        reason=_("version %(version)s") % {"version": load.version[:12]},
        count=sum(load.counts.values()),
        counts=tuple(counted_words(CITED_RANK, what, n) for what, n in load.counts.items()),
    )
