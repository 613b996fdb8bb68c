"""Finds the sheets of cards anew, after the catalogue has learned a name."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from stackviz.catalog.match import CardName, match_cards
from stackviz.labs.models import Card

BATCH = 500

Facts = Mapping[str, Any]


def rematch_cards(cards: QuerySet[Card]) -> int:
    """Match these cards by what they reported -> how many now have another sheet, or one at all.

    Cards are taken in batches of BATCH: the whole may be every card ever reported.
    """
    changed = 0
    rows = cards.select_related("snapshot").order_by("pk").iterator(chunk_size=BATCH)
    for batch in _batches(rows):
        changed += _rematch(batch)
    return changed


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
    """What a stored card says about itself, as the catalogue's matching asks for it. `snapshot` should be loaded."""
    return card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, card.snapshot.facts)


def card_name(
    reported_name: str, vendor: str, memory_bytes: int | None, card_facts: Facts, machine_facts: Facts
) -> CardName:
    """GPU cores tell the bins of an Apple chip apart: its card says how many, or else the machine."""
    cores = card_facts.get("gpu_cores")
    if cores is None and vendor == "apple":
        cores = machine_facts.get("apple.gpu_cores")
    model = machine_facts.get("machine.model", "")
    return CardName(reported_name, vendor, memory_bytes, cores if isinstance(cores, int) else None, str(model))
