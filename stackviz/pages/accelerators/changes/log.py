"""A page of the log: steps and loads in one order, with bulk changes grouped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from stackviz.pages.accelerators.changes.describe import tell
from stackviz.pages.accelerators.changes.describe_cited import tell_cited, tell_price
from stackviz.pages.accelerators.changes.entry import PER_PAGE, Entry, Line, Log, LogFilter, LogPosition, counted_words
from stackviz.pages.accelerators.changes.loads import cited_load_lines, load_lines
from stackviz.pages.accelerators.changes.steps import (
    CATALOGUE_KINDS,
    CITED_KIND,
    CITED_RANK,
    PRICE_RANK,
    LogStep,
    read_steps,
)
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult

BULK = 8  # this many steps or more, made together for one reason, are grouped
AT_ONCE = timedelta(seconds=10)  # from one of them to the next
MOST_NAMED = 5  # accelerators named in an entry about many
_TELLING = {CITED_RANK: tell_cited, PRICE_RANK: tell_price}  # all other steps: `tell`


def read_log(chosen: LogFilter, before: LogPosition | None = None, length: int = PER_PAGE) -> Log:
    """The newest `length` entries of the chosen part, older than `before`. Constant queries, whatever the history."""
    kinds = CATALOGUE_KINDS if chosen.load is not None else (*CATALOGUE_KINDS, CITED_KIND)
    read = [read_steps(kind, before, chosen) for kind in kinds]
    loads, older_loads = ([], None) if chosen.load is not None else load_lines(before, chosen)
    cited_loads, older_cited = ([], None) if chosen.load is not None else cited_load_lines(before, chosen)
    ends = [end for end in (older_loads, older_cited, *(older for _steps, older in read)) if end is not None]
    horizon = max(ends, key=_order, default=None)
    lines = sorted(
        [*_public_lines([step for steps, _older in read for step in steps]), *loads, *cited_loads],
        key=_line_order,
        reverse=True,
    )
    if horizon is not None:  # lines beyond it may be incomplete: they belong to the next page
        lines = [line for line in lines if _order(line.position) >= _order(horizon)]
    if chosen.load is None and not chosen.each:
        lines = _grouped_lines(lines)
        if horizon is not None and lines and lines[-1].last == horizon and lines[-1].entry.counts:
            last = lines[-1]  # it goes on beyond what was read
            counts = (*last.entry.counts, _("continued on the next page"))
            lines[-1] = replace(last, entry=replace(last.entry, counts=counts))
    shown = lines[:length]
    return Log(tuple(line.entry for line in shown), shown[-1].last if len(lines) > length else horizon)


def _order(position: LogPosition) -> tuple[datetime, int, int]:
    """Sort key: newest first in descending order; within one moment the lower rank first."""
    return position.when, -position.rank, position.pk


def _line_order(line: Line) -> tuple[datetime, int, int]:
    return _order(line.position)


def _public_lines(steps: Sequence[LogStep]) -> list[Line]:
    """The steps with what the public may read; steps without a public change are left out. Three queries."""
    whose = {step.accelerator_id for step in steps if step.accelerator_id is not None}
    sheets = Accelerator.objects.in_bulk(whose)
    history: Any = Accelerator.history
    names = dict(history.filter(id__in=whose - sheets.keys(), history_type="-").values_list("id", "name"))
    cited = {step.record.id for step in steps if step.position.rank == CITED_RANK}
    with_page = set(CitedResult.objects.filter(pk__in=cited).values_list("pk", flat=True))
    lines = []
    for step in steps:
        is_cited = step.position.rank == CITED_RANK
        entry = _TELLING.get(step.position.rank, tell)(step)
        if entry is not None:
            whose_pk = step.accelerator_id or 0
            sheet = sheets.get(whose_pk)
            entry = replace(
                entry,
                accelerator=entry.accelerator or (sheet.name if sheet else names.get(whose_pk, "")),
                slug=sheet.slug if sheet and sheet.is_public else "",
                url=entry.url if is_cited and step.record.id in with_page else "",
            )
            lines.append(Line(step.position, step.position, step.cause, step.position.rank, entry))
    return lines


def _grouped_lines(lines: Sequence[Line]) -> list[Line]:
    """Group runs of BULK or more lines with the same cause, each within AT_ONCE of the next."""
    grouped: list[Line] = []
    run: list[Line] = []
    for line in lines:
        if run and (run[-1].cause != line.cause or run[-1].position.when - line.position.when > AT_ONCE):
            grouped += _grouped(run)
            run = []
        run.append(line)
    return grouped + _grouped(run)


def _grouped(run: list[Line]) -> list[Line]:
    if len(run) < BULK:
        return run
    counted = Counter((line.rank, line.entry.what) for line in run)
    whose = list(dict.fromkeys(line.entry.accelerator for line in run if line.entry.accelerator))
    more = _(" and %(n)s more") % {"n": f"{len(whose) - MOST_NAMED:,}"} if len(whose) > MOST_NAMED else ""
    first = run[0].entry
    entry = Entry(
        key=first.key,
        when=first.when,
        who=first.who,
        what="many",
        accelerator=", ".join(whose[:MOST_NAMED]) + more,
        slug=first.slug if len(whose) == 1 else "",
        reason=first.reason,
        count=len(run),
        counts=tuple(counted_words(rank, what, n) for (rank, what), n in sorted(counted.items())),
    )
    return [Line(run[0].position, run[-1].last, run[0].cause, run[0].rank, entry)]
