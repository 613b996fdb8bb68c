"""Match stored cards again after a name was added to the catalogue."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from django.db import transaction
from django.db.models import Q, QuerySet

from stackviz.records.catalog.match import CardName, card_name, match_cards
from stackviz.records.catalog.models import Alias
from stackviz.records.labs.models import Card
from stackviz.report.rules.known_cards import normalized

BATCH = 500
AT_ONCE = 20_000  # cards matched within one request, which takes seconds; the rest is continued later


def rematch_cards(cards: QuerySet[Card]) -> int:
    """Match these cards again by their reported names. Returns how many changed their accelerator.

    Reads BATCH cards at a time, because the queryset may be all cards ever reported.
    """
    changed = 0
    rows = cards.select_related("snapshot").order_by("pk").iterator(chunk_size=BATCH)
    for batch in _batches(rows):
        changed += _rematch(batch)
    return changed


@dataclass(frozen=True, slots=True)
class Rematched:
    """`changed`: number of cards with another accelerator; `rest`: pk below which cards remain, None if done."""

    changed: int
    rest: int | None


def rematch_name(name: str, accelerators: Iterable[int] = (), *, below: int | None = None) -> Rematched:
    """Match the newest AT_ONCE cards with this reported name again, in any spelling.

    Only cards without an accelerator and those of `accelerators` can be affected. `below`: continue with the cards
    below this pk.
    """
    meant = normalized(name)
    known = Alias.objects.filter(normalized=meant).values_list("accelerator_id", flat=True)
    waiting, given = Q(accelerator__isnull=True), Q(accelerator__in={*accelerators, *known})
    spelled = {text for which in (waiting, given) for text in _spellings(meant, which)}
    if not spelled:
        return Rematched(0, None)
    cards = Card.objects.filter(waiting | given, reported_name__in=spelled)
    if below is not None:
        cards = cards.filter(pk__lt=below)
    newest = list(cards.order_by("-pk").values_list("pk", flat=True)[: AT_ONCE + 1])
    if len(newest) <= AT_ONCE:
        return Rematched(rematch_cards(cards), None)
    rest = newest[AT_ONCE - 1]
    return Rematched(rematch_cards(cards.filter(pk__gte=rest)), rest)


def _spellings(meant: str, which: Q) -> list[str]:
    texts = Card.objects.filter(which).order_by().values_list("reported_name", flat=True).distinct()
    return [text for text in texts if normalized(text) == meant]


def _batches(rows: Iterator[Card]) -> Iterator[list[Card]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


@transaction.atomic
def _rematch(cards: list[Card]) -> int:
    moved = []
    for card, match in zip(cards, match_cards([name_of(card) for card in cards]), strict=True):
        sheet = match.accelerator.pk if match.accelerator else None
        if (card.accelerator_id, card.match_how) != (sheet, match.how):
            card.accelerator_id, card.match_how = sheet, match.how
            moved.append(card)
    Card.objects.bulk_update(moved, ["accelerator", "match_how"])
    return len(moved)


def name_of(card: Card) -> CardName:
    """The attributes of a stored card that matching uses. `snapshot` should be loaded."""
    return card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, card.snapshot.facts)
