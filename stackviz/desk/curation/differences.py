"""What a proposal changes, attribute by attribute, as text. No queries: works on rows already read."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA, disagreements
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.formula import Published
from stackviz.records.catalog.models import Proposal, SpecValue
from stackviz.records.catalog.table_imports import Difference


def formula_problem(value: SpecValue, current: SpecValue | None, published: Published) -> str:
    """Why the figure cannot be right, or "". `published`: what its sheet prefers, or would prefer.

    An unchanged figure, or one whose note explains why it is correct, is not checked.
    """
    if current is not None and current.amount == value.amount:
        return ""
    if value.note.startswith(NOT_BY_FORMULA) or (value.note and not value.is_preferred):
        return ""
    expected = disagreements(value, published)
    if not expected:
        return ""
    return _(
        "The value does not match its formula: %(expected)s. If it is correct, explain why in the note: “%(words)s …”."
    ) % {"expected": "; ".join(str(expectation) for expectation in expected), "words": NOT_BY_FORMULA}


Snapshot = Mapping[str, Any]


def snapshot(value: SpecValue) -> dict[str, Any]:
    """The content of a value as plain data."""
    return {
        "field": value.field,
        "value": value.value,
        "unit": value.unit,
        "condition": value.condition,
        "basis": str(value.basis),
        "source": value.source.title if value.source else value.said_by,
        "source_url": value.source.url if value.source else "",
        "note": value.note,
        "status": str(value.status),
        "is_preferred": value.is_preferred,
    }


def wanted(proposal: Proposal) -> dict[str, Any]:
    """The content of the value after approval."""
    is_retired = proposal.action == Proposal.Action.RETIRE
    status = SpecValue.Status.RETIRED if is_retired else SpecValue.Status.PUBLIC
    return {
        "field": proposal.field,
        "value": proposal.value,
        "unit": proposal.unit,
        "condition": proposal.condition,
        "basis": str(proposal.basis),
        "source": proposal.source.title if proposal.source else proposal.before.get("source", ""),
        "source_url": proposal.source.url if proposal.source else "",
        "note": proposal.note,
        "status": str(status),
        "is_preferred": proposal.is_preferred and not is_retired,
    }


def differences(old: Snapshot, new: Snapshot) -> tuple[Difference, ...]:
    """The attributes in which two snapshots differ; all that are not empty where there is no old one."""
    before, after = _printed(old), _printed(new)
    return tuple(
        Difference(name, label, before.get(name, ""), after.get(name, ""))
        for name, label in _labels()
        if before.get(name, "") != after.get(name, "")
    )


def unchanged_source_question(old: Snapshot, new: Snapshot) -> str:
    """A question about a figure that changes while its source does not; "" otherwise."""
    if not old or (old["value"], old["unit"]) == (new["value"], new["unit"]) or not new["source_url"]:
        return ""
    if (old["source"], old["source_url"]) != (new["source"], new["source_url"]):
        return ""
    return _("The figure changes but its source does not. Does “%(title)s” print the new figure?") % {
        "title": new["source"]
    }


def figure_text(content: Snapshot) -> str:
    """`3350 GB/s (dense)`; empty for a snapshot of nothing."""
    text = f"{content.get('value', '')} {content.get('unit', '')}".strip()
    condition = describe_condition(content.get("condition", ""))
    return f"{text} ({condition})" if condition else text


def field_title(name: str) -> str:
    """A field's title for people; a name the registry does not know as it is."""
    field = FIELDS.get(name)
    return str(field.title) if field else name


def _labels() -> tuple[tuple[str, str], ...]:
    return (
        ("field", _("Field")),
        ("figure", _("Value")),
        ("condition", _("Condition")),
        ("basis", _("Basis")),
        ("source", _("Source")),
        ("note", _("Note")),
        ("status", _("Status")),
        ("is_preferred", _("Preferred")),
    )


def _printed(content: Snapshot) -> dict[str, str]:
    if not content:
        return {}
    return {
        "field": field_title(content["field"]),
        "figure": f"{content['value']} {content['unit']}".strip(),
        "condition": describe_condition(content["condition"]),
        "basis": str(SpecValue.Basis(content["basis"]).label),
        "source": content["source"],
        "note": content["note"],
        "status": str(SpecValue.Status(content["status"]).label),
        "is_preferred": _("yes") if content["is_preferred"] else _("no"),
    }
