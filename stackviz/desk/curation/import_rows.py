"""A row of a table as a proposal, or what is wrong with it, by column. Nothing is written."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import tablib
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS
from stackviz.desk.curation.differences import formula_problem, snapshot
from stackviz.desk.curation.propose import drawn_up
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.files import BASES, STATUSES, SpecLine
from stackviz.records.catalog.formula import Published
from stackviz.records.catalog.models import Accelerator, Proposal, Source, SpecValue
from stackviz.records.curated.rows import CONTROLS, is_readable
from stackviz.web.http.download import unsafe_text
from stackviz.web.table_file import formula_problems

COLUMNS: tuple[str, ...] = tuple(column.name for column in fields(SpecLine))
ROW_NUMBER = "row"
_LONGEST = {"value": 300, "unit": 12, "note": 600}
Key = tuple[int, str, str, int | None]  # accelerator, field, condition, source
Slot = tuple[int, str, str]  # accelerator, field, condition


class ImportReferences:
    """What rows of a table may refer to, read at once: five queries for any number of rows."""

    def __init__(self) -> None:
        self.accelerators: dict[str, Accelerator] = {}
        self.sources: dict[str, Source] = {}
        self.values: dict[Key, list[SpecValue]] = defaultdict(list)
        self.proposed: set[int | None] = set()
        self.added: set[Key] = set()
        self.rows: dict[Key, int] = {}
        self.preferred: dict[Slot, int] = {}
        self.public: dict[Slot, list[SpecValue]] = defaultdict(list)
        self.wanted: dict[int, SpecValue | ValidationError] = {}
        self.published: dict[int, Published] = {}

    @classmethod
    def about(cls, dataset: tablib.Dataset) -> "ImportReferences":
        known = cls()
        known.accelerators = {row.slug: row for row in Accelerator.objects.all()}
        known.sources = {row.key: row for row in Source.objects.all()}
        named = {known.accelerators[slug].pk for slug in set(dataset["device"]) if slug in known.accelerators}
        rows = SpecValue.objects.filter(accelerator__in=named).select_related("source", "accelerator")
        values = list(rows.order_by("pk"))
        for value in values:
            known.values[_key(value)].append(value)
            if value.status == SpecValue.Status.PUBLIC:
                known.public[_slot(value)].append(value)
        for proposal in Proposal.objects.filter(state__in=Proposal.OPEN, accelerator__in=named):
            if proposal.action == Proposal.Action.ADD:
                known.added.add((proposal.accelerator_id, proposal.field, proposal.condition, proposal.source_id))
            else:
                known.proposed.add(proposal.target_id)
        known.read(dataset, values)
        return known

    def read(self, dataset: tablib.Dataset, values: Iterable[SpecValue]) -> None:
        """Read every row as a value or as its problems, and each sheet as it would be, for the formulas."""
        sheets: dict[int, dict[tuple[str, str], SpecValue]] = defaultdict(dict)
        for value in values:
            if value.is_preferred:
                sheets[value.accelerator_id][value.field, value.condition] = value
        for row in dataset.dict:
            try:
                wanted = self.wanted[row[ROW_NUMBER]] = self._value(_cells(row))
            except ValidationError as error:
                self.wanted[row[ROW_NUMBER]] = error
            else:
                if wanted.is_preferred:
                    sheets[wanted.accelerator_id][wanted.field, wanted.condition] = wanted
        slugs = {accelerator.pk: slug for slug, accelerator in self.accelerators.items()}
        self.published = {pk: published_by(slugs[pk], sheet.values()) for pk, sheet in sheets.items()}

    def proposal_for(self, row: dict[str, Any]) -> Proposal:
        """Raises ValidationError by column."""
        number = row[ROW_NUMBER]
        value = self.wanted[number]
        if isinstance(value, ValidationError):
            raise value
        key = _key(value)
        if key in self.rows and value.source is not None:  # there may be several values without a source
            raise ValidationError({"": _("Row %(n)d already has this value.") % {"n": self.rows[key]}})
        self.rows[key] = number
        self._one_preferred(value, number)
        current = self._current(value)
        if current is not None and _content(value) == _content(current):
            return Proposal(accelerator=value.accelerator, field=value.field, before=snapshot(current))
        _check_status(row["status"], current)
        if current.pk in self.proposed if current else key in self.added:
            raise ValidationError(
                {"": _("Another change to this value is already proposed. It must be decided first.")}
            )
        if current:
            value.pk = current.pk
        if value.status != SpecValue.Status.RETIRED:
            nothing = Published(value.accelerator.slug, {}, {})
            problem = formula_problem(value, current, self.published.get(value.accelerator_id, nothing))
            if problem:
                raise ValidationError({"value": problem})
        return drawn_up(value, current)

    def _value(self, cells: dict[str, str]) -> SpecValue:
        """The row as a value. Raises ValidationError with all problems."""
        accelerator, source = self.accelerators.get(cells["device"]), self.sources.get(cells["source"])
        problems = _cell_problems(cells)
        if accelerator is None:
            problems["device"] = _("Unknown accelerator %(slug)r.") % {"slug": cells["device"]}
        if cells["source"] and source is None:
            problems["source"] = _("Unknown source %(key)r. Add it first.") % {"key": cells["source"]}
        value = SpecValue(
            field=cells["field"],
            value=cells["value"],
            unit=cells["unit"],
            condition=cells["condition"],
            basis=cells["basis"],
            source=source,
            note=cells["note"],
            status=SpecValue.Status.PUBLIC if cells["status"] == "alternative" else cells["status"],
            is_preferred=cells["status"] == "public",
        )
        try:
            value.normalise()
        except ValidationError as error:
            problems = {name: " ".join(texts) for name, texts in error.message_dict.items()} | problems
        if "unit" in problems:
            problems.pop("value", None)  # it says the same
        if problems or accelerator is None:
            raise ValidationError(problems)
        value.accelerator = accelerator
        return value

    def _one_preferred(self, value: SpecValue, number: int) -> None:
        if value.is_preferred:
            slot = _slot(value)
            if slot in self.preferred:
                text = _("Row %(n)d is already the preferred value. Make this row an alternative.") % {
                    "n": self.preferred[slot]
                }
                raise ValidationError({"status": text})
            self.preferred[slot] = number

    def displaced_by(self, proposal: Proposal) -> tuple[SpecValue, int] | None:
        """The value that loses its preferred mark to this proposal, and how many further sources state the same figure.

        None where the proposal takes no mark, or has it already.
        """
        if not proposal.is_preferred or proposal.action == Proposal.Action.RETIRE:
            return None
        slot = self.public.get((proposal.accelerator_id, proposal.field, proposal.condition), [])
        loser = next((value for value in slot if value.is_preferred and value.pk != proposal.target_id), None)
        if loser is None:
            return None
        alike = [value for value in slot if (value.value, value.unit) == (loser.value, loser.unit)]
        return loser, sum(value.pk not in (loser.pk, proposal.target_id) for value in alike)

    def _current(self, value: SpecValue) -> SpecValue | None:
        """The existing value of the row: same accelerator, field, condition and source."""
        stored = self.values.get(_key(value), [])
        alike = [row for row in stored if _content(row) == _content(value)]
        alike = alike or [row for row in stored if (row.value, row.unit) == (value.value, value.unit)]
        if len(alike or stored) > 1 and value.source is not None:
            text = _("This source has several values for this field. Edit the right one by hand.")
            raise ValidationError({"value": text})
        return next(iter(alike or stored), None)


def _slot(value: SpecValue) -> Slot:
    return value.accelerator_id, value.field, value.condition


def _key(value: SpecValue) -> Key:
    return value.accelerator_id, value.field, value.condition, value.source_id


def _content(value: SpecValue) -> tuple[object, ...]:
    return (value.value, value.unit, str(value.basis), value.note, str(value.status), value.is_preferred)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    """The row's cells as text. Raises ValidationError for a wrong number of them, and for formulas."""
    if row["cells"] != len(COLUMNS):
        counts = {"n": row["cells"], "wanted": len(COLUMNS)}
        raise ValidationError({"": _("The row has %(n)d cells, not %(wanted)d.") % counts})
    if formulas := formula_problems({name: row[name] for name in COLUMNS}):
        raise ValidationError(formulas)
    return {name: unsafe_text(row[name]) for name in COLUMNS}


def _cell_problems(cells: dict[str, str]) -> dict[str, str]:
    """What is wrong with single cells."""
    problems = {}
    if cells["status"] not in (*STATUSES, "draft"):
        problems["status"] = _("The status must be one of %(known)s.") % {"known": ", ".join(STATUSES)}
    if cells["basis"] not in BASES:
        problems["basis"] = _("The basis must be one of %(known)s.") % {"known": ", ".join(BASES)}
    if not cells["value"]:
        problems["value"] = _("The value is missing.")
    for name, most in _LONGEST.items():
        if len(cells[name]) > most:
            problems[name] = _("Longer than %(n)d characters.") % {"n": most}
    unreadable = {name: str(is_readable.message) for name, text in cells.items() if CONTROLS.search(text)}
    return problems | unreadable | _unit_problem(cells["field"], cells["unit"])


def _unit_problem(field_name: str, unit: str) -> dict[str, str]:
    """The registry names the value where a unit does not fit; in a table the unit has a column of its own."""
    field = FIELDS.get(field_name)
    if field is None:
        return {}
    if field.is_text:
        return {"unit": _("%(field)s is text and has no unit.") % {"field": field.name}} if unit else {}
    if unit not in UNITS or not unit or UNITS[unit].si != UNITS[field.unit].si:
        named = {"field": field.name, "unit": field.unit, "other": unit}
        return {"unit": _("%(field)s is measured in %(unit)s, not in %(other)r.") % named}
    return {}


def _check_status(status: str, current: SpecValue | None) -> None:
    if status == "retired" and current is None:
        raise ValidationError({"status": _("No matching value to retire.")})
    if status not in ("public", "alternative", "retired"):
        text = _("The status must be public, alternative or retired; values with another status cannot be imported.")
        raise ValidationError({"status": text})
