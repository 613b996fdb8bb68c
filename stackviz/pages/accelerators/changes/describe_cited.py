"""Describe one step of a cited result: what became of it, the figure before and after, and a link to its page."""

from typing import Any

from django.utils.translation import gettext as _

from stackviz.pages.accelerators.changes.describe import entry_of, new_note, previous_source, tell_decided
from stackviz.pages.accelerators.changes.entry import CITED, PRICES, Entry
from stackviz.pages.accelerators.changes.steps import LogStep
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address, setting_text, software_text
from stackviz.records.prices.price import Price, day_words, money


def tell_price(step: LogStep) -> Entry | None:
    """The step as an entry without `slug`; None where the public saw no difference."""
    return tell_decided(step, _amount_and_day, _price_differences, _describe_price)


def _describe_price(record: Any) -> dict[str, str]:  # noqa: ANN401 - a record of the history
    return {"field": PRICES, "title": str(Price.Kind(record.kind).label), "condition": _seller(record)}


def _amount_and_day(record: Any) -> str:  # noqa: ANN401 - a record of the history
    """`6.88 USD, 2025-11-30`; `55.04 USD for 8, undated` where several cards were priced together on no named day."""
    amount = f"{money(record.amount)} {record.currency}"
    if record.cards > 1:
        amount = _("%(amount)s for %(cards)s") % {"amount": amount, "cards": record.cards}
    return f"{amount}, {day_words(record.day, is_month=record.is_month)}"


def _price_differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401 - records of the history
    """The differences other than amount, cards and day, in words."""
    is_other_seller = (before.seller, before.offer) != (after.seller, after.offer)
    sellers = [_("previous seller: %(seller)s") % {"seller": _seller(before)}] if is_other_seller else []
    return (*sellers, *previous_source(before, after), *new_note(before, after))


def _seller(record: Any) -> str:  # noqa: ANN401 - a record of the history
    return ", ".join(filter(None, [record.seller, record.offer]))


_STATE = CitedResult.State


def tell_cited(step: LogStep) -> Entry | None:
    """The step as an entry; None where nothing that is shown differs. Its `url` holds while the result is there.

    `accelerator` is the reported name where no sheet is certain.
    """
    after, before = step.record, step.before
    what = _what_happened(after, before)
    old = _cited_figure(after if what == "removed" else before) if what not in ("added", "accepted") else ""
    new = _cited_figure(after) if what in ("added", "changed", "accepted", "doubted") else ""
    details = _cited_differences(before, after) if before is not None and what != "removed" else ()
    if what == "changed" and old == new and not details:
        return None
    benchmark = CITED_BENCHMARKS.get(after.benchmark)
    return entry_of(
        step,
        what,
        accelerator="" if after.accelerator_id else after.reported_name,
        field=CITED,
        title=str(benchmark.title) if benchmark else after.benchmark,
        condition=_cited_setting(after),
        old=old if old != new else "",
        new=new,
        details=details,
        source_title=after.source.title if after.source else "",
        source_url=after.source.url if after.source else "",
        url=result_address(after.instance),
    )


def _what_happened(after: Any, before: Any) -> str:  # noqa: ANN401 - records of a history
    if after.history_type == "-":
        return "removed"
    if after.history_type == "+":
        return "added"
    states = (before.state if before is not None else after.state, after.state)
    if states[0] != states[1] and after.state in (_STATE.WITHDRAWN, _STATE.DOUBTFUL):
        return "withdrawn" if after.state == _STATE.WITHDRAWN else "doubted"
    is_accepted = states[0] in (_STATE.WITHDRAWN, _STATE.DOUBTFUL) and after.state == _STATE.PUBLIC
    return "accepted" if is_accepted else "changed"


def _cited_figure(record: Any) -> str:  # noqa: ANN401
    return f"{record.value} {record.unit}" if record is not None else ""


def _cited_setting(record: Any) -> str:  # noqa: ANN401
    benchmark = CITED_BENCHMARKS.get(record.benchmark)
    return setting_text(benchmark, record.params) if benchmark and record.params else ""


def _cited_differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The differences other than the figure, in words. Names no sheet: the one before may not be public."""
    columns = (
        (_("parameters"), _cited_setting(before), _cited_setting(after)),
        (_("reported name"), before.reported_name, after.reported_name),
        (_("devices"), str(before.count), str(after.count)),
        (_("software"), software_text(before.software), software_text(after.software)),
        (_("date"), str(before.date or ""), str(after.date or "")),
    )
    differences = [f"{title}: {old or '–'} → {new or '–'}" for title, old, new in columns if old != new]
    if before.accelerator_id != after.accelerator_id:
        matched = _("matched to another spec sheet")
        differences.append(matched if after.accelerator_id else _("no longer matched to a spec sheet"))
    return (*differences, *previous_source(before, after), *new_note(before, after))
