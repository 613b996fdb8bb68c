"""Background work of saved links. What is due is read from the database."""

from celery import shared_task

from stackviz.pages.diagnose.links import delete_expired


@shared_task(ignore_result=True)
def delete_expired_links() -> str:
    """Delete expired texts. Running it twice or late does no harm, because expired texts are not shown."""
    return f"{delete_expired()} deleted"
