"""Describe one step of the log: who did it, what the public saw before and after, why and from which source."""

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import unit_label
from stackviz.pages.accelerators.changes.entry import NAMES, SHEETS, Entry
from stackviz.pages.accelerators.changes.steps import CITED_RANK, NAME_RANK, PRICE_RANK, SHEET_RANK, VALUE_RANK, LogStep
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.match import describe_needs
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.people import public_name
from stackviz.records.curated.change import LOADED, own_reason

_PREFIX = {  # of an entry's key
    VALUE_RANK: "value",
    NAME_RANK: "name",
    SHEET_RANK: "accelerator",
    PRICE_RANK: "price",
    CITED_RANK: "cited",
}
_CHECKED = (VALUE_RANK, PRICE_RANK)  # what a second person approves
_PUBLIC, _RETIRED = SpecValue.Status.PUBLIC, SpecValue.Status.RETIRED  # prices have the same


def tell(step: LogStep) -> Entry | None:
    """The step of a value, a name or a sheet as an entry without `slug`; None where the public saw no difference.

    `accelerator` is left "" where it is the name the accelerator has now.
    """
    telling = {VALUE_RANK: _tell_value, NAME_RANK: _tell_name, SHEET_RANK: _tell_sheet}
    return telling[step.position.rank](step)


def entry_of(step: LogStep, what: str, **fields: Any) -> Entry:  # noqa: ANN401 - the fields of an Entry
    """The entry of a step, with who made it, when and why."""
    record = step.record
    return Entry(
        key=f"{_PREFIX[step.position.rank]}-{record.history_id}",
        when=record.history_date,
        who=_who(step),
        what=what,
        reason=_reason(record),
        **fields,
    )


def _who(step: LogStep) -> str:
    """Who made the change, and who approved it if a second person did."""
    record, before = step.record, step.before
    if record.history_user:
        who = public_name(record.history_user)
        checker = record.checked_by if step.position.rank in _CHECKED else None
        if checker is None or checker == record.history_user:
            return who
        if before is not None and before.checked_at == record.checked_at:
            return who  # checked on another occasion
        return _("%(who)s, approved by %(other)s") % {"who": who, "other": public_name(checker)}
    if (record.history_change_reason or "").startswith(LOADED):
        return _("the catalogue's files")
    return _("not recorded")


def _reason(record: Any) -> str:  # noqa: ANN401
    return own_reason(record.history_change_reason)


def _happened(step: LogStep, is_public: bool, was_public: bool) -> str:  # noqa: FBT001 - the two sides of a step
    if step.record.history_type == "-":
        return "removed" if is_public else ""
    if is_public:
        return "changed" if was_public else "added"
    return "withdrawn" if was_public else ""


def tell_decided(
    step: LogStep,
    figure: Callable[[Any], str],
    differences: Callable[[Any, Any], tuple[str, ...]],
    describe: Callable[[Any], dict[str, str]],
) -> Entry | None:
    """A step of what is in review, public or retired, and preferred or not; None where the public saw no difference.

    `figure` of a record, `differences` of two other than that, `describe` of the record that the public saw: the fields
    of an Entry that say what it is.
    """
    after, before = step.record, step.before
    is_public = after.status == _PUBLIC
    if before is not None and before.accelerator_id != after.accelerator_id:
        before = None  # it came from another sheet, which may not be public
    was_public = before is not None and before.status == _PUBLIC
    what = _happened(step, is_public, was_public)
    if what == "withdrawn" and after.status == _RETIRED:
        what = "retired"
    is_shown_after = is_public and what != "removed"
    old = figure(after if what == "removed" else before) if was_public or what == "removed" else ""
    new = figure(after) if is_shown_after else ""
    details = differences(before, after) if what == "changed" else ()
    if what == "changed" and old == new and not details:
        if before.is_preferred == after.is_preferred:
            return None
        what = "preferred" if after.is_preferred else "alternative"
    if not what:
        return None
    source = after.source if is_shown_after else (before or after).source
    return entry_of(
        step,
        what,
        old=old if old != new else "",
        new=new,
        details=details,
        source_title=source.title if source else "",
        source_url=source.url if source else "",
        **describe(after if is_public else before or after),
    )


def previous_source(before: Any, after: Any) -> list[str]:  # noqa: ANN401 - records of a history
    """The source before, in words, where there was another one."""
    is_other = before.source_id != after.source_id and before.source
    return [_("previous source: %(title)s") % {"title": before.source.title}] if is_other else []


def new_note(before: Any, after: Any) -> list[str]:  # noqa: ANN401 - records of a history
    """The note, in words, where it is another one."""
    if before.note == after.note:
        return []
    return [_("note: %(note)s") % {"note": after.note} if after.note else _("note removed")]


def _tell_value(step: LogStep) -> Entry | None:
    field = step.record.field
    registered = FIELDS.get(field)

    def describe(record: Any) -> dict[str, str]:  # noqa: ANN401
        title = registered.words[0] if registered else field
        return {"field": field, "title": title, "condition": describe_condition(record.condition)}

    return tell_decided(step, _figure, _differences, describe)


def _figure(record: Any) -> str:  # noqa: ANN401
    return f"{record.value} {unit_label(record.unit)}".rstrip()


def _differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The differences other than the figure of a value, in words."""
    differences = []
    if before.condition != after.condition:
        old, new = describe_condition(before.condition) or _("none"), describe_condition(after.condition) or _("none")
        differences.append(_("condition: %(old)s → %(new)s") % {"old": old, "new": new})
    differences += previous_source(before, after)
    if before.basis != after.basis:
        differences.append(f"{SpecValue.Basis(before.basis).label} → {SpecValue.Basis(after.basis).label}")
    if before.field != after.field and before.field in FIELDS:
        differences.append(_("previously entered as %(field)s") % {"field": FIELDS[before.field].words[0]})
    return (*differences, *new_note(before, after))


def _tell_name(step: LogStep) -> Entry | None:
    """A step of a name, or None where the public saw no difference: without a source it is not printed."""
    after, before = step.record, step.before
    if before is not None and before.accelerator_id != after.accelerator_id:
        before = None
    was_printed = before is not None and before.source_id is not None
    what = _happened(step, after.source_id is not None, was_printed)
    old = name_with_needs(after if what == "removed" else before) if what not in ("", "added") else ""
    new = name_with_needs(after) if what in ("added", "changed") else ""
    if old == new:
        return None
    source = (after if after.source_id else before or after).source
    return entry_of(
        step,
        what,
        field=NAMES,
        title=_("name"),
        old=old,
        new=new,
        source_title=source.title if source else "",
        source_url=source.url if source else "",
    )


def name_with_needs(alias: Any) -> str:  # noqa: ANN401 - an Alias or a record of one
    """`Apple M3 Max, with 30 GPU cores`."""
    return ", ".join([alias.name, *describe_needs(alias)])


_SHEET_COLUMNS = {
    "name": gettext_lazy("name"),
    "slug": gettext_lazy("address"),
    "kind": gettext_lazy("kind"),
    "family": gettext_lazy("family"),
}


def _tell_sheet(step: LogStep) -> Entry | None:
    after, before = step.record, step.before
    was_public = before is not None and before.is_public
    what = _happened(step, after.is_public, was_public)
    details = []
    if what == "changed":
        details = [
            f"{title}: {getattr(before, column) or '–'} → {getattr(after, column) or '–'}"
            for column, title in _SHEET_COLUMNS.items()
            if getattr(before, column) != getattr(after, column)
        ]
        if before.vendor_id != after.vendor_id:
            details.append(_("vendor: %(old)s → %(new)s") % {"old": before.vendor, "new": after.vendor})
    if not what or (what == "changed" and not details):
        return None
    return entry_of(
        step,
        what,
        accelerator=after.name if after.is_public else before.name,
        field=SHEETS,
        title=_("accelerator"),
        details=tuple(details),
    )
