"""The prepared index of everything public, made once for each edition, language and process.

It is as fresh as the editions, which every request reads.
"""

import threading
from collections.abc import Iterator
from functools import lru_cache

from django.utils.translation import get_language

from stackviz.pages.search.index import SearchEntry, SearchIndex
from stackviz.pages.search.text_entries import (
    ENGLISH,
    accelerator_entries,
    benchmark_entries,
    chapter_entries,
    claim_entries,
    component_entries,
    field_entries,
    format_entries,
    host_entries,
    message_entries,
    model_entries,
    operator_entries,
    page_entries,
    rule_entries,
    stack_entries,
    term_entries,
)
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.hosts.models import HostEdition
from stackviz.records.stacks.models import Edition

MOST_INDEXES = 4  # two languages, and those of the editions before for requests in progress

_preparing = threading.Lock()


def search_index() -> SearchIndex:
    """The index in the reader's language, as of now. One query; a few more in a process that lacks it."""
    editions = f"{Edition.current()} {edition_of_cases()} {HostEdition.current()}"
    with _preparing:  # of threads that come at once one makes it
        return _prepared(editions, get_language() or ENGLISH)


@lru_cache(maxsize=MOST_INDEXES)
def _prepared(_editions: str, _language: str) -> SearchIndex:
    return SearchIndex(_public_entries())


def _public_entries() -> Iterator[SearchEntry]:
    """In the order in which those that match alike are listed."""
    yield from accelerator_entries(public_catalogue())
    yield from component_entries()
    yield from operator_entries()
    yield from term_entries()
    yield from chapter_entries()
    yield from field_entries()
    yield from message_entries()
    yield from benchmark_entries()
    yield from model_entries()
    yield from format_entries()
    yield from stack_entries()
    yield from host_entries()
    yield from rule_entries()
    yield from claim_entries()
    yield from page_entries()
