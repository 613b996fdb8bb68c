"""A clock that is set back an hour: beat goes on, and what lost its message is read."""

import shutil
import time
from datetime import timedelta
from pathlib import Path

import time_machine
from celery import Celery
from django.conf import settings

from accelweb.beat import Scheduler
from tests.curated import migrated_file
from tests.intake.ingest.senders import Sender, box_of, counts
from tests.live import ROOT, Site

HOUR_S = 3600
SEEN_AFTER_S = 0.5  # by every process


class Clock:
    """The time of day of the programs that have `variables` in their environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ahead"
        self.variables = {
            "PYTHONPATH": f"{Path(__file__).parent / 'clock'}:{ROOT}", "CLOCK_AHEAD_FILE": str(self._file),
        }  # fmt: skip

    def set_ahead(self, ahead_s: float) -> None:
        self._file.write_text(str(ahead_s))
        time.sleep(SEEN_AFTER_S)


class Recording(Scheduler):
    """Sends nothing, remembers what."""

    def apply_async(self, entry, **_options):
        self.sent.append(entry.name)


def scheduler(folder) -> Recording:
    app = Celery("beside", broker="memory://", set_as_current=False)
    app.conf.result_expires = None  # no task of its own
    app.conf.beat_schedule = {name: {"task": name, "schedule": every} for name, every in (("a", 10), ("b", 60))}
    made = Recording(app, schedule_filename=str(folder / "schedule"), lazy=True)
    made.sent = []
    made.setup_schedule()
    return made


def test_no_task_waits_until_the_clock_is_where_it_was(tmp_path):
    with time_machine.travel("2026-11-28T12:00:00Z", tick=False) as clock:
        beat = scheduler(tmp_path)
        clock.shift(timedelta(minutes=2))
        for _ in range(4):
            beat.tick()
        assert sorted(beat.sent) == ["a", "b"]
        clock.shift(timedelta(hours=-1))
        beat.sent.clear()
        for _ in range(14):
            assert beat.tick() <= 10
            clock.shift(timedelta(seconds=5))
        assert (beat.sent.count("a"), beat.sent.count("b")) == (6, 1)
    beat.close()


def test_messages_of_beat_outlive_half_a_minute_of_drift():
    lives_s = {name: entry["options"]["expires"] for name, entry in settings.CELERY_BEAT_SCHEDULE.items()}
    assert min(lives_s.values()) >= 60
    assert settings.REQUEUE_EVERY_S < 60  # so that one of them would be


def test_lost_reports_are_read_after_the_clock_is_set_back(tmp_path):
    """Without Redis: the messages of the file broker are deleted."""
    clock = Clock(tmp_path)
    clock.set_ahead(HOUR_S)
    shutil.copy(migrated_file(), tmp_path / "accelweb.sqlite3")
    site = Site(tmp_path, REQUEUE_EVERY_S="1", **clock.variables)
    try:
        sender = Sender(site, site.new_key(), box_of(5))
        site.start_web(workers=1)
        site.start_worker(beat=True)
        sender.run()
        site.wait_until(lambda: counts(site)["status"] == {"read": 5}, "the clock is ahead, and all is read")
        site.kill("worker")
        sender.box = box_of(5)
        sender.run()
        shutil.rmtree(tmp_path / "broker" / "queue")
        (tmp_path / "broker" / "queue").mkdir()
        clock.set_ahead(0)
        site.start_worker(beat=True, wait=False)
        site.wait_until(lambda: counts(site)["status"] == {"read": 10}, "the clock was set back, and all is read")
        assert counts(site)["results"] == 20
    finally:
        site.stop()
