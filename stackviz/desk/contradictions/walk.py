"""All kinds of pairs, walked one after another."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stackviz.desk.contradictions.families import families_and_sheets
from stackviz.desk.contradictions.figures import factors_and_settings, rankings_and_results, sheets_and_tables
from stackviz.desk.contradictions.framework_plans import framework_plans_and_diagnoses
from stackviz.desk.contradictions.pairs import Known, Pair
from stackviz.desk.contradictions.rocm_plans import rocm_plans_and_diagnoses
from stackviz.desk.contradictions.stacks import (
    claims_and_figures,
    claims_and_tables,
    drawings_and_tables,
    freshness_and_tables,
    plans_and_diagnoses,
    search_and_plans,
)

KINDS: Mapping[str, Callable[[Known], Iterator[Pair]]] = {
    "plan and diagnosis of the stack it installs": plans_and_diagnoses,
    "plan and diagnosis of a framework's release": framework_plans_and_diagnoses,
    "plan and diagnosis of a build for AMD cards": rocm_plans_and_diagnoses,
    "claim and table of versions": claims_and_tables,
    "claim and spec sheet": claims_and_figures,
    "spec sheet, list and comparison": sheets_and_tables,
    "ranking, its title and its results": rankings_and_results,
    "row of a family and the sheets it may mean": families_and_sheets,
    "factor of a comparison and its settings": factors_and_settings,
    "newest release on freshness, in feeds and plans": freshness_and_tables,
    "version in a drawn stack and requirement": drawings_and_tables,
    "search's plan and the planner": search_and_plans,
}


@dataclass(frozen=True, slots=True)
class WalkedKind:
    """How many pairs of one kind were walked, and those that disagree."""

    title: str
    pairs: int
    contradictions: tuple[Pair, ...]


def walk(known: Known) -> Iterator[WalkedKind]:
    """Walk all kinds, in order."""
    for title, pairs_of in KINDS.items():
        pairs = list(pairs_of(known))
        yield WalkedKind(title, len(pairs), tuple(pair for pair in pairs if not pair.agrees))
