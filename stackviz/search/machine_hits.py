"""Machines that a visitor may see, by their name or their lab's: asked of the database, never of the index."""

from django.db.models import Q
from django.utils.translation import gettext as _

from stackviz.labs.models import Machine
from stackviz.labs.queries import Visitor, visible_machines
from stackviz.search.entries import SearchEntry, SearchKind
from stackviz.search.index import SearchHit

MOST_MACHINES = 20
MOST_WORDS_OF_NAME = 5  # more is no name but a sentence
SAME, BEGINS, HAS = 2.0, 1.25, 0.8  # scores, as those of the index


def machine_hits(visitor: Visitor, query: str) -> list[SearchHit]:
    """MOST_MACHINES at most, with every word of the query in their name or their lab's. None for a sentence.

    One query, or none.
    """
    words = query.split()
    if not words or len(words) > MOST_WORDS_OF_NAME:
        return []
    machines = visible_machines(visitor)
    for token in words:
        machines = machines.filter(Q(name__icontains=token) | Q(slug__icontains=token) | Q(lab__name__icontains=token))
    hits = [_hit(machine, query) for machine in machines.order_by("-pk")[:MOST_MACHINES]]
    return sorted(hits, key=lambda hit: (-hit.score, hit.entry.title, hit.entry.url))


def _hit(machine: Machine, query: str) -> SearchHit:
    lab, wanted, name = machine.lab, query.casefold(), machine.name.casefold()
    score = SAME if wanted in (name, machine.slug) else BEGINS if name.startswith(wanted) else HAS
    line = lab.name if lab.is_public else _("%(lab)s (private)") % {"lab": lab.name}
    entry = SearchEntry(kind=SearchKind.MACHINE, title=machine.name, url=machine.get_absolute_url(), line=line)
    return SearchHit(entry, score, "", ())
