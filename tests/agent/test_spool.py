"""The spool: whole or not at all, never lost, bounded."""

import errno
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackviz.agent import spool as spool_module
from stackviz.agent.progress import terminal_json
from stackviz.agent.spool import MOST_BYTES, Spool, SpoolError
from stackviz.report.format import parse_report, to_json
from tests.agent.processes import wait_for
from tests.report.format.reports import report_body

ROOT = Path(__file__).parents[2]


def report(minute=0, **changes):
    return parse_report(report_body(created_at=f"2026-11-20T12:{minute:02}:00Z", **changes))


def test_reports_wait_oldest_first_until_delivered(tmp_path):
    for minute in (5, 1, 3):
        Spool(tmp_path / "spool").put(report(minute))
    spool = Spool(tmp_path / "spool")  # another agent's
    waiting = list(spool.waiting())
    assert [item.report.created_at.minute for item in waiting] == [1, 3, 5]
    assert spool.count() == 3
    for item in waiting:
        spool.delivered(item)
    assert list(spool.waiting()) == []


def test_a_full_spool_keeps_the_old_and_refuses_the_new(tmp_path):
    spool = Spool(tmp_path, most_reports=2)
    spool.put(report(1))
    spool.put(report(2))
    with pytest.raises(SpoolError, match="is full"):
        spool.put(report(3))
    assert [waiting.report.created_at.minute for waiting in spool.waiting()] == [1, 2]
    with pytest.raises(SpoolError, match="is full"):
        Spool(tmp_path / "small", most_bytes=3000).put(report())


def test_a_disk_that_fails_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_text("a file")
    with pytest.raises(SpoolError, match="cannot write"):
        Spool(tmp_path / "file").put(report())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpoolError, match="No space left"):
        Spool(tmp_path / "spool").put(report())
    assert list((tmp_path / "spool").iterdir()) == []


def test_agent_clears_half_written_files(tmp_path):
    spool = Spool(tmp_path)
    young, old = tmp_path / ".writing-1-aa", tmp_path / ".writing-2-bb"
    for path in (young, old):
        path.write_text('{"format": 1, "id"')
    day_ago = time.time() - 25 * 3600
    os.utime(old, (day_ago, day_ago))
    spool.put(report())
    assert len(list(spool.waiting())) == 1
    assert young.exists()
    assert not old.exists()


@pytest.mark.parametrize("content", [b"", b'{"format": 1', b"\x00" * 4096, b"{}", b"\xff\xfe"])
def test_corrupt_file_is_set_aside_with_a_warning(tmp_path, content):
    """What a disk gives back after a power cut."""
    spool = Spool(tmp_path)
    broken = tmp_path / "2026-01-01T000000Z-0f8b5b1e.json"
    broken.write_bytes(content)
    spool.put(report())
    assert len(list(spool.waiting())) == 1
    assert (tmp_path / "corrupt" / broken.name).read_bytes() == content
    assert spool.set_aside[0].startswith(f"{broken.name} is not a valid report")


def test_unreadable_report_stays_without_blocking_others(tmp_path, monkeypatch):
    """A file of another user, or a place on the disk that is broken."""
    real = spool_module._read

    def read(path):
        if path.name == "2026-01-01T000000Z-0f8b5b1e.json":
            raise OSError(errno.EIO, "Input/output error")
        return real(path)

    monkeypatch.setattr(spool_module, "_read", read)
    spool = Spool(tmp_path)
    broken = tmp_path / "2026-01-01T000000Z-0f8b5b1e.json"
    broken.write_bytes(b"{}")
    spool.put(report())
    for _ in range(2):
        assert len(list(spool.waiting())) == 1
    assert broken.exists()
    assert spool.unread == {broken.name: f"{broken} cannot be read (Input/output error); it stays there"}


def test_report_delivered_by_another_agent_is_fine(tmp_path):
    spool = Spool(tmp_path)
    path = spool.put(report())
    (waiting,) = spool.waiting()
    path.unlink()
    spool.delivered(waiting)
    spool.reject(waiting, 409, "conflict")
    assert spool.count() == 0


ENDLESS = """
import sys
from pathlib import Path
from stackviz.agent.spool import Spool
from stackviz.report.format import parse_report, to_json
from tests.report.format.reports import large_report_body
spool = Spool(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    spool.put(parse_report(large_report_body(results=200)))
"""


def test_killed_agent_leaves_complete_reports(tmp_path):
    spool = Spool(tmp_path)
    for _ in range(3):
        before = spool.count()
        agent = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
        agent.stdout.readline()
        wait_for(lambda: spool.count() > before + 2)  # noqa: B023 - asked at once
        agent.kill()
        agent.wait()
        agent.stdout.close()
    assert len(list(spool.waiting())) == spool.count() > 0
    assert spool.set_aside == []


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"servers": 3}', '{"servers": [1]}', "\x00"])
def test_a_damaged_note_of_agreements_means_to_ask_again(tmp_path, content):
    (tmp_path / "confirmed.json").write_text(content)
    assert not Spool(tmp_path).is_confirmed("https://a.example")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_nobody_else_may_read_reports_or_what_lies_beside_them(tmp_path):
    spool = Spool(tmp_path / "spool")
    path = spool.put(report())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (waiting,) = spool.waiting()
    spool.confirm("https://a.example")
    assert (spool.is_confirmed("https://a.example"), spool.is_confirmed("https://b.example")) == (True, False)
    kept = spool.reject(waiting, 422, '{"error": "is missing", "field": "id"}')
    answer = kept.parent / f"{kept.name}.answer.json"
    assert (spool.count(), parse_report(kept.read_bytes())) == (0, waiting.report)
    assert json.loads(answer.read_text())["status"] == 422
    for path in (spool.folder / "confirmed.json", kept, answer):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.rglob(".writing-*")) == []


@pytest.fixture
def linked(tmp_path):
    """A spool with one report, and a report outside of it to which links may lead."""
    if sys.platform == "win32":
        pytest.skip("links need rights there")
    (tmp_path / "victim").write_text(to_json(report()))
    spool = Spool(tmp_path / "spool")
    return spool, spool.put(report()), tmp_path / "victim"


def test_what_a_link_leads_to_is_neither_sent_nor_moved(linked, tmp_path, monkeypatch):
    """A spool others may write to could make an agent of root read their choice of file."""
    spool, path, victim = linked
    link = spool.folder / "2020-01-01T000000Z-linked.json"
    link.symlink_to(victim)
    (spool.folder / "2020-01-01T000001Z-device.json").symlink_to("/dev/zero")
    (spool.folder / "2020-01-01T000002Z-nothing.json").symlink_to(tmp_path / "nothing")
    assert [waiting.path for waiting in spool.waiting()] == [path]
    assert "is a link" in spool.unread[link.name]
    assert (spool.set_aside, link.is_symlink(), victim.exists()) == ([], True, True)
    path.unlink()
    path.symlink_to(victim)  # one that comes after the look
    monkeypatch.setattr(type(path), "is_symlink", lambda _self: False)
    assert list(spool.waiting()) == []
    assert "cannot be read" in spool.unread[path.name]


def test_a_link_to_something_large_does_not_fill_the_spool(linked, tmp_path):
    spool, _, _ = linked
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2 * MOST_BYTES)
    (spool.folder / "2020-01-01T000000Z-linked.json").symlink_to(tmp_path / "large")
    assert spool.put(report()).exists()


def test_nothing_is_written_through_somebodys_link(linked):
    spool, path, victim = linked
    before = victim.read_text()
    (waiting,) = spool.waiting()
    spool.rejected.mkdir()
    (spool.folder / "confirmed.json").symlink_to(victim)
    (spool.rejected / f"{path.name}.answer.json").symlink_to(victim)
    spool.confirm("https://a.example")
    spool.reject(waiting, 422, "{}")
    assert victim.read_text() == before
    assert spool.is_confirmed("https://a.example")


def test_json_for_a_terminal_holds_nothing_that_controls_it():
    """Names of cards and messages come from tools, and from files that anybody may have written."""
    document = {"name": "".join(map(chr, [*range(32), *range(0x7F, 0xA0), 0x202E, 0x2028, 0x2066])) + "é 显卡"}
    text = terminal_json(document)
    assert json.loads(text) == document
    assert [letter for letter in text if not letter.isprintable() and letter != "\n"] == []
    assert "é 显卡" in text
