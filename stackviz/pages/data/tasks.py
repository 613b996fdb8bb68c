"""The nightly dump as a background task."""

from celery import shared_task

from stackviz.pages.data.dump import AlreadyWriting, is_due, write_dump

LIMIT_S = 1_800  # far more than a large dump takes; the default limit of a task is two minutes


@shared_task(ignore_result=True, time_limit=LIMIT_S)
def write_dump_if_due() -> str:
    """Write a dump if one is due. Returns the outcome as text."""
    if not is_due():
        return "not due"
    try:
        return f"written: {write_dump().name}"
    except AlreadyWriting:
        return "being written"
