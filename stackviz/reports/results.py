"""Results that a report states by itself: a table for each benchmark. What the site works out is in `machines/`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from stackviz import wire
from stackviz.units import format_number

MOST_RESULTS = 200  # of one report; llama-bench prints a dozen


@dataclass(frozen=True, slots=True)
class StatedResult:
    """One run. `value` empty: it did not come to its end; then `why` says so. `spread`: its standard deviation."""

    settings: tuple[tuple[str, str], ...]  # title of the column, its value
    value: str
    unit: str
    why: str
    spread: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The runs of one benchmark that the report states. `common`: settings that all of them share."""

    benchmark: str
    common: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[StatedResult, ...]


def result_tables(results: Sequence[wire.Result]) -> Iterator[ResultTable]:
    """Of the first MOST_RESULTS: what all runs of a benchmark share is stated once, what differs has a column."""
    results = results[:MOST_RESULTS]
    for benchmark in dict.fromkeys(result.benchmark for result in results):
        runs = [result for result in results if result.benchmark == benchmark]
        settings = [_settings(result) for result in runs]
        names = list(dict.fromkeys(name for run in settings for name in run))
        shared = {name for name in names if len({run.get(name) for run in settings}) == 1}
        columns = tuple(name for name in names if name not in shared)
        yield ResultTable(
            benchmark=benchmark,
            common=tuple((name, settings[0][name]) for name in names if name in shared),
            columns=columns,
            rows=tuple(_result(*run, columns) for run in zip(runs, settings, strict=True)),
        )


def _settings(result: wire.Result) -> dict[str, str]:
    params = {
        name: format_number(value) if isinstance(value, float) else str(value) for name, value in result.params.items()
    }
    return params | {"device": result.device}


def _result(result: wire.Result, settings: Mapping[str, str], columns: Sequence[str]) -> StatedResult:
    """The mean as the benchmark states it, or else the median of its runs."""
    stated = result.extra.get("mean")
    spread = result.extra.get("stddev")
    value = stated if isinstance(stated, int | float) else median(result.samples) if result.samples else None
    return StatedResult(
        settings=tuple((name, settings.get(name, "")) for name in columns),
        value="" if value is None else format_number(value),
        unit=result.unit,
        why=result.reason or "",
        spread=format_number(spread) if isinstance(spread, int | float) and value is not None else "",
    )
