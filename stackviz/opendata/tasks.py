"""The nightly dump, as background work. Whether a new dump is due is read from the stored dumps."""

from celery import shared_task

from stackviz.opendata.dump import AlreadyWriting, is_due, write_dump

LIMIT_S = 1_800  # well beyond a large site's dump; the usual limit of a task is two minutes


@shared_task(ignore_result=True, time_limit=LIMIT_S)
def write_dump_if_due() -> str:
    """Write the dump of this night, the first one, or one in place of a dump that shows what is public no more."""
    if not is_due():
        return "not due"
    try:
        return f"written: {write_dump().name}"
    except AlreadyWriting:
        return "being written"
