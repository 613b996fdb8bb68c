"""Pairs of statements about figures: sheets, lists and comparisons; rankings; factors and what they are made of."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import geometric_mean
from typing import cast

from stackviz.base.units import UNITS, format_factor, to_si, unit_label
from stackviz.desk.contradictions.pairs import NONE, Known, Pair, PublicStatement
from stackviz.pages.accelerators.list_rows import ListCell, list_rows
from stackviz.pages.accelerators.sheet import NOT_LISTED, read_sheet
from stackviz.pages.benchmarks.index_page import BenchmarkLine, benchmark_groups
from stackviz.pages.benchmarks.like_for_like_page import SettingRow, setting_rows
from stackviz.pages.benchmarks.ranking_words import ShownRanking, introduce_ranking, shown_ranking
from stackviz.pages.benchmarks.selection import CitedChoice
from stackviz.pages.compare.like_for_like import cited_tile
from stackviz.pages.compare.query import Subject, SubjectKind
from stackviz.pages.compare.spec_table import without_repeated
from stackviz.pages.compare.subjects import Loaded
from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.catalog.conditions import describe_condition, split_variants
from stackviz.records.catalog.fields import FIELDS, Field, compared_unit
from stackviz.records.catalog.joined import join_rows
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.spec_table import spec_columns, table_of
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.best import like_for_like
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import without_sheet
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address

SAME = 1e-3  # figures are rounded for the column they are shown in
COMPARED = 6  # accelerators in one comparison
FACTORED = 16  # accelerators, of those asked for most, whose factors are computed again

# --- spec sheets, the list, comparisons ---

_Shown = Mapping[tuple[str, str], list[str]]  # (field, condition without variants) -> figures, as text with their unit
_SYMBOLS = {unit_label(symbol): symbol for symbol in UNITS}


def sheets_and_tables(known: Known) -> Iterator[Pair]:
    """Each figure of a comparison and of the list of accelerators, against the sheet's rows under that condition."""
    accelerators = list(known.catalogue.accelerators)
    listed = list_rows([[accelerator] for accelerator in accelerators], list(FIELDS), known.catalogue)
    for start in range(0, len(accelerators), COMPARED):
        group = accelerators[start : start + COMPARED]
        shown = [_of_sheet(accelerator) for accelerator in group]
        yield from _of_comparison(group, shown)
        for accelerator, of_sheet, row in zip(group, shown, listed[start : start + COMPARED], strict=True):
            for field, cell in zip(FIELDS.values(), cast("list[ListCell]", row["cells"]), strict=True):
                if cell.text and field.name not in NOT_LISTED:
                    figures = [
                        figure
                        for (name, condition), shown_here in of_sheet.items()
                        if name == field.name and _is_listed(field, condition, cell.remark)
                        for figure in shown_here
                    ]
                    where = f"/accelerators/?q={accelerator.slug}"
                    yield _figures_pair(accelerator, field.name, figures, where, cell.text)


def _of_sheet(accelerator: Accelerator) -> _Shown:
    shown: dict[tuple[str, str], list[str]] = defaultdict(list)
    for _group, fields in read_sheet(accelerator)["groups"]:
        for field, values in fields:
            for value in values:
                shown[field.name, split_variants(value.key)[0]].append(value.figure.text)
    return shown


def _is_listed(field: Field, condition: str, remark: str) -> bool:
    """Whether a cell with this remark is of this condition; without one it is of a usual one."""
    words = describe_condition(condition)
    return words == remark if remark else condition in field.usual


def _of_comparison(group: Sequence[Accelerator], shown: Sequence[_Shown]) -> Iterator[Pair]:
    address = "/compare/?" + "&".join(f"a={accelerator.slug}" for accelerator in group)
    for row in without_repeated(join_rows(table_of(spec_columns(group)))):
        for accelerator, of_sheet, cell in zip(group, shown, row.cells, strict=True):
            figures = of_sheet.get((row.field, row.under)) or of_sheet.get((row.field, _without_accumulate(row.under)))
            if cell is not None and figures:
                yield _figures_pair(accelerator, row.field, figures, address, cell.text)


def _without_accumulate(condition: str) -> str:
    """A rate whose source names no accumulate type shares the row of fp32."""
    return condition.removesuffix("; accumulate=fp32")


def _figures_pair(accelerator: Accelerator, name: str, figures: Sequence[str], where: str, text: str) -> Pair:
    """The figures of the sheet hold each figure of the other place; the unit of a figure is its own or the field's."""
    field = FIELDS[name]
    of_sheet = [printed_amount(figure, field) for figure in figures]
    parts = [text] if text in figures else text.split(" / ")
    agrees = all(any(is_same(printed_amount(part, field), figure) for figure in of_sheet) for part in parts)
    sheet = PublicStatement(f"{accelerator.get_absolute_url()}#f-{name}", " / ".join(figures) or NONE)
    return Pair(sheet, PublicStatement(where, f"{name} of {accelerator.slug}: {text} {field.unit}".rstrip()), agrees)


def printed_amount(text: str, field: Field | None = None) -> float | str:
    """In SI base units, in which values of the field are compared; the text itself where it is no number."""
    number, _space, printed = text.partition(" ")
    symbol = _SYMBOLS.get(printed, "") if printed else ""
    if field:
        symbol = compared_unit(field, symbol or field.unit)
    try:
        amount = float(number.replace(",", ""))
    except ValueError:
        return text
    return to_si(amount, symbol) if symbol else amount


def is_same(first: float | str, second: float | str) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return math.isclose(first, second, rel_tol=SAME)


# --- rankings ---


def rankings_and_results(known: Known) -> Iterator[Pair]:
    """Each benchmark's ranking: its rows against the stored results, its title and the list's line against its rows."""
    results: dict[tuple[str, str], list[CitedResult]] = defaultdict(list)
    for result in known.results:
        results[result.benchmark, result.params_key].append(result)
    names = {accelerator.name for accelerator in known.catalogue.accelerators}
    lines = {line.url: line for group in benchmark_groups() for line in group.lines}
    for key, benchmark in CITED_BENCHMARKS.items():
        ranking = shown_ranking(benchmark, CitedChoice(chosen={}))
        rows = ranking.drawn.rows
        if not rows:
            continue
        address, devices = benchmark_address(key), None if benchmark.adds_up else rows[0].devices
        of_case = [row for row in results[key, ranking.params_key] if devices in (None, row.count)]
        bests = {known.catalogue.by_pk[pk].name: best for pk, best in _bests(benchmark, of_case).items()}
        for row in rows:
            shown, best = f"{row.text} {ranking.drawn.unit}".rstrip(), bests.get(row.name)
            if best is None and row.name not in names:
                continue  # a name of several sheets
            yield Pair(
                PublicStatement(address, f"{row.name}: {shown}"),
                PublicStatement(f"{len(of_case)} results of this setting", f"{row.name}: at best {best} in SI"),
                agrees=best is not None and is_same(printed_amount(shown), best),
            )
        yield from _of_titles(benchmark, ranking, bests, lines.get(address))


def _bests(benchmark: CitedBenchmark, results: Iterable[CitedResult]) -> dict[int, float]:
    """Accelerator -> its best amount of one device."""
    choose = max if benchmark.higher_is_better else min
    bests: dict[int, float] = {}
    for row in results:
        if row.accelerator_id is not None:
            amount = row.amount_per_device
            bests[row.accelerator_id] = choose(amount, bests.get(row.accelerator_id, amount))
    return bests


def _of_titles(
    benchmark: CitedBenchmark, ranking: ShownRanking, bests: Mapping[str, float], line: BenchmarkLine | None
) -> Iterator[Pair]:
    address, words, first = benchmark_address(benchmark.key), ranking.words, ranking.drawn.rows[0]
    title = PublicStatement(address, introduce_ranking(benchmark, ranking.drawn, words).title)
    named = "" if words.no_first else first.name
    best = printed_amount(f"{first.text} {ranking.drawn.unit}".rstrip())
    ahead = {name for name, amount in bests.items() if _is_ahead(benchmark, amount, best)}
    is_right = named in title.text and not ahead if named else words.no_first in title.text
    yield Pair(
        title, PublicStatement(f"{address}, its rows", f"ahead of {first.name}: {sorted(ahead)}"), agrees=is_right
    )
    leader = line.leader.name if line and line.leader else ""
    listed = PublicStatement("/benchmarks/", f"{line.title if line else benchmark.key}: {leader or 'nobody'} is first")
    yield Pair(title, listed, agrees=leader == named)
    devices = None if benchmark.adds_up else first.devices
    unranked = without_sheet([ranking.params_key]).filter(benchmark=benchmark.key)
    alike = (row for row in unranked if devices in (None, row.count))
    better = {row.reported_name for row in alike if _is_ahead(benchmark, row.amount_per_device, best)}
    full_title = f"{title.text} ({words.overtaken})" if words.overtaken else title.text
    without = PublicStatement("results without a certain sheet", f"better: {', '.join(sorted(better)) or NONE}")
    yield Pair(PublicStatement(address, full_title), without, agrees=bool(words.overtaken or not named) or not better)


def _is_ahead(benchmark: CitedBenchmark, amount: float, best: float | str) -> bool:
    """Whether it is better than the first by more than rounding."""
    if isinstance(best, str) or is_same(amount, best):
        return False
    return amount > best if benchmark.higher_is_better else amount < best


# --- factors ---


def factors_and_settings(known: Known) -> Iterator[Pair]:
    """A comparison's factor for each kind of work against the settings listed for it, and each of these against the
    stored results. Of the accelerators asked for most, two by two.
    """
    amounts: dict[tuple[str, str, int | None], list[float]] = defaultdict(list)
    for row in known.results:
        amounts[row.benchmark, row.params_key, row.accelerator_id].append(row.amount_per_device)
    chosen = [known.catalogue.by_slug[slug] for slug in most_requested()[:FACTORED] if slug in known.catalogue.by_slug]
    for first, second in combinations(chosen, 2):
        shared = like_for_like(first.pk, second.pk)
        if not shared:
            continue
        names = f"accelerator={first.slug}&accelerator={second.slug}"
        address, listed = f"/compare/?a={first.slug}&a={second.slug}", f"/benchmarks/like-for-like/?{names}"
        tile = cited_tile([_loaded(first), _loaded(second)], 1)
        figures = {line.name: line.figure for line in tile.lines} if tile else {}
        rows: dict[str, list[SettingRow]] = defaultdict(list)
        for setting_row in setting_rows(shared):
            rows[setting_row.work].append(setting_row)
        for work, settings in rows.items():
            factor = format_factor(_mean(settings))
            yield Pair(
                PublicStatement(address, f"{work} {figures.get(work, NONE)}"),
                PublicStatement(listed, f"{work}: {len(settings)} settings, their mean is {factor}"),
                agrees=figures.get(work) == factor,
            )
        for item in shared:
            for setting in (setting for each in item.benchmarks for setting in each.settings):
                key = setting.key
                for accelerator, amount in ((first, setting.first), (second, setting.second)):
                    stored = amounts[key.benchmark, key.params_key, accelerator.pk]
                    yield Pair(
                        PublicStatement(listed, f"{key.benchmark}, {accelerator.slug}: {amount}"),
                        PublicStatement(
                            f"{benchmark_address(key.benchmark)}?case={key.params_key}", f"{sorted(stored)}"
                        ),
                        agrees=any(math.isclose(amount, result) for result in stored),
                    )


def _loaded(accelerator: Accelerator) -> Loaded:
    subject = Subject(SubjectKind.ACCELERATOR, accelerator.slug)
    url = accelerator.get_absolute_url()
    return Loaded(subject=subject, title=accelerator.short_name, url=url, accelerator=accelerator)


def _mean(settings: Sequence[SettingRow]) -> float:
    """How many times the faster is as fast: each benchmark counts once, however many settings it has."""
    by_benchmark: dict[str, list[float]] = defaultdict(list)
    for row in settings:
        by_benchmark[row.benchmark].append(row.ratio)
    mean = geometric_mean([geometric_mean(ratios) for ratios in by_benchmark.values()])
    return max(mean, 1 / mean)
