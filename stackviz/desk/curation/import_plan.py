"""What a table of values would change: every row new, changed, the same, or refused with column and reason.

`ValueResource` is django-import-export's resource for values, in both directions. Its rows become proposals, never
values: `get_or_init_instance` draws one up, and `bulk_create` writes them only when the run is not dry.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tablib
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from import_export import resources
from import_export.fields import Field
from import_export.results import RowResult

from stackviz.desk.curation.differences import differences, field_title, figure_text, snapshot, wanted
from stackviz.desk.curation.import_rows import COLUMNS, ROW_NUMBER, ImportReferences
from stackviz.records.catalog.models import Proposal, SpecValue, ValueImport
from stackviz.records.catalog.table_imports import (
    CHANGED,
    NEW,
    REFUSED,
    SAME,
    Difference,
    ImportPlan,
    PlannedRow,
    Unconfirmed,
    check_plan,
    locked_import,
    mark_confirmed,
    plan_of,
)
from stackviz.records.curated.change import wait_for_other_loads
from stackviz.web.table_file import TableRow

_BESIDE_A_NEW_FIGURE = ("source", "note", "is_preferred")
_COLUMN_OF = {"accelerator": "device", "is_preferred": "status", NON_FIELD_ERRORS: ""}


def dataset_of(rows: Iterable[TableRow]) -> tablib.Dataset:
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
        self.known = ImportReferences()

    def dehydrate_status(self, value: SpecValue) -> str:
        if value.status == SpecValue.Status.PUBLIC:
            return "public" if value.is_preferred else "alternative"
        return str(value.status)

    def before_import(self, dataset: tablib.Dataset, **_kwargs: Any) -> None:  # noqa: ANN401
        self.known = ImportReferences.about(dataset)

    def get_or_init_instance(self, _loader: Any, row: dict[str, Any]) -> tuple[Proposal, bool]:  # noqa: ANN401
        """The proposal this row comes to; one without an action changes nothing. Raises ValidationError by column."""
        proposal = self.known.proposal_for(row)
        for name, value in self.about.items():
            setattr(proposal, name, value)
        return proposal, True

    def import_instance(self, instance: Proposal, row: dict[str, Any], **kwargs: Any) -> None:  # noqa: ANN401
        """Does nothing: `get_or_init_instance` has read the row already."""

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
        """Raises every error: a table is written completely or not at all."""
        if not dry_run:
            Proposal.objects.bulk_create(self.create_instances, batch_size=batch_size)
        self.create_instances.clear()


def plan_import(rows: Sequence[TableRow], resource: ValueResource, result: Any) -> ImportPlan:  # noqa: ANN401
    """The plan from what the resource made of the rows, in their order. `result`: import_export's."""
    for outcome in result.rows:
        for error in outcome.errors:  # no row's fault but ours
            raise error.error
    refused = {row.number: row.error for row in result.invalid_rows}
    planned = []
    for position, (row, outcome) in enumerate(zip(rows, result.rows, strict=True), start=1):
        if position in refused:
            planned.append(_refused(row, refused[position]))
        else:
            planned.append(_planned(row, outcome, resource.known))
    return plan_of(planned)


def _refused(row: TableRow, error: ValidationError) -> PlannedRow:
    device, field = (*row.cells, "", "")[:2]
    by_column = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    problems = [(_COLUMN_OF.get(name, name), " ".join(texts)) for name, texts in by_column.items()]
    return PlannedRow(
        number=row.number,
        kind=REFUSED,
        device=device,
        field=field_title(field),
        problems=tuple(sorted(problems, key=_column_index)),
    )


def _column_index(problem: tuple[str, str]) -> int:
    return COLUMNS.index(problem[0]) if problem[0] in COLUMNS else -1


def _planned(row: TableRow, outcome: RowResult, known: ImportReferences) -> PlannedRow:
    proposal: Proposal = outcome.instance
    device, field = proposal.accelerator.name, field_title(proposal.field)
    if not proposal.action:
        return PlannedRow(number=row.number, kind=SAME, device=device, field=field, figure=figure_text(proposal.before))
    after = wanted(proposal)
    changed = differences(proposal.before, after)
    is_new = proposal.action == Proposal.Action.ADD
    displaced = _displaced(known.displaced_by(proposal))
    if is_new:  # its figure says the rest
        shown = (*_BESIDE_A_NEW_FIGURE, "figure") if displaced else _BESIDE_A_NEW_FIGURE
        changed = tuple(item for item in changed if item.name in shown)
    return PlannedRow(
        number=row.number,
        kind=NEW if is_new and not displaced else CHANGED,
        device=device,
        field=field,
        action=str(proposal.get_action_display()),
        figure=figure_text(after),
        differences=(*changed, *displaced),
    )


def _displaced(loser: tuple[SpecValue, int] | None) -> tuple[Difference, ...]:
    """`takes the preferred mark from 700 W (NVIDIA Hopper In-Depth + 4)`."""
    if loser is None:
        return ()
    content = snapshot(loser[0])
    source = " + ".join(filter(None, (content["source"], str(loser[1]) if loser[1] else "")))
    text = figure_text(content) + (f" ({source})" if source else "")
    return (Difference("displaced", _("takes the preferred mark from"), "", text),)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """How many proposals a table became, and how many rows were left out."""

    proposals: int
    left_out: int


def plan_upload(upload: ValueImport) -> ImportPlan:
    """What the table would change now. Writes nothing; the same number of queries for any number of rows."""
    resource = ValueResource()
    return plan_import(upload.rows, resource, resource.import_data(dataset_of(upload.rows), dry_run=True))


def confirm(upload_id: int, *, by: User, seen: str, is_leaving_out: bool) -> Confirmed:
    """Make the rows proposals in review. `seen`: fingerprint of the plan the person looked at.

    Raises Unconfirmed, and writes nothing, when the plan is another one by now, or has refused rows that are not to be
    left out.
    """
    try:
        with transaction.atomic():
            return _confirmed(upload_id, by, seen, is_leaving_out=is_leaving_out)
    except IntegrityError as error:
        raise Unconfirmed(
            _("Someone has just proposed a change to the same values. Review the table again.")
        ) from error


def _confirmed(upload_id: int, by: User, seen: str, *, is_leaving_out: bool) -> Confirmed:
    upload = locked_import(ValueImport, upload_id)
    wait_for_other_loads()
    resource = ValueResource(proposed_by=by, reason=upload.reason, batch=upload)
    plan = plan_import(upload.rows, resource, resource.import_data(dataset_of(upload.rows), use_transactions=True))
    check_plan(plan, seen, is_leaving_out=is_leaving_out)
    mark_confirmed(upload, plan)
    return Confirmed(plan.change_count, len(plan.of(REFUSED)))
