"""Events of labs as background work. Each run is short; what is left waits for the next."""

from celery import shared_task

from stackviz.notices.note_events import note_pending, note_silence

NOTED_FOR_S = 40


@shared_task(ignore_result=True, time_limit=300)
def note_lab_events() -> str:
    """Write the events of reports that were read since, and of machines that fell silent. Returns how many."""
    silent = note_silence()
    return f"{note_pending(NOTED_FOR_S)} reports, {silent} silent"
