"""Make prices public and retire them. Of each seller and day one public price is preferred, as long as there is one.

The sheet is locked meanwhile, so that two decisions on one seller and day wait for each other. The history names who
entered a price as its author, `checked_by` who decided.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from stackviz.records.prices.price import Price


@dataclass(frozen=True, slots=True)
class PriceDecision:
    """Who decides, why, and when the list was shown that the prices were chosen from."""

    by: User
    reason: str
    seen_at: datetime


def approve_prices(prices: Iterable[Price], decision: PriceDecision) -> int:
    """Make public those in review that somebody else has entered and nobody has changed since they were seen.

    How many these were. Where one approval is enough (`CURATION_APPROVALS`) that may be one's own.
    """
    return sum(_decide(price, decision, was=Price.Status.REVIEW, becomes=Price.Status.PUBLIC) for price in prices)


def retire_prices(prices: Iterable[Price], decision: PriceDecision) -> int:
    """The same of public ones -> how many were retired. Another one of seller and day is preferred instead."""
    return sum(_decide(price, decision, was=Price.Status.PUBLIC, becomes=Price.Status.RETIRED) for price in prices)


@transaction.atomic
def _decide(price: Price, decision: PriceDecision, *, was: Price.Status, becomes: Price.Status) -> bool:
    apps.get_model("catalog", "Accelerator").objects.select_for_update().get(pk=price.accelerator_id)
    price, by, reason = Price.objects.get(pk=price.pk), decision.by, decision.reason
    is_own = price.proposed_by_id == by.pk
    has_changed = price.history.filter(history_date__gt=decision.seen_at).exists()
    if price.status != was or has_changed or (is_own and settings.CURATION_APPROVALS > 1):
        return False
    others = _public_of_the_same(price)
    price.status = becomes
    price.is_preferred = becomes == Price.Status.PUBLIC and not any(other.is_preferred for other in others)
    price.checked_by, price.checked_at = None if is_own else by, timezone.now()
    _save(price, reason, price.proposed_by or by)
    if becomes == Price.Status.RETIRED and others and not any(other.is_preferred for other in others):
        others[0].is_preferred = True
        _save(others[0], f"preferred instead of {price.label}: {reason}", by)
    return True


def _public_of_the_same(price: Price) -> list[Price]:
    """The other public prices of the seller and day, the first entered first."""
    rows = Price.objects.filter(accelerator=price.accelerator_id, day=price.day, status=Price.Status.PUBLIC)
    return [row for row in rows.exclude(pk=price.pk).order_by("pk") if row.slot == price.slot]


def _save(price: Price, reason: str, author: User) -> None:
    price._history_user = author  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history's
    price.set_change_reason(reason)
    price.save()
