"""Machines that a visitor may see, by words of their name or their lab's: asked of the database, never of the index."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from stackviz.pages.search.beginnings import wanted_beginnings
from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.index import SearchHit
from stackviz.pages.search.models import LONGEST
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor, visible_machines

MOST_MACHINES = 20
MOST_WORDS_OF_NAME = 5  # more is no name but a sentence
MOST_PIECES = 10  # of these words, and pairs of Chinese characters
SAME, BEGINS, HAS = 2.0, 1.25, 0.8  # scores, as those of the index


def machine_hits(visitor: Visitor, query: str) -> list[SearchHit]:
    """MOST_MACHINES at most, newest first of those alike, with a word that begins so for every word of the query.

    One query, or none: a sentence is no name.
    """
    wanted = wanted_beginnings(query, LONGEST)
    if not wanted or len(query.split()) > MOST_WORDS_OF_NAME or len(wanted) > MOST_PIECES:
        return []
    hits = [_hit(machine, query) for machine in found_machines(visible_machines(visitor), wanted)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.entry.title, hit.entry.url))


def found_machines(machines: QuerySet[Machine], wanted: Sequence[str]) -> QuerySet[Machine]:
    """The newest MOST_MACHINES that have all the beginnings. One row of an index a machine and beginning is read."""
    for beginning in wanted:
        machines = machines.filter(words__beginning=beginning)
    return machines.order_by("-pk")[:MOST_MACHINES]


def _hit(machine: Machine, query: str) -> SearchHit:
    lab, wanted, name = machine.lab, query.casefold(), machine.name.casefold()
    score = SAME if wanted in (name, machine.slug) else BEGINS if name.startswith(wanted) else HAS
    line = lab.name if lab.is_public else _("%(lab)s (private)") % {"lab": lab.name}
    entry = SearchEntry(kind=SearchKind.MACHINE, title=machine.name, url=machine.get_absolute_url(), line=line)
    return SearchHit(entry, score, "", ())
