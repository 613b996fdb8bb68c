"""Events of labs as background work. Each run is short; what is left waits for the next."""

from celery import shared_task

from stackviz.intake.notices.mails import send_mails
from stackviz.intake.notices.note_events import note_pending, note_silence
from stackviz.intake.notices.webhooks import due_webhooks, send_events

NOTED_FOR_S = 40


@shared_task(ignore_result=True, time_limit=300)
def note_lab_events() -> str:
    """Write the events of reports that were read since, and of machines that fell silent. Returns how many."""
    silent = note_silence()
    return f"{note_pending(NOTED_FOR_S)} reports, {silent} silent"


@shared_task(ignore_result=True)
def send_due_webhooks() -> str:
    """A task for each webhook with something to send: a slow receiver keeps no other lab waiting."""
    due = due_webhooks()
    for webhook_id in due:
        send_webhook.apply_async((webhook_id,), expires=60)
    return f"{len(due)} due"


@shared_task(ignore_result=True, time_limit=150)
def send_webhook(webhook_id: int) -> str:
    """Send what waits for one webhook. Doing it twice, or for one that is being sent to, does nothing."""
    return f"{send_events(webhook_id)} sent"


@shared_task(ignore_result=True, time_limit=540)
def mail_events() -> str:
    """Mail people what happened in their labs since the last mail, once an hour at most."""
    return f"{send_mails()} mails"
