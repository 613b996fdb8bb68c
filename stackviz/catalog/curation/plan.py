"""What a table of values would change: every row new, changed, the same, or refused with column and reason.

`ValueResource` is django-import-export's resource for values, in both directions. Its rows become proposals, never
values: `save_instance` draws one up, and `bulk_create` writes them only when the run is not dry.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tablib
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from import_export import resources
from import_export.fields import Field
from import_export.results import RowResult

from stackviz.catalog.by_formula import published_by
from stackviz.catalog.curation.differ import Difference, differences, field_title, figure, snapshot, wanted
from stackviz.catalog.curation.propose import drawn_up
from stackviz.catalog.curation.prove import formula_problem
from stackviz.catalog.curation.read import COLUMNS, Row
from stackviz.catalog.fields import FIELDS
from stackviz.catalog.files import BASES, STATUSES
from stackviz.catalog.formulas import Published
from stackviz.catalog.models import Accelerator, Proposal, Source, SpecValue
from stackviz.units import UNITS
from stackviz.web.download import unsafe_text

NEW, CHANGED, SAME, REFUSED = "new", "changed", "same", "refused"
KINDS = (NEW, CHANGED, SAME, REFUSED)
ROW_NUMBER = "row"
_COLUMN_OF = {"accelerator": "device", "is_preferred": "status", NON_FIELD_ERRORS: ""}
_LONGEST = {"value": 300, "unit": 12, "note": 600}
Key = tuple[int, str, str, int | None]  # accelerator, field, condition, source


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """One row of the table and what becomes of it. `problems`: (column, why), for a refused row."""

    number: int
    kind: str
    device: str
    field: str
    action: str = ""
    figure: str = ""
    differences: tuple[Difference, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a table would do. `fingerprint` is another one as soon as anything of it is."""

    rows: tuple[PlannedRow, ...]
    fingerprint: str

    def of(self, kind: str) -> tuple[PlannedRow, ...]:
        return tuple(row for row in self.rows if row.kind == kind)

    @property
    def counts(self) -> dict[str, int]:
        return {kind: len(self.of(kind)) for kind in KINDS}

    @property
    def proposal_count(self) -> int:
        return len(self.of(NEW)) + len(self.of(CHANGED))


def dataset_of(rows: Iterable[Row]) -> tablib.Dataset:
    """The rows as tablib has them, with their numbers. A row with too few or too many cells keeps the first ones."""
    dataset = tablib.Dataset(headers=[ROW_NUMBER, *COLUMNS, "cells"])
    for row in rows:
        cells = [*row.cells[: len(COLUMNS)], *[""] * (len(COLUMNS) - len(row.cells))]
        dataset.append([row.number, *cells, len(row.cells)])
    return dataset


class ValueResource(resources.ModelResource):  # type: ignore[misc]  # it has no types
    """Values as the curated files have them, a column each."""

    device = Field("accelerator__slug", "device")
    field = Field("field", "field")
    value = Field("value", "value")
    unit = Field("unit", "unit")
    condition = Field("condition", "condition")
    basis = Field("basis", "basis")
    status = Field(column_name="status")
    source = Field("source__key", "source")
    note = Field("note", "note")

    class Meta:
        model = SpecValue
        fields = export_order = import_order = COLUMNS
        import_id_fields = ("device", "field", "condition", "source")
        use_bulk = True  # no savepoint a row: all or nothing
        batch_size = 500
        skip_diff = True  # ours says it better
        report_skipped = True
        store_instance = True

    def __init__(self, **about: Any) -> None:  # noqa: ANN401
        """`about`: proposed_by, reason, batch of the proposals made."""
        super().__init__()
        self.about = about
        self.known = Known()

    def dehydrate_status(self, value: SpecValue) -> str:
        if value.status == SpecValue.Status.PUBLIC:
            return "public" if value.is_preferred else "alternative"
        return str(value.status)

    def before_import(self, dataset: tablib.Dataset, **_kwargs: Any) -> None:  # noqa: ANN401
        self.known = Known.about(dataset)

    def get_or_init_instance(self, _loader: Any, row: dict[str, Any]) -> tuple[Proposal, bool]:  # noqa: ANN401
        """The proposal this row comes to; one without an action changes nothing. Raises ValidationError by column."""
        proposal = self.known.proposal_for(row)
        for name, said in self.about.items():
            setattr(proposal, name, said)
        return proposal, True

    def import_instance(self, instance: Proposal, row: dict[str, Any], **kwargs: Any) -> None:  # noqa: ANN401
        """It was made from the row already."""

    def skip_row(self, instance: Proposal, *_args: Any) -> bool:  # noqa: ANN401
        return not instance.action

    def after_import_row(self, row: dict[str, Any], row_result: RowResult, **_kwargs: Any) -> None:  # noqa: ANN401, ARG002
        proposal = row_result.instance
        if proposal.action and proposal.action != Proposal.Action.ADD:
            row_result.import_type = RowResult.IMPORT_TYPE_UPDATE

    def bulk_create(
        self,
        _using_transactions: bool,  # noqa: FBT001 - as the package calls it
        dry_run: bool,  # noqa: FBT001
        _raise_errors: bool,  # noqa: FBT001
        batch_size: int | None = None,
        result: Any = None,  # noqa: ANN401, ARG002
    ) -> None:
        """Errors go up: nothing of a table is written unless all of it is."""
        if not dry_run:
            Proposal.objects.bulk_create(self.create_instances, batch_size=batch_size)
        self.create_instances.clear()


class Known:
    """What rows of a table may refer to, read at once: five queries for any number of rows."""

    def __init__(self) -> None:
        self.accelerators: dict[str, Accelerator] = {}
        self.sources: dict[str, Source] = {}
        self.values: dict[Key, list[SpecValue]] = defaultdict(list)
        self.proposed: set[int | None] = set()
        self.added: set[Key] = set()
        self.rows: dict[Key, int] = {}
        self.preferred: dict[tuple[int, str, str], int] = {}
        self.wanted: dict[int, SpecValue | ValidationError] = {}
        self.published: dict[int, Published] = {}

    @classmethod
    def about(cls, dataset: tablib.Dataset) -> "Known":
        known = cls()
        known.accelerators = {row.slug: row for row in Accelerator.objects.all()}
        known.sources = {row.key: row for row in Source.objects.all()}
        named = {known.accelerators[slug].pk for slug in set(dataset["device"]) if slug in known.accelerators}
        rows = SpecValue.objects.filter(accelerator__in=named).select_related("source", "accelerator")
        values = list(rows.order_by("pk"))
        for value in values:
            known.values[_key(value)].append(value)
        for proposal in Proposal.objects.filter(state__in=Proposal.OPEN, accelerator__in=named):
            if proposal.action == Proposal.Action.ADD:
                known.added.add((proposal.accelerator_id, proposal.field, proposal.condition, proposal.source_id))
            else:
                known.proposed.add(proposal.target_id)
        known.read(dataset, values)
        return known

    def read(self, dataset: tablib.Dataset, values: Iterable[SpecValue]) -> None:
        """Every row as a value or as what is wrong with it; and each sheet as it would be, for the formulas."""
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
        if key in self.rows and value.source is not None:  # of what has no source several may be said
            raise ValidationError({"": _("Row %(n)d says the same thing already.") % {"n": self.rows[key]}})
        self.rows[key] = number
        self._one_preferred(value, number)
        current = self._current(value)
        if current is not None and _content(value) == _content(current):
            return Proposal(accelerator=value.accelerator, field=value.field, before=snapshot(current))
        _check_status(row["status"], current)
        if current.pk in self.proposed if current else key in self.added:
            raise ValidationError({"": _("A change of this value is proposed already: that one is decided first.")})
        if current:
            value.pk = current.pk
        if value.status != SpecValue.Status.RETIRED:
            nothing = Published(value.accelerator.slug, {}, {})
            problem = formula_problem(value, current, self.published.get(value.accelerator_id, nothing))
            if problem:
                raise ValidationError({"value": problem})
        return drawn_up(value, current)

    def _value(self, cells: dict[str, str]) -> SpecValue:
        """The row as a value. Raises ValidationError for what cannot be, all of it at once."""
        accelerator, source = self.accelerators.get(cells["device"]), self.sources.get(cells["source"])
        problems = _cell_problems(cells)
        if accelerator is None:
            problems["device"] = _("There is no accelerator %(slug)r.") % {"slug": cells["device"]}
        if cells["source"] and source is None:
            problems["source"] = _("There is no source %(key)r: add it first.") % {"key": cells["source"]}
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
            value.settle()
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
            slot = (value.accelerator_id, value.field, value.condition)
            if slot in self.preferred:
                text = _("Row %(n)d is preferred already: make this one an alternative.") % {"n": self.preferred[slot]}
                raise ValidationError({"status": text})
            self.preferred[slot] = number

    def _current(self, value: SpecValue) -> SpecValue | None:
        """The value the row speaks of: the same thing from the same source."""
        found = self.values.get(_key(value), [])
        alike = [row for row in found if _content(row) == _content(value)]
        alike = alike or [row for row in found if (row.value, row.unit) == (value.value, value.unit)]
        if len(alike or found) > 1 and value.source is not None:
            text = _("This source says several values of it: change the one that is meant by hand.")
            raise ValidationError({"value": text})
        return next(iter(alike or found), None)


def _key(value: SpecValue) -> Key:
    return value.accelerator_id, value.field, value.condition, value.source_id


def _content(value: SpecValue) -> tuple[object, ...]:
    return (value.value, value.unit, str(value.basis), value.note, str(value.status), value.is_preferred)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    """The row's cells as text. Raises ValidationError for a wrong number of them, and for formulas."""
    if row["cells"] != len(COLUMNS):
        counts = {"n": row["cells"], "wanted": len(COLUMNS)}
        raise ValidationError({"": _("The row has %(n)d cells, not %(wanted)d.") % counts})
    text = _("Starts with “=”: formulas are not evaluated, write the value itself.")
    formulas = {name: text for name in COLUMNS if row[name].startswith("=")}
    if formulas:
        raise ValidationError(formulas)
    return {name: unsafe_text(row[name]) for name in COLUMNS}


def _cell_problems(cells: dict[str, str]) -> dict[str, str]:
    """What is wrong with single cells."""
    problems = {}
    if cells["status"] not in (*STATUSES, "draft"):
        problems["status"] = _("The status is one of %(known)s.") % {"known": ", ".join(STATUSES)}
    if cells["basis"] not in BASES:
        problems["basis"] = _("The basis is one of %(known)s.") % {"known": ", ".join(BASES)}
    if not cells["value"]:
        problems["value"] = _("There is no value.")
    for name, most in _LONGEST.items():
        if len(cells[name]) > most:
            problems[name] = _("Longer than %(n)d characters.") % {"n": most}
    return problems | _unit_problem(cells["field"], cells["unit"])


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
        raise ValidationError({"status": _("There is no such value to retire.")})
    if status not in ("public", "alternative", "retired"):
        text = _("A table proposes what shall be public: the status is public, alternative or retired.")
        raise ValidationError({"status": text})


# --- the plan ---


def plan_of(rows: Sequence[Row], result: Any) -> Plan:  # noqa: ANN401 - import_export's Result
    """The plan from what the resource made of the rows, in their order."""
    for outcome in result.rows:
        for error in outcome.errors:  # no row's fault but ours
            raise error.error
    refused = {row.number: row.error for row in result.invalid_rows}
    planned = []
    for position, (row, outcome) in enumerate(zip(rows, result.rows, strict=True), start=1):
        if position in refused:
            planned.append(_refused(row, refused[position]))
        else:
            planned.append(_planned(row, outcome))
    text = json.dumps([_print(row) for row in planned], ensure_ascii=False)
    return Plan(tuple(planned), hashlib.blake2b(text.encode(), digest_size=16).hexdigest())


def _refused(row: Row, error: ValidationError) -> PlannedRow:
    device, field = (*row.cells, "", "")[:2]
    by_column = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    problems = [(_COLUMN_OF.get(name, name), " ".join(texts)) for name, texts in by_column.items()]
    return PlannedRow(row.number, REFUSED, device, field_title(field), problems=tuple(sorted(problems, key=_place)))


def _place(problem: tuple[str, str]) -> int:
    return COLUMNS.index(problem[0]) if problem[0] in COLUMNS else -1


def _planned(row: Row, outcome: RowResult) -> PlannedRow:
    proposal: Proposal = outcome.instance
    device, field = proposal.accelerator.name, field_title(proposal.field)
    if not proposal.action:
        return PlannedRow(row.number, SAME, device, field, figure=figure(proposal.before))
    after = wanted(proposal)
    kind = NEW if proposal.action == Proposal.Action.ADD else CHANGED
    told = differences(proposal.before, after)
    return PlannedRow(row.number, kind, device, field, str(proposal.get_action_display()), figure(after), told)


def _print(row: PlannedRow) -> list[Any]:
    told = [(item.name, item.old, item.new) for item in row.differences]
    return [row.number, row.kind, row.device, row.field, row.action, row.figure, told, row.problems]
