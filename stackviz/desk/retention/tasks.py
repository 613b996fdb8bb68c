"""The nightly task that deletes what is old."""

from celery import shared_task

from stackviz.desk.retention.old import delete_old

LIMIT_S = 1_800  # a first run may have years to delete; what it does not reach is deleted by the next


@shared_task(ignore_result=True, time_limit=LIMIT_S)
def delete_what_is_old() -> str:
    return ", ".join(f"{old.count} {old.retained.name}" for old in delete_old() if old.count) or "nothing is old"
