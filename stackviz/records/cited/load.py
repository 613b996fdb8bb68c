"""Bring the database to what the curated files of cited results say, without touching what people have corrected.

The rows of a load get no history records of their own: the load is one row of CitedLoad, and what a row was before its
first change is written then (`stackviz.records.cited.baseline`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from stackviz.records.catalog.match import CardName, match_cards, sheets_of_bare_names
from stackviz.records.catalog.models import Accelerator, CatalogueLoad
from stackviz.records.cited.baseline import write_baselines
from stackviz.records.cited.doubts import ABOVE_THE_PEAK, doubts
from stackviz.records.cited.files import DATA, NEVER_MATCHED, CitedFiles, CitedLine, cited_data_version, read_cited
from stackviz.records.cited.models import CitedEdition, CitedLoad, CitedResult, CitedSource
from stackviz.records.curated.change import Change, Counts, LoadSummary, loading, wait_for_other_loads, with_reason
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.models import Host, HostLoad
from stackviz.web.bulk_insert import insert_objects

LINE_COLUMNS = [  # what a line decides
    "accelerator", "reported_name", "count", "benchmark", "params", "params_key", "value", "unit", "amount",
    "software", "date", "source", "note", "state", "reason",
]  # fmt: skip

AT_ONCE = 500  # primary keys in one query: SQLite takes a thousand parameters everywhere
OPEN = frozenset({"ambiguous", "unknown"})  # matches that the reported name alone may still decide


def load_cited(folder: Path = DATA, *, force: bool = False) -> LoadSummary:
    """Load the curated files in one transaction. Cheap when they are loaded already, unless `force`.

    Load the catalogue and the hosts first: names are matched to sheets, and a new catalogue matches them anew; results
    of hosts that are not loaded are left out. Raises CuratedDataError, and changes nothing, when the files are wrong.
    """
    version = _version_of(folder)
    if CitedLoad.latest_version() == version and not force:
        return LoadSummary("cited results", version)
    files = read_cited(folder)
    with transaction.atomic():
        wait_for_other_loads()
        if CitedLoad.latest_version() == version and not force:
            return LoadSummary("cited results", version)
        with loading(version) as reason:
            tables = _load(files, reason)
        summary = LoadSummary("cited results", version, tables)
        did = tables["results"]
        counts = {"added": did.created, "changed": did.updated, "removed": did.deleted}
        CitedLoad.objects.create(
            version=version, summary=str(summary), counts={what: n for what, n in counts.items() if n}
        )
        CitedEdition.renew()
    return summary


def _version_of(folder: Path) -> str:
    """Of the files, and of what they are loaded beside. Two queries."""
    beside = [load.latest_version() or "none" for load in (CatalogueLoad, HostLoad)]
    return "-".join([cited_data_version(folder)[:40], *(version[:11] for version in beside)])


def _load(files: CitedFiles, reason: str) -> dict[str, Counts]:
    wanted = {
        line.key: CitedSource(
            data_key=line.key,
            key=line.key,
            title=line.title,
            url=line.url,
            kind=line.kind,
            licence=line.licence,
            read_in=line.read_in,
        )
        for line in files.sources
    }
    changed = ["key", "title", "url", "kind", "licence", "read_in"]
    source_counts = Change(CitedSource, wanted, is_deleting=False).apply(changed, reason)
    sources = dict(CitedSource.objects.filter(data_key__isnull=False).values_list("data_key", "pk"))
    hosts = dict(Host.objects.values_list("slug", "pk"))
    lines = _wanted_lines(files, hosts.keys())
    sheets = CertainSheets(lines)
    results = {
        line.data_key: result_of(line, sheets.sheet_of(line), sources[line.source], line.data_key) for line in lines
    }
    for line in lines:
        results[line.data_key].host_id = hosts.get(line.host)
    set_aside(list(results.values()))
    _refuse_impossible(files.of_hosts, results)
    for row in results.values():
        if row.reason:  # so that the public log says why a result was set aside
            row.set_change_reason(with_reason(reason, row.reason))
    result_counts = _ResultChange(CitedResult, results).apply(LINE_COLUMNS, reason)
    _name_hosts(results)
    return {"sources": source_counts, "results": result_counts}


def _wanted_lines(files: CitedFiles, hosts: Set[str]) -> list[CitedLine]:
    """Return the lines without those of hosts that are not loaded or were withdrawn here. One query."""
    withdrawn = set(Host.objects.filter(state=Host.State.WITHDRAWN).values_list("slug", flat=True))
    lines = [*files.results, *(line for line in files.of_hosts if line.host in hosts)]
    return [line for line in lines if line.host not in withdrawn]


def _refuse_impossible(lines: Sequence[CitedLine], results: Mapping[str, CitedResult]) -> None:
    """Raise CuratedDataError for new results of hosts that are above the published peak and whose line does not say so.

    One that is loaded already becomes doubtful instead: a curator who corrects a peak must not stop the next start.
    """
    impossible = {
        line.data_key: line
        for line in lines
        if not line.doubt and line.data_key in results and results[line.data_key].reason == ABOVE_THE_PEAK
    }
    if not impossible:
        return
    for key in CitedResult.objects.filter(data_key__in=impossible).values_list("data_key", flat=True):
        impossible.pop(key or "", None)
    if impossible:
        raise CuratedDataError(
            [f"{line.where}: value: {ABOVE_THE_PEAK}; its doubt must say so" for line in impossible.values()]
        )


def _name_hosts(results: Mapping[str, CitedResult]) -> None:
    """Give every loaded row its host: also rows that were corrected here, and those whose host was loaded anew."""
    by_host: dict[int | None, list[int]] = defaultdict(list)
    loaded = CitedResult.objects.filter(data_key__isnull=False).values_list("pk", "data_key", "host")
    for pk, key, host in loaded:
        wanted = results.get(key or "")
        if wanted is not None and wanted.host_id != host:
            by_host[wanted.host_id].append(pk)
    for wanted_host, pks in by_host.items():
        for start in range(0, len(pks), AT_ONCE):
            CitedResult.objects.filter(pk__in=pks[start : start + AT_ONCE]).update(host=wanted_host)


def set_aside(results: Sequence[CitedResult], others: Sequence[CitedResult] = ()) -> None:
    """Make doubtful what arithmetic doubts, with the reason; what its line doubts already keeps that reason.

    `others`: what the results are compared with besides one another; these stay as they are.
    """
    sound = [result for result in results if result.state != CitedResult.State.DOUBTFUL]
    for index, reason in doubts([*sound, *others]).items():
        if index < len(sound):
            sound[index].state, sound[index].reason = CitedResult.State.DOUBTFUL, reason


def result_of(line: CitedLine, accelerator_id: int | None, source_id: int, data_key: str | None = None) -> CitedResult:
    """The line as a row that is not saved; public only on a certain sheet and without a doubt."""
    certain = "unmatched" if accelerator_id is None else "public"
    return CitedResult(
        data_key=data_key,
        accelerator_id=accelerator_id,
        reported_name=line.reported_name,
        count=line.count,
        benchmark=line.benchmark,
        params=line.params,
        params_key=line.params_key,
        value=line.value,
        unit=line.unit,
        amount=line.amount,
        software=line.software,
        date=line.date,
        source_id=source_id,
        note=line.note,
        state="doubtful" if line.doubt else certain,
        reason=line.doubt,
    )


class CertainSheets:
    """Which sheet each line is of: the one it names, or else the one its reported name alone decides. Four queries."""

    def __init__(self, lines: Iterable[CitedLine]) -> None:
        self.ids: dict[str, int] = dict(Accelerator.objects.values_list("slug", "pk"))
        names = sorted({line.reported_name for line in lines if not line.accelerator})
        matches = match_cards([CardName(name) for name in names])
        self.named = {
            name: match.accelerator.pk
            for name, match in zip(names, matches, strict=True)
            if match.accelerator is not None and match.how == "name"
        }
        open_names = [name for name, match in zip(names, matches, strict=True) if match.how in OPEN]
        self.named |= sheets_of_bare_names(open_names)

    def sheet_of(self, line: CitedLine) -> int | None:
        """None where no sheet is certain, or the one named was deleted here."""
        if line.accelerator == NEVER_MATCHED:
            return None
        return self.ids.get(line.accelerator) if line.accelerator else self.named.get(line.reported_name)


class _ResultChange(Change[CitedResult]):
    """Writes no history for new rows, and what they were before for those that change."""

    def _create(self, rows: list[CitedResult], reason: str) -> None:  # noqa: ARG002
        now = timezone.now()
        for row in rows:
            row.changed_at = now
        insert_objects(rows)

    def _update(self, rows: list[CitedResult], changed: list[str], reason: str) -> None:
        write_baselines(CitedResult, [row.pk for row in rows])
        super()._update(rows, changed, reason)
