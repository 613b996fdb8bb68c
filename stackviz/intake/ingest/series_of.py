"""The series that results belong to, missing ones made: one statement for any number of machines and settings."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import connection

from stackviz.intake.ingest.reading import ReadResult
from stackviz.records.series.models import Series
from stackviz.web.bulk_insert import json_text, select
from stackviz.web.postgres_arrays import array_text

Setting = tuple[str, str, int, str, int | None]


def setting_of(result: ReadResult) -> Setting:
    """What makes a series on one machine, in the order of the unique index."""
    reported = result.reported
    return result.params_key, reported.benchmark, reported.version, reported.device, reported.card


def series_of(machines: Iterable[tuple[int, Sequence[ReadResult]]]) -> dict[tuple[int, Setting], int]:
    """(machine, setting) -> key of its series. One query when the machines have run all of it before."""
    wanted = {(machine, setting_of(result)): result for machine, results in machines for result in results}
    known = _find(wanted)
    missing = sorted((key for key in wanted if key not in known), key=str)
    if missing:
        # In one order for everybody: two workers that make the same series wait for each other, and never in a circle.
        # The loser's rows are left out and found by the second look.
        new = (_new(machine, wanted[machine, setting]) for machine, setting in missing)
        Series.objects.bulk_create(new, ignore_conflicts=True)
        known = _find(wanted)
    return known


_FIND = """
    SELECT machine_id, params_key, benchmark, version, device, card_index, benchmarks_series.id
    FROM benchmarks_series"""
_FIND_ON_POSTGRES = f"""{_FIND}
    JOIN unnest(%s::bigint[], %s::text[]) AS wanted (machine, setting)
        ON machine_id = wanted.machine AND params_key = wanted.setting"""
_FIND_ON_SQLITE = f"""{_FIND}
    JOIN json_each(%s) AS wanted
        ON machine_id = json_extract(wanted.value, '$[0]') AND params_key = json_extract(wanted.value, '$[1]')"""


def _find(wanted: Mapping[tuple[int, Setting], ReadResult]) -> dict[tuple[int, Setting], int]:
    pairs = sorted({(machine, setting[0]) for machine, setting in wanted})
    if not pairs:
        return {}
    if connection.vendor == "postgresql":
        rows = select(_FIND_ON_POSTGRES, *(array_text(column) for column in zip(*pairs, strict=True)))
    else:
        rows = select(_FIND_ON_SQLITE, json_text(pairs))
    return {(machine, (key, name, version, device, card)): pk for machine, key, name, version, device, card, pk in rows}


def _new(machine_id: int, result: ReadResult) -> Series:
    reported = result.reported
    return Series(
        machine_id=machine_id,
        benchmark=reported.benchmark,
        version=reported.version,
        device=reported.device,
        card_index=reported.card,
        params=dict(result.params),
        params_key=result.params_key,
    )
