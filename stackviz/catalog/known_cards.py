"""The names of the catalogue as the rules look them up; `manage.py write_card_table` writes them into their package."""

import csv
from collections.abc import Iterable
from dataclasses import astuple
from io import StringIO

from stackviz.catalog.models import Alias, SpecValue
from stackviz.rules.known_cards import COLUMNS, KnownCard

_FIELDS = ("compute_capability", "memory_gb")


def known_cards() -> frozenset[KnownCard]:
    """Every name a device reports that is in a public sheet, with what the sheet says in public. Two queries."""
    published: dict[tuple[int, str], set[str]] = {}
    public = SpecValue.objects.filter(field__in=_FIELDS, status=SpecValue.Status.PUBLIC)
    for accelerator, field, value, amount in public.values_list("accelerator", "field", "value", "amount"):
        published.setdefault((accelerator, field), set()).add(value if field == _FIELDS[0] else str(int(amount or 0)))
    aliases = Alias.objects.filter(accelerator__is_public=True).exclude(kind=Alias.Kind.MACHINE)
    aliases = aliases.select_related("accelerator__vendor")
    return frozenset(_known(alias, published) for alias in aliases)


def _known(alias: Alias, published: dict[tuple[int, str], set[str]]) -> KnownCard:
    """Where the sheet lists several variants, a figure is not this card's."""
    capability = published.get((alias.accelerator_id, "compute_capability"), set())
    memory = published.get((alias.accelerator_id, "memory_gb"), set())
    printed = int(next(iter(memory))) if len(memory) == 1 else 0
    conditions = {"memory": alias.memory_bytes, "cores": alias.gpu_cores, "more": alias.kind == Alias.Kind.UNDECIDED}
    return KnownCard(
        reported_name=alias.name,
        vendor=alias.accelerator.vendor.slug,
        accelerator=alias.accelerator.slug,
        memory_bytes=alias.memory_bytes or printed or None,
        compute_capability=next(iter(capability)) if len(capability) == 1 else "",
        gpu_cores=alias.gpu_cores,
        needs=" ".join(name for name, is_needed in conditions.items() if is_needed),
    )


def card_table(cards: Iterable[KnownCard]) -> str:
    """The cards as the rules' file has them."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for card in sorted(cards, key=lambda card: (card.accelerator, card.reported_name, card.memory_bytes or 0)):
        writer.writerow(["" if value is None else str(value) for value in astuple(card)])
    return out.getvalue()
