"""`4090 vs m3 max` -> the comparison of these two."""

import re

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.index import SearchHit, SearchIndex
from stackviz.records.catalog.asked_for import most_requested
from stackviz.web.address import comparison_query

MOST_NAMES = 6  # as many as a comparison holds
NEARLY = 0.05  # scores this close fit alike: what is asked for most is meant
_BETWEEN = re.compile(r"\s+(?:vs\.?|versus)\s+|\s*(?:对比|和|与)\s*", re.IGNORECASE)


def compared_entry(index: SearchIndex, query: str) -> SearchEntry | None:
    """The comparison that the query names; None where a name fits no accelerator with all its words."""
    names = [name for name in _BETWEEN.split(query) if name.strip()]
    if not 2 <= len(names) <= MOST_NAMES:
        return None
    chosen = [meant_accelerator(index.search(name)) for name in names]
    entries = [entry for entry in chosen if entry is not None]
    slugs = dict.fromkeys(entry.url.strip("/").rpartition("/")[2] for entry in entries)
    if len(entries) < len(names) or len(slugs) < 2:
        return None
    return SearchEntry(
        kind=SearchKind.PAGE,
        title=" vs. ".join(entry.title for entry in entries),
        url=f"{reverse('compare:page')}?{comparison_query(slugs)}",
        line=_("Side by side: memory, bandwidth, rates, power, price, stacks and results."),
    )


def meant_accelerator(hits: list[SearchHit]) -> SearchEntry | None:
    """Of the accelerators that have every word, and nearly the best score, the one asked for most."""
    fitting = [hit for hit in hits if hit.entry.kind is SearchKind.ACCELERATOR and not hit.missing]
    if not fitting:
        return None
    best = fitting[0].score
    ranks = {slug: rank for rank, slug in enumerate(most_requested())}
    near = [hit.entry for hit in fitting if hit.score >= best - NEARLY]
    return min(near, key=lambda entry: ranks.get(entry.url.strip("/").rpartition("/")[2], len(ranks)))
