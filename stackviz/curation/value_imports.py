"""Import a table: store it, show its plan, and on confirmation turn its rows into proposals, all or none."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.catalog.change import wait_for_other_loads
from stackviz.catalog.models import ValueImport
from stackviz.curation.import_file import Table, TableRow
from stackviz.curation.import_plan import REFUSED, ImportPlan, ValueResource, dataset_of, plan_import

UNCONFIRMED_FOR = timedelta(days=1)  # a table that nobody confirmed


class Unconfirmed(ValueError):
    """The table was not brought in; the text says why, and nothing was written."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """How many proposals a table became, and how many rows were left out."""

    proposals: int
    left_out: int


def keep(table: Table, *, file_name: str, reason: str, by: User) -> ValueImport:
    """Store the table for the preview. Expired tables are deleted."""
    ValueImport.objects.filter(confirmed_at=None, uploaded_at__lt=timezone.now() - UNCONFIRMED_FOR).delete()
    return ValueImport.objects.create(
        file_name=file_name[:200],
        reason=reason,
        table=[[row.number, list(row.cells)] for row in table.rows],
        uploaded_by=by,
    )


def plan_upload(upload: ValueImport) -> ImportPlan:
    """What the table would change now. Writes nothing; the same number of queries for any number of rows."""
    rows = _rows(upload)
    return plan_import(rows, ValueResource().import_data(dataset_of(rows), dry_run=True))


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
    upload = ValueImport.objects.select_for_update(of=("self",)).get(pk=upload_id)
    if upload.confirmed_at:
        raise Unconfirmed(_("This table has already been imported."))
    wait_for_other_loads()
    rows = _rows(upload)
    resource = ValueResource(proposed_by=by, reason=upload.reason, batch=upload)
    made = plan_import(rows, resource.import_data(dataset_of(rows), use_transactions=True))
    refused = made.of(REFUSED)
    if made.fingerprint != seen:
        raise Unconfirmed(_("The catalogue has changed since this preview. Review the updated changes."))
    if refused and not is_leaving_out:
        raise Unconfirmed(_("Some rows have errors. Correct the file, or choose to skip these rows."))
    if not made.proposal_count:
        raise Unconfirmed(_("This table contains no new or changed values."))
    upload.left_out = [[row.number, column, why] for row in refused for column, why in row.problems]
    upload.table, upload.confirmed_at = [], timezone.now()
    upload.save(update_fields=["left_out", "table", "confirmed_at"])
    return Confirmed(made.proposal_count, len(refused))


def _rows(upload: ValueImport) -> tuple[TableRow, ...]:
    return tuple(TableRow(number, tuple(cells)) for number, cells in upload.table)
