"""The scheduler of beat: Celery's own, which a clock that is set back does not silence.

Celery's waits until a task's last run lies in the past again: a clock set back by an hour is an hour without any
periodic task. Only the first task of its heap is looked at, so one such task would hold the others up.
"""

from typing import Any

from celery.beat import PersistentScheduler


class Scheduler(PersistentScheduler):
    """A task that ran in the future ran now: it is due again after its interval."""

    def tick(self, *arguments: Any, **named: Any) -> float:  # noqa: ANN401 (Celery's own)
        """Send what is due -> seconds until the next look."""
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at and entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None  # made anew: its times are from before the clock was set
        seconds: float = super().tick(*arguments, **named)
        return seconds
