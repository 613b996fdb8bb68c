"""Turns stored reports into snapshots, cards, findings and results, however often it is asked to.

Reports that wait together are read one by one and stored together, in one transaction (`store.py`), whose claim lets
one worker through: so two workers, a repeated message or a worker that died halfway count nothing twice. What cannot be
stored together is divided until the report at fault fails alone. What fails for a fault of the site
(`faults.py`) is put off and tried again: such a report never becomes `failed`.
"""

import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TypeVar
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Length
from django.utils import timezone

from stackviz.intake.ingest.faults import fault_of, put_off
from stackviz.intake.ingest.reading import Background, Parsed, ReadReport, match_reports, parse_stored, read
from stackviz.intake.ingest.store import WAITING_COLUMNS, Waiting, store_reports
from stackviz.records.labs.models import Report
from stackviz.report.format import ReportError
from stackviz.web.turns import takes_turns, turn_to_write

MAX_TRIES = 5  # from the second time it is queued: a report whose reader was killed that often is not read a sixth time
REPORTS_TOGETHER = 50
REPORTS_A_TURN = 20  # stored together on SQLite, where an upload waits meanwhile; with 5, a fifth fewer are read
BYTES_TOGETHER = 4 * 1024 * 1024  # of JSON: as much as the largest report has alone

Reading = tuple[Waiting, ReadReport]
T = TypeVar("T")

log = logging.getLogger(__name__)


def interpret(report_id: str | UUID) -> str:
    """Read one report -> its status afterwards, or "gone". Safe to run any number of times, at once or in turn.

    A report that cannot be read becomes `failed`, with why; what was read from it earlier stays. One that met a fault
    of the site stays `received` and is tried again. Raises only where not even that can be noted: then nothing has
    changed.
    """
    return interpret_all([report_id])[0]


def interpret_all(report_ids: Sequence[str | UUID]) -> list[str]:
    """The same for several reports -> the status of each. When it raises, those stored before stay read.

    A report that was begun before and not finished may have killed its worker: it is read alone, after the others.
    """
    ids = [UUID(str(report_id)) for report_id in report_ids]
    status: dict[UUID, str] = {}
    with _uncollected():
        for together in _divided(ids) if len(ids) > 1 else [ids]:
            status |= _interpret_or_put_off(together)
    others = [pk for pk in ids if pk not in status]
    if others:  # gone, or read by another worker, before or since
        status |= Report.objects.filter(pk__in=others).values_list("pk", "status")
    return [status.get(pk, "gone") for pk in ids]


def _interpret_or_put_off(ids: Sequence[UUID]) -> dict[UUID, str]:
    try:
        return _interpret_together(ids)
    except Exception as error:
        fault = fault_of(error)
        if fault is None:
            raise
        log.warning("a fault of the site, not of these reports: %s", error or type(error).__name__)
        try:
            return dict.fromkeys(put_off(ids, fault), Report.Status.RECEIVED)
        except Exception:
            _survived.update(ids)
            raise


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable the collector of cycles: a batch makes thousands of objects and no cycle, and collecting takes a third of
    the time of reading.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _divided(ids: Sequence[UUID]) -> Iterator[list[UUID]]:
    """Yield the reports that wait in batches; those that were tried before come last, one at a time."""
    waiting = Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED)
    rows = list(waiting.order_by("faults").values_list("pk", "tries", Length("body"), "faults"))
    for faults, together in groupby((row for row in rows if not row[1]), key=itemgetter(3)):
        # Half as many after each fault: a lock or memory that many need together, a few may not.
        yield from _loads(((pk, size) for pk, _tries, size, _ in together), max(1, REPORTS_TOGETHER >> faults))
    yield from ([pk] for pk, tries, _size, _faults in rows if tries)


def _loads(reports: Iterable[tuple[UUID, int]], most: int) -> Iterator[list[UUID]]:
    """Reports (id, stored bytes) by as many as are held in memory at once, at most `most`."""
    load, size = list[UUID](), 0
    for pk, stored in reports:
        if load and (len(load) == most or size + stored > BYTES_TOGETHER):
            yield load
            load, size = [], 0
        load.append(pk)
        size += stored
    if load:
        yield load


def _waiting_at_their_machines(ids: Sequence[UUID]) -> list[Waiting]:
    """Those that wait, by machine; what came in for a machine while it was merged goes to where the others went."""
    waiting = Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED).values_list(*WAITING_COLUMNS)
    reports = [Waiting(*row) for row in waiting]
    stray = [report for report in reports if report.merged_into is not None]
    if not stray:
        return reports
    for report in stray:
        left = Report.objects.filter(pk=report.pk, machine=report.machine_id, machine__merged_into=report.merged_into)
        left.update(machine=report.merged_into)
    return [Waiting(*row) for row in waiting.all()]


def _interpret_together(ids: Sequence[UUID]) -> dict[UUID, str]:
    reports = _waiting_at_their_machines(ids)
    given_up = _count_tries(reports)
    status = {report.pk: _fail(report, _CRASHES) for report in reports if report.pk in given_up}
    parsed: list[tuple[Waiting, Parsed]] = []
    for report in reports:
        if report.pk in given_up:
            continue
        outcome = _attempt(report, partial(parse_stored, bytes(report.body), report.encoding))
        if isinstance(outcome, str):
            status[report.pk] = outcome
            continue
        parsed.append((report, outcome))
        if sum(each.size for _report, each in parsed) >= BYTES_TOGETHER:  # packed ones grow
            status |= _read_and_store(parsed)
            parsed = []
    return status | _read_and_store(parsed)


def _read_and_store(parsed: Sequence[tuple[Waiting, Parsed]]) -> dict[UUID, str]:
    if not parsed:
        return {}
    matches = match_reports([each.report for _report, each in parsed])
    known = Background.of(matches)
    status: dict[UUID, str] = {}
    readings: list[Reading] = []
    for (report, each), of_report in zip(parsed, matches, strict=True):
        outcome = _attempt(report, partial(read, each, report.received_at, of_report, known))
        if isinstance(outcome, str):
            status[report.pk] = outcome
        else:
            readings.append((report, outcome))
    most = REPORTS_A_TURN if takes_turns() else REPORTS_TOGETHER
    for first in range(0, len(readings), most):
        status |= _store(readings[first : first + most])
    return status


# Not the sender's mistake; the row keeps the body, so that it can be read once ours is mended.
_OUR_MISTAKE = "report %s could not be read"
_CRASHES = f"body: crashed the worker {MAX_TRIES} times; giving up"


_survived: set[UUID] = set()  # begun in this process, which lives: a fault ended that attempt and could not be noted


def _count_tries(reports: Iterable[Waiting]) -> set[UUID]:
    """Those to be given up: they crash their worker (memory, a crash in C), and such a death leaves no other trace.

    Only reports that were queued again are counted, so that the usual one pays no write for it.
    """
    begun = {report.pk for report in reports if report.queued_at not in (None, report.received_at)}
    again = sorted(begun - _survived)
    _survived.difference_update(begun)
    if not again:
        return set()
    Report.objects.filter(pk__in=again).update(tries=F("tries") + 1)
    return set(Report.objects.filter(pk__in=again, tries__gt=MAX_TRIES).values_list("pk", flat=True))


def _attempt(report: Waiting, step: Callable[[], T]) -> T | str:
    """What the step returns, or the status of a report that cannot be read."""
    try:
        return step()
    except ReportError as error:
        return _fail(report, str(error))
    except Exception as error:
        if fault_of(error) is not None:
            raise
        log.exception(_OUR_MISTAKE, report.pk)
        return _fail(report, f"internal error: {type(error).__name__}")


def _store(readings: Sequence[Reading]) -> dict[UUID, str]:
    """Store these together, or else each half of them: at last the report at fault is alone."""
    if not readings:
        return {}
    try:
        with turn_to_write(gives_way=True):
            store_reports(readings)
    except Exception as error:
        if fault_of(error) is not None:
            raise
        if len(readings) == 1:
            report = readings[0][0]
            log.exception(_OUR_MISTAKE, report.pk)
            return {report.pk: _fail(report, f"internal error: {type(error).__name__}")}
        middle = len(readings) // 2
        return _store(readings[:middle]) | _store(readings[middle:])
    return {report.pk: Report.Status.READ for report, _reading in readings}


def _fail(report: Waiting, why: str) -> str:
    Report.objects.filter(pk=report.pk, status=Report.Status.RECEIVED).update(
        status=Report.Status.FAILED, read_at=timezone.now(), error=why[:1000], retry_at=None
    )
    return Report.Status.FAILED
