"""Describe one step of a dated price: what a seller asked for an accelerator, of which day, and what became of it."""

from typing import Any

from django.utils.translation import gettext as _

from stackviz.accelerators.changes.describe import entry_of, happened
from stackviz.accelerators.changes.entry import PRICES, Entry
from stackviz.accelerators.changes.steps import LogStep
from stackviz.catalog.price import Price, money


def tell_price(step: LogStep) -> Entry | None:
    """The step as an entry without `slug`; None where the public saw no difference."""
    after, before = step.record, step.before
    if before is not None and before.accelerator_id != after.accelerator_id:
        before = None
    is_public = after.status == Price.Status.PUBLIC
    was_public = before is not None and before.status == Price.Status.PUBLIC
    what = happened(step, is_public, was_public)
    if what == "withdrawn" and after.status == Price.Status.RETIRED:
        what = "retired"
    is_shown_after = is_public and what != "removed"
    old = _amount_and_day(after if what == "removed" else before) if was_public or what == "removed" else ""
    new = _amount_and_day(after) if is_shown_after else ""
    details = _differences(before, after) if what == "changed" else ()
    if what == "changed" and old == new and not details:
        if before.is_preferred == after.is_preferred:
            return None
        what = "preferred" if after.is_preferred else "alternative"
    old = old if old != new else ""
    if not what:
        return None
    source = (after if is_shown_after else before or after).source
    return entry_of(
        step,
        what,
        field=PRICES,
        title=str(Price.Kind(after.kind).label),
        condition=_seller(after),
        old=old,
        new=new,
        details=details,
        source_title=source.title if source else "",
        source_url=source.url if source else "",
    )


def _amount_and_day(record: Any) -> str:  # noqa: ANN401 - a record of the history
    """`6.88 USD, 2025-11-30`; `55.04 USD for 8, 2025-11-30` where several cards were priced together."""
    amount = f"{money(record.amount)} {record.currency}"
    if record.cards > 1:
        amount = _("%(amount)s for %(cards)s") % {"amount": amount, "cards": record.cards}
    return f"{amount}, {record.day:%Y-%m}" if record.is_month else f"{amount}, {record.day:%Y-%m-%d}"


def _differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401 - records of the history
    """The differences other than amount, cards and day, in words."""
    differences = []
    if (before.seller, before.offer) != (after.seller, after.offer):
        differences.append(_("previous seller: %(seller)s") % {"seller": _seller(before)})
    if before.source_id != after.source_id and before.source:
        differences.append(_("previous source: %(title)s") % {"title": before.source.title})
    if before.note != after.note:
        differences.append(_("note: %(note)s") % {"note": after.note} if after.note else _("note removed"))
    return tuple(differences)


def _seller(record: Any) -> str:  # noqa: ANN401 - a record of the history
    return ", ".join(filter(None, [record.seller, record.offer]))
