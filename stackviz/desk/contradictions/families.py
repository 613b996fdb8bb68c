"""Pairs of statements about a card that may be one of several: its row in a ranking, and the sheets it may mean."""

from collections.abc import Iterator
from functools import cache

from stackviz.desk.contradictions.figures import is_same, printed_amount
from stackviz.desk.contradictions.pairs import NONE, Known, Pair, PublicStatement
from stackviz.pages.benchmarks.index_page import FamilyLine, family_lines
from stackviz.pages.benchmarks.ranking import CitedRow
from stackviz.pages.benchmarks.ranking_words import ShownRanking, shown_ranking
from stackviz.pages.benchmarks.selection import CitedChoice
from stackviz.records.catalog.bare_names import family_slugs
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.queries import without_sheet
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address


def families_and_sheets(known: Known) -> Iterator[Pair]:
    """Each row of a family: it names every sheet, each sheet lists it, and its figure is the best of its results."""

    @cache
    def lines_of(slug: str) -> tuple[FamilyLine, ...]:
        return family_lines(known.catalogue.by_slug[slug])

    for key, benchmark in CITED_BENCHMARKS.items():
        ranking = shown_ranking(benchmark, CitedChoice(chosen={}))
        for row in ranking.drawn.rows:
            members = [slug for slug in family_slugs(row.name) if slug in known.catalogue.by_slug]
            if not row.family and not (members and not row.slug):
                continue
            yield _best_pair(benchmark, ranking, row, members)
            for slug in members:
                yield _member_pair(benchmark_address(key), row, known.catalogue.by_slug[slug], lines_of(slug))


def _best_pair(benchmark: CitedBenchmark, ranking: ShownRanking, row: CitedRow, members: list[str]) -> Pair:
    results = without_sheet([ranking.params_key]).filter(benchmark=benchmark.key)
    devices = None if benchmark.adds_up else row.devices
    amounts = [
        result.amount_per_device
        for result in results
        if devices in (None, result.count) and set(members) <= set(family_slugs(result.reported_name))
    ]
    best = (max if benchmark.higher_is_better else min)(amounts, default=None)
    shown = f"{row.text} {ranking.drawn.unit}".rstrip()
    return Pair(
        PublicStatement(benchmark_address(benchmark.key), f"{row.name}: {shown}"),
        PublicStatement(f"{len(amounts)} results of this name", f"at best {best} in SI"),
        agrees=best is not None and is_same(printed_amount(shown), best),
    )


def _member_pair(address: str, row: CitedRow, member: Accelerator, lines: tuple[FamilyLine, ...]) -> Pair:
    listed = {name for line in lines if line.url == address for name in line.names.split(", ")}
    return Pair(
        PublicStatement(address, f"{row.name}: {row.family or NONE}"),
        PublicStatement(member.get_absolute_url(), f"results that may be its own: {', '.join(sorted(listed)) or NONE}"),
        agrees=row.name in listed and member.drawn_name in row.family,
    )
