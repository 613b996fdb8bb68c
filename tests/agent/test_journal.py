"""What a run has measured outlives the run: kept by Ctrl-C, adopted after a kill. Real processes measure with a toy."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from stackviz.agent.folders import is_locked_here
from stackviz.agent.journal import Journal, adopt_unfinished
from stackviz.agent.privacy import mask_of
from stackviz.agent.spool import Spool
from tests.agent.kill_loop import kill_loop
from tests.agent.processes import TOY_TORCH, children_of, end, is_running, start_agent, wait_for
from tests.agent.sites import site
from tests.agent.test_benchmarks import CASES, visit
from tests.report.format.reports import gemm_result, h100_card, report_body

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"
PLAN = {"is": "plan", "cases": CASES}


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "spool")


def begun(spool, *steps, **changes):
    """A journal with these steps in it."""
    document = report_body(cards=[h100_card()], results=[]) | changes
    journal = Journal(document, quick=True, folder=spool.folder, mask=mask_of(["wilhelmina"], [], []))
    for step in steps:
        journal.note(step)
    return journal


def adopted(spool):
    told = []
    adopt_unfinished(spool, told.append)
    return told, [waiting.report for waiting in spool.waiting()]


def test_what_an_ended_agent_measured_is_adopted_once(spool):
    steps = [PLAN, visit(0, 1.0, 2.0), visit(0, 3.0), {"case": 1, "is": "failed", "reason": "no kernel image"}]
    journal = begun(spool, *steps)
    assert adopted(spool) == ([], [])  # it is under way
    journal.close()
    told, (report,) = adopted(spool)
    assert told == [f"Took over report {report.id} of an agent that was ended: 1 of 3 cases measured"]
    assert [(result.state, result.samples, result.reason) for result in report.results] == [
        ("ok", (1.0, 2.0, 3.0), None),
        ("failed", (), "no kernel image"),
        ("skipped", (), "not reached: the agent was ended"),
    ]
    assert adopted(spool) == ([], [report])


def test_a_journal_that_is_adopted_twice_gives_the_same_bytes(spool):
    """Its agent was killed after it had stored the report, and another one has delivered that meanwhile."""
    journal = begun(spool)
    journal.note(PLAN)
    journal.note_results([gemm_result(card=0)])
    (path,) = (spool.folder / "running").iterdir()
    lines = path.read_bytes()
    report, stored = journal.store(spool)
    body = stored.read_bytes()
    stored.unlink()
    path.write_bytes(lines)
    assert adopted(spool)[1] == [report]
    assert stored.read_bytes() == body


def test_a_torn_last_line_costs_that_line(spool):
    begun(spool).close()
    assert adopted(spool) == ([], [])
    assert not list((spool.folder / "running").iterdir())  # without a measurement it goes
    begun(spool, PLAN, visit(0, 1.0)).close()
    (path,) = (spool.folder / "running").iterdir()
    with path.open("ab") as file:
        file.write(b'{"is": "samples", "case": 1, "sam')
    assert adopted(spool)[1][0].results[0].samples == (1.0,)


BEGIN = b'{"is": "report", "document": {}, "quick": true}\n'


@pytest.mark.parametrize(
    ("content", "is_set_aside"),
    [
        (BEGIN + b'{"is": "samples"}\n', True),
        (BEGIN + b'{"is": "samples", "case": 99}\n', True),
        (BEGIN + b'{"is": "results", "results": 1}\n', True),
        (b'{"is": []}\n', False),
        (b'{"is": {}}\n{"is": "begin"}\n', False),
        (b"[" * 200_000 + b"\n", False),
    ],
)
def test_what_is_no_journal_is_set_aside_or_removed(spool, content, is_set_aside):
    path = spool.folder / "running" / "x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert (adopted(spool), path.exists()) == (([], []), False)
    assert [path.name for path in spool.corrupt.glob("*")] == ["x.jsonl"] * is_set_aside
    assert ["not a journal" in text for text in spool.set_aside] == [True] * is_set_aside


STRANGERS = {
    "link": lambda path, outside: path.symlink_to(outside),
    "folder": lambda path, _outside: path.mkdir(),
    "pipe": lambda path, _outside: os.mkfifo(path),
}


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need a right there")
@pytest.mark.parametrize("kind", STRANGERS)
def test_other_files_are_left_alone_and_block_nobody(spool, tmp_path, kind):
    outside = tmp_path / "outside.txt"
    outside.write_text('{"is": "results"}\n')
    begun(spool, PLAN, visit(0, 1.0)).close()
    stranger = spool.folder / "running" / "0.jsonl"  # comes first
    STRANGERS[kind](stranger, outside)
    (warning, adoption), (report,) = adopted(spool)
    assert warning == f"warning: {stranger} is no journal and was left alone"
    assert str(report.id) in adoption
    assert os.path.lexists(stranger)
    assert outside.read_text() == '{"is": "results"}\n'


def test_a_journal_of_somebody_else_keeps_nobody_waiting(spool, monkeypatch):
    """A run as root leaves one that only root may open."""
    for name in ("mine", "root"):
        machine = {"identity": name[0].encode().hex() * 32, "name": name}
        journal = begun(spool, PLAN, visit(0, 1.0), machine=machine)
        journal.close()
        (spool.folder / "running" / f"{journal.report().id}.jsonl").rename(spool.folder / "running" / f"{name}.jsonl")

    def opened(path, *arguments, **more):
        if path.name == "root.jsonl":
            raise PermissionError(13, "Permission denied")
        return os.fdopen(os.open(path, os.O_RDWR), *arguments, **more)

    monkeypatch.setattr(Path, "open", opened)
    told, reports = adopted(spool)
    assert [report.machine.name for report in reports] == ["mine"]
    assert told[1] == f"warning: {spool.folder / 'running' / 'root.jsonl'} was left alone: Permission denied"


def test_names_do_not_reach_the_journal(spool):
    reason = "/home/wilhelmina/venv/libtorch.so of wilhelmina"
    journal = begun(spool, PLAN, {"case": 0, "is": "failed", "reason": reason})
    journal.note_results([gemm_result(reason="wilhelmina")])
    (path,) = (spool.folder / "running").iterdir()
    assert "wilhelmina" not in path.read_text()
    journal.close()


def test_a_full_disk_while_measuring_costs_the_journal_only(spool, monkeypatch):
    journal = begun(spool)
    journal._file.close()
    monkeypatch.setattr(journal, "_file", open("/dev/full", "wb", buffering=0))  # noqa: PTH123, SIM115
    journal.note(PLAN)
    journal.note(visit(0, 1.0))
    assert journal.problem == "No space left on device"
    assert journal.report().results[0].samples == (1.0,)
    journal.close()


def test_a_lock_is_held_by_one(tmp_path):
    with (tmp_path / "x").open("wb") as first, (tmp_path / "x").open("r+b") as second:
        assert is_locked_here(first) is True
        assert is_locked_here(second) is False


# ---- real processes -------------------------------------------------------------------------------------------------


def measuring(tmp_path, url, *, seconds=0.02, flags=()):
    agent = start_agent(
        "run", "--server", url, "--quick", "--device", "cpu", "--benchmark", "gemm", "--yes", "--timeout", "5", *flags,
        folder=tmp_path, path=[TOY_TORCH], TOY_TORCH=json.dumps({"seconds": seconds}), ACCELWEB_KEY=KEY,
        ACCELWEB_SPOOL=str(tmp_path / "spool"),
    )  # fmt: skip
    journals = tmp_path / "spool" / "running"

    def has_visits():
        assert agent.poll() is None, agent.communicate()
        return any('"is": "samples"' in path.read_text() for path in journals.glob("*.jsonl"))

    wait_for(has_visits)
    return agent


def upload(tmp_path, url):
    return end(
        start_agent(
            "upload", "--server", url, "--yes", "--timeout", "5", folder=tmp_path,
            ACCELWEB_KEY=KEY, ACCELWEB_SPOOL=str(tmp_path / "spool"),
        )
    )  # fmt: skip


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_keeps_results_for_the_next_upload(tmp_path, spool, name):
    with site() as made:
        agent = measuring(tmp_path, made.url)
        agent.send_signal(getattr(signal, name))
        code, out, err = end(agent)
        assert (code, out, made.received, spool.count()) == (130, "", [], 1)
        assert "What was measured is in the spool" in err
        assert not list((spool.folder / "running").iterdir())
        assert upload(tmp_path, made.url)[0] == 0
    ((_, document),) = [(headers, body) for headers, body in made.received if body]
    states = [(result["state"], bool(result["samples"]), result["reason"]) for result in document["results"]]
    assert states[0] == ("ok", True, None)
    assert {state for state in states[1:] if not state[1]} <= {("skipped", False, "interrupted")}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_next_upload_adopts_a_killed_run(tmp_path, spool):
    with site() as made:
        agent = measuring(tmp_path, made.url)
        children = children_of(agent.pid)
        agent.kill()
        agent.communicate()
        wait_for(lambda: not [pid for pid in children if is_running(pid)], 10)
        code, out, err = upload(tmp_path, made.url)
    assert code == 0, err
    assert "Took over report" in err
    ((_, document),) = [(headers, body) for headers, body in made.received if body]
    assert document["results"][0]["samples"]
    assert out == f"{made.url}/receipts/{document['id']}/\n"
    assert not list(tmp_path.glob("tmp/*"))


def test_next_run_sends_results_of_a_killed_one_too(tmp_path):
    with site() as made:
        agent = measuring(tmp_path, made.url)
        agent.kill()
        agent.communicate()
        code, _, err = end(measuring(tmp_path, made.url, seconds=0.0))
    assert code == 0, err
    first, second = [body for _, body in made.received if body]
    assert first["id"] != second["id"]
    assert len({result["state"] for result in second["results"]}) == 1
    assert first["results"][0]["samples"]


@pytest.mark.parametrize("how", ["read-only", "full"])
def test_unwritable_spool_is_found_before_measuring(tmp_path, how):
    folder = {"read-only": "/proc/accelweb", "full": "/dev/full/spool"}[how]
    agent = start_agent(
        "run", "--server", "http://127.0.0.1:9", "--yes", folder=tmp_path, path=[TOY_TORCH], ACCELWEB_KEY=KEY,
        ACCELWEB_SPOOL=folder,
    )  # fmt: skip
    code, _, err = end(agent)
    assert code == 7
    assert "cannot write to" in err
    assert "probe" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_agents_killed_at_random_lose_and_repeat_nothing(tmp_path):
    """A few of them; `python -m tests.agent.kill_loop --kills 1000` is the large number."""
    outcome = kill_loop(tmp_path, kills=4, seed=3)
    assert outcome["killed"] == 4
    assert outcome["owed"]
    assert outcome["stored"] >= outcome["owed"]
    for name in ("lost", "conflicts", "processes", "folders", "left in the spool"):
        assert outcome[name] == [], outcome
