"""Which machine of a lab a report is from whose identity is new: the same computer is not to become another machine.

An agent in a container may see no more of its machine than cards, and after one is lost no longer the same. It says so
(`machine.recognised_by`); agents before that say at least that they are in a container.
"""

from collections import Counter

from stackviz.records.labs.models import Card, Machine
from stackviz.report.format import Report

__all__ = ["known_as"]

_BY_CARDS = "cards"


def known_as(lab_id: int, report: Report) -> int | None:
    """Primary key of the lab's machine that this report is from, None if none is told. At most two queries.

    That which had the identity that the cards alone give; of a machine that only its cards tell, that which reported
    more than half of them last.
    """
    by_cards = report.facts.get("machine.identity_by_cards")
    if by_cards:
        known = Machine.objects.filter(lab_id=lab_id, identity=by_cards).values_list("pk", "merged_into_id").first()
        if known:
            return known[1] or known[0]
    return _with_these_cards(lab_id, report) if _is_known_by_cards(report) else None


def _is_known_by_cards(report: Report) -> bool:
    source = report.facts.get("machine.recognised_by")
    return source == _BY_CARDS if source else "machine.container" in report.facts


def _with_these_cards(lab_id: int, report: Report) -> int | None:
    hashes = {card.uuid_hash for card in report.cards if card.uuid_hash and "mig_parent_index" not in card.facts}
    if not hashes:
        return None
    latest = Machine.objects.filter(lab_id=lab_id, latest_snapshot__isnull=False).values("latest_snapshot_id")
    cards = Card.objects.filter(snapshot__in=latest, uuid_hash__in=hashes).order_by()
    machines = Counter(
        machine_id for machine_id, _ in cards.values_list("snapshot__machine_id", "uuid_hash").distinct()
    )
    machine_id, most = machines.most_common(1)[0] if machines else (None, 0)
    return machine_id if 2 * most > len(hashes) else None
