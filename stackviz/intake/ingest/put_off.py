"""Puts off reports whose reading met a fault of the site: they wait, say why, and are tried again later and later.

Only the pace of attempts is bounded, never their number: the report is in order, so it is read once the fault is over.
"""

import logging
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from stackviz.records.labs.models import Report

FIRST_RETRY_S = 10.0
LAST_RETRY_S = 900.0  # from the seventh fault on
SPREAD = 0.2  # either way: what failed together is not all tried again at the same moment
LONGEST_RETRY_S = LAST_RETRY_S * (1 + SPREAD)
ALERT_FROM = 8  # faults of one report, after about half an hour: logged as an error, which somebody should look at
_MOST_COUNTED = 1_000  # a smallint holds 32,767

log = logging.getLogger(__name__)


def put_off(report_ids: Sequence[UUID], fault: Report.Fault) -> list[UUID]:
    """Note the fault at those of these reports that wait, and when they are tried again -> their ids.

    The attempt does not count among the `tries`, which are those that killed their worker. Raises what the database
    does where even this cannot be written: then they wait as before, and the periodic task queues them again.
    """
    connection.close_if_unusable_or_obsolete()  # the fault may have been its end
    by_faults: dict[int, list[UUID]] = defaultdict(list)
    waiting = Report.objects.filter(pk__in=report_ids, status=Report.Status.RECEIVED)
    for pk, faults in waiting.order_by("pk").values_list("pk", "faults"):
        by_faults[faults].append(pk)
    for faults, ids in by_faults.items():
        _note(ids, faults, fault)
    return [pk for ids in by_faults.values() for pk in ids]


def _note(ids: list[UUID], faults: int, fault: Report.Fault) -> None:
    wait_s = retry_after_s(faults)
    Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED).update(
        faults=Least(F("faults") + 1, _MOST_COUNTED),
        fault=fault,
        retry_at=timezone.now() + timedelta(seconds=wait_s),
        rung_at=None,
        tries=Greatest(F("tries") - 1, 0),
    )
    level = logging.ERROR if faults + 1 >= ALERT_FROM else logging.WARNING
    log.log(level, "%d reports put off for %.0f s, fault %d: %s", len(ids), wait_s, faults + 1, fault.value)


def retry_after_s(faults: int) -> float:
    """How long a report waits after so many faults before this one."""
    pause_s: float = min(FIRST_RETRY_S * 2 ** min(faults, 16), LAST_RETRY_S)
    return pause_s * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 (no secret)
