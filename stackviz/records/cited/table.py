"""An uploaded table of results of one benchmark: what it would change, and changing it.

A row refers to a stored result that says the same of the run: reported name, count, parameters, unit, software, date
and source. Where several do, rows are paired with equal figures first and then in order. Decisions of people stay: a
withdrawn result stays withdrawn, an accepted one public.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import UNITS
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.table_imports import (
    CHANGED,
    NEW,
    REFUSED,
    SAME,
    Difference,
    ImportPlan,
    PlannedRow,
    check_plan,
    locked_import,
    mark_confirmed,
    plan_of,
)
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.checks import TIME_ZONES
from stackviz.records.cited.doubts import REASONS
from stackviz.records.cited.files import HEADER, NEVER_MATCHED, CitedLine, LineError, LineReader
from stackviz.records.cited.load import LINE_COLUMNS, CertainSheets, result_of, set_aside
from stackviz.records.cited.models import CitedImport, CitedResult, CitedSource
from stackviz.records.cited.parameters import pairs_text
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text
from stackviz.records.cited.write import create_results, update_results
from stackviz.records.curated.change import wait_for_other_loads
from stackviz.records.curated.rows import CONTROLS, is_readable
from stackviz.web.http.download import unsafe_text
from stackviz.web.table_file import TableRow, formula_problems

_STATE = CitedResult.State
Run = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """A row as the preview shows it; `result`: what to write, None for a row that changes nothing."""

    planned: PlannedRow
    result: CitedResult | None = None


def plan_results(upload: CitedImport) -> ImportPlan:
    """What the table would change now. Writes nothing; as many queries for any number of rows."""
    return plan_of([outcome.planned for outcome in _outcomes(upload)])


@transaction.atomic
def import_upload(upload_id: int, *, by: User, seen: str, is_leaving_out: bool) -> dict[str, int]:
    """Write what the plan says, with history -> results added and changed.

    `seen`: fingerprint of the plan the person looked at. Raises Unconfirmed, and writes nothing, when the plan is
    another one by now, or has refused rows that are not to be left out.
    """
    upload = locked_import(CitedImport, upload_id)
    wait_for_other_loads()
    outcomes = _outcomes(upload)
    plan = plan_of([outcome.planned for outcome in outcomes])
    check_plan(plan, seen, is_leaving_out=is_leaving_out)
    written = [outcome.result for outcome in outcomes if outcome.result is not None]
    new, changed = [row for row in written if row.pk is None], [row for row in written if row.pk is not None]
    create_results(new, by=by, reason=upload.reason)
    update_results(changed, LINE_COLUMNS, by=by, reason=upload.reason)
    counts = {"added": len(new), "changed": len(changed)}
    mark_confirmed(upload, plan, counts=counts)
    return counts


def _outcomes(upload: CitedImport) -> list[RowOutcome]:
    benchmark = CITED_BENCHMARKS[upload.benchmark]
    read = list(_read_rows(upload.rows, benchmark))
    lines = [line for _row, line in read if isinstance(line, CitedLine)]
    references = _References(benchmark, lines)
    stored = references.stored_results(lines)
    results = references.judged_results(lines, stored)
    outcomes = []
    for row, line in read:
        if isinstance(line, LineError):
            outcomes.append(RowOutcome(_refused(row, line, benchmark)))
        else:
            outcomes.append(references.outcome(row, line, results[line.data_key], stored.get(line.data_key)))
    return outcomes


def _read_rows(rows: Sequence[TableRow], benchmark: CitedBenchmark) -> Iterator[tuple[TableRow, CitedLine | LineError]]:
    """Each row as a line, or what is wrong with it. Two queries."""
    sources = set(CitedSource.objects.values_list("key", flat=True))
    slugs = set(Accelerator.objects.values_list("slug", flat=True))
    reader = LineReader(benchmark, sources, slugs)
    latest = timezone.now().date() + TIME_ZONES
    first: dict[tuple[str, ...], int] = {}
    for row in rows:
        try:
            _check_repeat(row, first.setdefault(row.cells, row.number))
            line = reader.line(_cells(row))
            _check_date(line.date, latest)
        except LineError as error:
            yield row, error
        else:
            yield row, line


def _cells(row: TableRow) -> list[str]:
    """The row's cells. Raises LineError for a wrong number of them, formulas and control characters."""
    if len(row.cells) != len(HEADER):
        counts = {"n": len(row.cells), "wanted": len(HEADER)}
        problem = _("The row has %(n)d cells, not %(wanted)d. Quote cells that contain the separator of cells.")
        raise LineError("", problem % counts)
    cells = dict(zip(HEADER, row.cells, strict=True))
    for name, problem in formula_problems(cells).items():
        raise LineError(name, problem)
    for name, text in cells.items():
        if CONTROLS.search(text):
            raise LineError(name, str(is_readable.message))
    return [unsafe_text(text) for text in cells.values()]


def _check_repeat(row: TableRow, first: int) -> None:
    if first != row.number:
        problem = _("Equal to row %(n)d in every cell. Remove it, or write in the note what is different.")
        raise LineError("", problem % {"n": first})


def _check_date(day: date | None, latest: date) -> None:
    if day is not None and day > latest:
        raise LineError(
            "date", _("%(day)s is in the future: enter the date of the run or of the document") % {"day": day}
        )


def _refused(row: TableRow, error: LineError, benchmark: CitedBenchmark) -> PlannedRow:
    name = row.cells[HEADER.index("reported_name")] if len(row.cells) == len(HEADER) else ""
    why = " — ".join(filter(None, [str(error), _fix_of(error.field, benchmark)]))
    return PlannedRow(number=row.number, kind=REFUSED, device=name, field="", problems=((error.field, why),))


def _fix_of(column: str, benchmark: CitedBenchmark) -> str:
    """What to write in a column; "" where the problem says it."""
    units = ", ".join(symbol for symbol, known in UNITS.items() if known.si in benchmark.units)
    names = ", ".join(sorted(benchmark.parameters))
    return {
        "accelerator": _("Write the slug of a spec sheet, nothing where the source does not say which, or “-”."),
        "reported_name": _("Write the name as the source prints it, shortened if it is too long."),
        "params": _("Write name=value; name=value, sorted by name, with some of: %(names)s.") % {"names": names},
        "value": _("Write the number as 1234.5. Skip the row if there is none; a zero needs a doubt."),
        "unit": _("Write one of: %(units)s.") % {"units": units},
        "software": _("Write name=value; name=value, sorted by name."),
        "source": _("Write the key of a source of cited results; add the source first if there is none."),
        "doubt": _("Write shorter text without formulas and control characters."),
        "note": _("Write shorter text without formulas and control characters."),
    }.get(column, "")


class _References:
    """What lines are compared with: sheets, sources, and the stored results of the same sources. Seven queries."""

    def __init__(self, benchmark: CitedBenchmark, lines: Sequence[CitedLine]) -> None:
        self.benchmark = benchmark
        self.sheets = CertainSheets(lines)
        self.accelerators = Accelerator.objects.in_bulk()
        named = {line.source for line in lines}
        self.sources = {source.key: source for source in CitedSource.objects.filter(key__in=named)}
        rows = CitedResult.objects.filter(benchmark=benchmark.key, source__in=self.sources.values())
        self.stored = list(rows.select_related("accelerator", "source").order_by("pk"))

    def stored_results(self, lines: Sequence[CitedLine]) -> dict[str, CitedResult]:
        """data_key of each line -> the stored result it refers to, each once at most; equal figures go first."""
        exact: dict[tuple[Run, str], deque[CitedResult]] = defaultdict(deque)
        others: dict[Run, deque[CitedResult]] = defaultdict(deque)
        for result in self.stored:
            exact[_run_of_result(result), result.value].append(result)
        runs = {line.data_key: _run_of_line(line, self.sources[line.source].pk) for line in lines}
        paired = {}
        for line in lines:
            if equal := exact[runs[line.data_key], line.value]:
                paired[line.data_key] = equal.popleft()
        claimed = {result.pk for result in paired.values()}
        for result in self.stored:
            if result.pk not in claimed:
                others[_run_of_result(result)].append(result)
        for line in lines:
            if line.data_key not in paired and (left := others[runs[line.data_key]]):
                paired[line.data_key] = left.popleft()
        return paired

    def judged_results(self, lines: Sequence[CitedLine], stored: Mapping[str, CitedResult]) -> dict[str, CitedResult]:
        """data_key of each line -> its result, doubtful where a load of the files would doubt it.

        The rest of what is stored counts as if the files had it: of these sources, and of these accelerators.
        """
        results = {
            line.data_key: result_of(line, self._sheet(line, stored.get(line.data_key)), self.sources[line.source].pk)
            for line in lines
        }
        for key, row in stored.items():
            results[key].host_id = row.host_id
        claimed = {result.pk for result in stored.values()}
        pks = {result.accelerator_id for result in results.values() if result.accelerator_id is not None}
        known = {row.pk: row for row in [*self.stored, *CitedResult.objects.filter(accelerator__in=pks).order_by()]}
        others = [row for pk, row in known.items() if pk not in claimed and _counts_for_doubts(row)]
        set_aside(list(results.values()), others)
        return results

    def outcome(self, row: TableRow, line: CitedLine, result: CitedResult, stored: CitedResult | None) -> RowOutcome:
        result.accelerator = self.accelerators.get(result.accelerator_id or 0)
        result.source = self.sources[line.source]
        result.state, result.reason = _state_of(result, stored)
        changed = _differences(stored, result)
        kind = NEW if stored is None else CHANGED if changed else SAME
        if stored is not None:
            result.pk, result.data_key, result.loaded_digest = stored.pk, stored.data_key, stored.loaded_digest
        planned = PlannedRow(
            number=row.number,
            kind=kind,
            device=result.accelerator.name if result.accelerator else line.reported_name,
            field=setting_text(self.benchmark, line.params),
            figure=f"{line.value} {line.unit}",
            differences=changed,
        )
        return RowOutcome(planned, None if kind == SAME else result)

    def _sheet(self, line: CitedLine, stored: CitedResult | None) -> int | None:
        """The sheet of the line; what a person matched stays where the line names none and its name decides nothing."""
        pk = self.sheets.sheet_of(line)
        is_open = pk is None and line.accelerator != NEVER_MATCHED
        return stored.accelerator_id if is_open and stored is not None else pk


def _run_of_line(line: CitedLine, source_id: int) -> Run:
    pairs = pairs_text(line.params), pairs_text(line.software)
    return line.reported_name, line.count, *pairs, line.unit, line.date, source_id


def _run_of_result(result: CitedResult) -> Run:
    pairs = pairs_text(result.params), pairs_text(result.software)
    return result.reported_name, result.count, *pairs, result.unit, result.date, result.source_id


def _counts_for_doubts(result: CitedResult) -> bool:
    """Whether other results are compared with this one: not with what a person or its line doubts or withdrew."""
    return result.state in (_STATE.PUBLIC, _STATE.UNMATCHED) or (
        result.state == _STATE.DOUBTFUL and result.reason in REASONS
    )


def _state_of(result: CitedResult, stored: CitedResult | None) -> tuple[str, str]:
    """State and reason. What a person withdrew stays so, and what a person accepted as long as its figure stays."""
    if stored is not None and stored.state == _STATE.WITHDRAWN:
        return stored.state, stored.reason
    is_sound = result.accelerator_id is not None and result.amount > 0
    if (
        stored is not None
        and stored.state == _STATE.PUBLIC
        and stored.reason
        and stored.value == result.value
        and is_sound
    ):
        return stored.state, stored.reason
    return result.state, result.reason


def _figure_text(result: CitedResult) -> str:
    return f"{result.value} {result.unit}"


def _sheet_text(result: CitedResult) -> str:
    if result.accelerator is not None:
        return result.accelerator.name
    return _("none: “%(name)s” alone decides for no single sheet") % {"name": result.reported_name}


def _state_text(result: CitedResult) -> str:
    return ": ".join(filter(None, [str(_STATE(result.state).label), result.reason]))


_SHOWN = (
    ("value", gettext_lazy("Value"), _figure_text),
    ("accelerator", gettext_lazy("Spec sheet"), _sheet_text),
    ("state", gettext_lazy("State"), _state_text),
    ("source", gettext_lazy("Source"), lambda result: result.source.title),
    ("note", gettext_lazy("Note"), lambda result: result.note),
)


def _differences(stored: CitedResult | None, result: CitedResult) -> tuple[Difference, ...]:
    """What the row changes; of a new one what its figure does not say."""
    shown = [(name, str(label), text(stored) if stored else "", text(result)) for name, label, text in _SHOWN]
    return tuple(Difference(*item) for item in shown if item[2] != item[3] and (stored or item[0] != "value"))
