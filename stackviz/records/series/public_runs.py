"""What machines of public labs measured on whole cards, and answers made of it, cached until something changes.

Only machines of public labs, whoever asks, because pages made of these results are cached for all visitors. Which
results count and which is best is defined in `comparability`.

    measured_edition()                    moves with everything such an answer is made of
    public_runs(Q(benchmark="gemm"))      the results
    machines_of_runs(results)              their machines by primary key
    cached_for_edition(compute, "gemm")   `compute("gemm")`, remembered while the edition stays
    cached_for_strangers(user, state, draw)   what `draw(user)` renders, cached where `user` sees public labs alone
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar, TypeVarTuple, cast

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import CharField, Count, Max, Q, Subquery, Sum
from django.db.models.functions import Cast
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import LabReader, Visitor, visible_machines
from stackviz.records.series.comparability import is_of_whole_card
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import ResultDecision, Series
from stackviz.records.series.queries import comparable_runs
from stackviz.records.series.ranked_series import ranked_series
from stackviz.records.stacks.models import Edition
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.parts import cached_parts
from stackviz.web.request_memo import remember

# Of one edition: fields and benchmarks that are measured, 19 in November 2026, in each language.
MOST_ANSWERS = 64
STRANGERS_CACHE_S = 60  # what they see says how long ago a machine reported, and its name, which moves no edition

_ON_SEVERAL_CARDS = tuple(known.key for known in BENCHMARKS.values() if known.on_several_cards)

Answer = TypeVar("Answer")
Key = TypeVarTuple("Key")  # hashable


def public_runs(chosen: Q) -> list[Measurement]:
    """The runs that count of these series, of whole cards, on accelerators with a sheet, newest first.

    Of at most so many series as `ranked_series` allows, so that the cost does not grow with what is stored. Six queries
    at most.
    """
    public = visible_machines(AnonymousUser()).values("pk")
    on_cards = Q(card_index__isnull=False) | Q(benchmark__in=_ON_SEVERAL_CARDS)
    series = Series.objects.filter(chosen, on_cards, machine__in=public)
    return [run for run in comparable_runs(ranked_series(series)) if is_of_whole_card(run)]


def machines_of_runs(results: Iterable[Measurement]) -> Mapping[int, Machine]:
    """The machines of these results by primary key, with their labs, those that are still public. One query."""
    return visible_machines(AnonymousUser()).in_bulk({result.machine_id for result in results})


def measured_edition() -> tuple[object, ...]:
    """Moves with sheets, public machines, whatever is read or deleted of them, and decisions about results.

    One query beside the editions, once for each request.
    """
    return remember("measured edition", _measured_edition)


def _measured_edition() -> tuple[object, ...]:
    with connection.cursor() as cursor:
        cursor.execute(*_public_state())
        return CatalogueEdition.current(), *cursor.fetchall()


@cache
def _public_state() -> tuple[str, tuple[Any, ...]]:
    """The statement that sums up all public machines in one row, none without any: every page sends it."""
    decided = Subquery(ResultDecision.objects.order_by("-pk").values("pk")[:1])
    public = visible_machines(AnonymousUser()).order_by().values("lab__is_public")
    state = public.annotate(
        machines=Count("pk"),
        times_read_in_all=Sum("times_read"),
        newest_snapshots=Sum("latest_snapshot"),
        report=Max(Cast("latest_snapshot__report", CharField())),
        decided=Max(decided),
    )
    return state.query.sql_with_params()


def cached_for_edition(compute: Callable[[*Key], Answer], *key: *Key, is_translated: bool = True) -> Answer:
    """`compute(*key)`, where it must read nothing but what the edition moves with. The queries of `measured_edition`.

    An answer is never older than the edition of the request, and those of an earlier edition are forgotten with the
    first question for a later one. `is_translated`: whether the answer has words, so that each language has its own.
    """
    edition = measured_edition()
    _forget_others(edition)
    return cast("Answer", _cached(edition, get_language() if is_translated else None, compute, key))


@lru_cache(maxsize=1)
def _forget_others(_edition: tuple[object, ...]) -> None:
    """Runs once for each edition, as its own cache holds the last one only."""
    _cached.cache_clear()


@lru_cache(maxsize=MOST_ANSWERS)
def _cached(
    _edition: tuple[object, ...], _language: str | None, compute: Callable[..., object], key: tuple[object, ...]
) -> object:
    return compute(*key)


def cached_for_strangers(
    visitor: Visitor, state: tuple[object, ...], draw: Callable[[Visitor], tuple[str, ...]]
) -> tuple[SafeString, ...]:
    """The pieces of HTML that `draw` renders for this visitor.

    Whoever belongs to a lab, or sent a key of one, may see private machines: they get their own. Everybody else gets
    what was drawn for somebody without an account, while `state`, public machines, sheets and stacks stay as they are.
    """
    if visitor.is_authenticated or isinstance(visitor, LabReader):
        return tuple(map(SafeString, draw(visitor)))
    editions = (*measured_edition(), Edition.current())
    return cached_parts((*state, *editions), lambda: draw(AnonymousUser()), STRANGERS_CACHE_S)
