"""Import a table of values: show its plan, and on confirmation turn its rows into proposals, all or none."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from stackviz.desk.curation.import_plan import ValueResource, dataset_of, plan_import
from stackviz.records.catalog.models import ValueImport
from stackviz.records.catalog.table_imports import (
    REFUSED,
    ImportPlan,
    Unconfirmed,
    check_plan,
    locked_import,
    mark_confirmed,
)
from stackviz.records.curated.change import wait_for_other_loads


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
