"""The rules' tables from the database, with the corrections made in the admin."""

from functools import lru_cache

from stackviz.records.catalog.match import known_cards
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.models import Edition, Release, Requirement
from stackviz.report.rules import KnownCard, Tables, packaged_tables
from stackviz.report.rules import Release as ReleaseRow
from stackviz.report.rules import Requirement as RequirementRow
from stackviz.report.rules import RuleSource as SourceRow
from stackviz.report.rules.compatibility import packaged_cards

SOURCE_KEY = "stacks/"


def rule_tables() -> Tables:
    """The tables, cached per edition: one query, five after a change. The packaged ones if nothing is loaded."""
    edition = Edition.current()
    return _tables(edition, CatalogueEdition.current()) if edition else packaged_tables()


@lru_cache(maxsize=2)
def _cards(_edition: str) -> frozenset[KnownCard]:
    return known_cards() or packaged_cards()


@lru_cache(maxsize=2)
def _tables(_edition: str, catalogue: str) -> Tables:
    sources: dict[int, SourceRow] = {}
    releases = frozenset(
        ReleaseRow(
            component=row.component.slug,
            version=row.version,
            variant=row.variant,
            line=row.line,
            released=row.released,
            support_ends=row.support_ends,
            source=_source(row, sources),
            note=row.note,
        )
        for row in Release.objects.select_related("component", "source")
    )
    requirements = frozenset(_requirement_rows(sources))
    return Tables(releases, requirements, _cards(catalogue))


def requirement_rows() -> list[RequirementRow]:
    """All requirements as rows of the rules. One query."""
    return _requirement_rows({})


def _requirement_rows(sources: dict[int, SourceRow]) -> list[RequirementRow]:
    return [
        RequirementRow(
            component=row.release.component.slug,
            version=row.release.version,
            variant=row.release.variant,
            platform=row.platform,
            relation=row.relation,
            subject=row.subject,
            part=row.part,
            low=row.low,
            values=row.values,
            confidence=row.confidence,
            source=_source(row, sources),
            note=row.note,
        )
        for row in Requirement.objects.select_related("release__component", "source")
    ]


def _source(row: Release | Requirement, seen: dict[int, SourceRow]) -> SourceRow:
    """The source with the key of the files; one object per document."""
    if row.source_id not in seen:
        key = (row.source.data_key or row.source.key).removeprefix(SOURCE_KEY)
        seen[row.source_id] = SourceRow(key, row.source.title, row.source.url)
    return seen[row.source_id]
