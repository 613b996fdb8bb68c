"""Without Redis bells are files under var/broker, and as little depends on them."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection
from kombu.utils.json import dumps

from accelweb import file_broker
from tests.intake.ingest.senders import Sender, box_of, counts


def test_reports_survive_dead_workers_without_redis(new_site):
    site = new_site(REQUEUE_EVERY_S="1", LOG_LEVEL="WARNING")
    key = site.new_key()
    site.start_web()
    site.start_worker(beat=True)
    sender = Sender(site, key, box_of(60), pause_s=0.05)
    sender.start()
    for death in range(2):
        time.sleep(0.5)
        site.kill("worker")
        (site.folder / "worker.log").rename(site.folder / f"worker-{death}.log")
        site.start_worker(beat=True)
    sender.join(60)
    assert set(sender.answers) == {202}
    site.wait_until(lambda: counts(site)["status"] == {"read": 60}, "every report is read")
    assert counts(site)["results"] == 120


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    queue, control = tmp_path / "queue", tmp_path / "control"
    for folder in (queue, control):
        folder.mkdir()
    options = {"data_folder_in": str(queue), "data_folder_out": str(queue), "control_folder": str(control)}
    transport = f"{file_broker.__name__}:Transport"
    with Connection("filesystem://", transport=transport, transport_options=options) as made:
        yield made


def test_a_reader_meets_no_message_that_is_half_written(connection, monkeypatch):
    bells = connection.SimpleQueue("bell")
    looks = []

    def look_first(part: Path, message: Path) -> Path:
        with pytest.raises(bells.Empty):
            bells.get(block=False)
        looks.append(part)
        return replace(part, message)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", look_first)
    bells.put("ring")
    assert len(looks) == 1
    assert bells.get(timeout=5).payload == "ring"


def test_a_table_that_is_being_written_is_waited_for(connection, tmp_path):
    table = tmp_path / "control" / "bell.exchange"
    table.touch()
    writer = threading.Timer(0.1, table.write_text, [dumps([["ring", "", "bell"]])])
    writer.start()
    assert [tuple(row) for row in connection.default_channel.get_table("bell")] == [("ring", "", "bell")]
    writer.join()


def test_a_table_that_stays_empty_is_an_error(connection, tmp_path, monkeypatch):
    monkeypatch.setattr(file_broker, "WRITING_TAKES_S", 0.05)
    (tmp_path / "control" / "bell.exchange").touch()
    with pytest.raises(ValueError, match="Expecting value"):
        connection.default_channel.get_table("bell")


def test_web_and_worker_send_bells_this_way(new_site):
    code = "from accelweb import celery_app; print(celery_app.connection_for_write().transport.__module__)"
    assert new_site().shell(code).split()[-1] == file_broker.__name__
