"""An agent that stays: its turns, when it measures nothing, what it tells the site, and the text of its service."""

import json
import plistlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from stackviz.agent import before, cli, stay
from stackviz.agent.before import RunRefused
from stackviz.agent.exit_codes import Exit
from stackviz.agent.probing.gather import Gathered
from stackviz.agent.spool import Spool
from stackviz.agent.stay import say_sign_of_life, why_busy
from stackviz.agent.upload import Server
from tests.agent.processes import TOY_TORCH, end, start_agent
from tests.agent.sites import FakeTime, Reply, site
from tests.report.dumps.test_llama_results import RUN
from tests.report.format.reports import gemm_result, h100_card, report_body

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"
SIX_HOURS_S = 6 * 3600.0


# ---- turns ----------------------------------------------------------------------------------------------------------


def staying(outcomes, *, once=False, every_s=SIX_HOURS_S):
    """(exit code, seconds since the start at which each turn was taken, what was said)."""
    time, taken, told, left = FakeTime(jitter=lambda: 0.0), [], [], list(outcomes)
    start = time.at

    def turn():
        taken.append(time.at - start)
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return stay.stay(turn, every_s, told.append, once=once, clock=time.clock), taken, told


def test_it_takes_a_turn_every_interval_until_one_needs_a_person():
    ended, taken, told = staying([Exit.OK, Exit.NOT_DELIVERED, Exit.REGRESSION, Exit.KEY_REFUSED])
    assert (ended, taken) == (Exit.KEY_REFUSED, [0, 6 * 3600, 12 * 3600, 18 * 3600])
    assert "the next turn is at" in told[0]


def test_a_busy_machine_is_looked_at_again_in_ten_minutes():
    busy = RunRefused(Exit.BUSY, "skipped: card 0 is at work (97%)")
    ended, taken, told = staying([busy, busy, Exit.OK, Exit.USAGE])
    assert (ended, taken) == (Exit.USAGE, [0, 600, 1200, 6 * 3600])
    assert told[:4] == ["skipped: card 0 is at work (97%)", "the agent looks again in 10 minutes"] * 2


def test_of_a_timer_it_takes_one_turn_or_gives_up_at_half_time():
    busy = RunRefused(Exit.BUSY, "skipped")
    ended, taken, _ = staying([busy] * 9, once=True, every_s=3600.0)
    assert (ended, taken) == (Exit.BUSY, [0, 600, 1200, 1800])
    assert staying([Exit.NOT_DELIVERED], once=True)[:2] == (Exit.NOT_DELIVERED, [0])


def test_a_wrong_address_ends_it_at_once_but_not_later():
    assert staying([RunRefused(Exit.WRONG_SERVER, "no accelweb site")])[:2] == (Exit.WRONG_SERVER, [0])
    ended, taken, _ = staying([Exit.OK, RunRefused(Exit.WRONG_SERVER, "a hotel"), Exit.USAGE])
    assert (ended, len(taken)) == (Exit.USAGE, 3)
    with pytest.raises(RunRefused, match="revoked"):
        staying([Exit.OK, RunRefused(Exit.KEY_REFUSED, "revoked")])


# ---- busy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "load", "why"),
    [
        ({}, None, ""),
        ({"busy_ratio": 0.02, "compute_processes": 0}, None, ""),
        ({"busy_ratio": 0.97}, None, "card 0 is at work (97%)"),
        ({"compute_processes": 2}, None, "another program computes on card 0"),
        ({}, 0.43, "other programs use 43% of the processors"),
    ],
)
def test_why_nothing_is_measured_is_said(facts, load, why):
    assert why_busy([{"index": 0, "facts": facts}], load) == why


def test_it_is_nicer_than_everything_else():
    code = "import os; from stackviz.agent.stay import lower_priority; lower_priority(); print(os.nice(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "19\n"


# ---- the site -------------------------------------------------------------------------------------------------------


def told_the_site(reply):
    told = []
    with site() as made:
        made.heartbeat_reply = reply
        is_heard = say_sign_of_life(Server(made.url, KEY, timeout_s=2.0), "0" * 64, SIX_HOURS_S, "", told.append)
    return made.heartbeats, is_heard, told


def test_a_sign_of_life_says_how_often_the_agent_reports():
    heartbeats, is_heard, told = told_the_site(Reply(200, '{"machine": {"slug": "m", "name": "M"}}'))
    assert heartbeats == [{"identity": "0" * 64, "every_s": 21600, "busy": ""}]
    assert (is_heard, told) == (True, [])
    for text in ('{"machine":null}', '{"machine": null}', json.dumps({"silent_from": None, "machine": None})):
        assert told_the_site(Reply(200, text))[1] is False, text


def test_only_a_refused_key_ends_the_turn():
    for reply, word in ((Reply(404, "<html>"), "older"), (Reply(503, "{}"), "did not"), (Reply(403, "<p>"), "did not")):
        _, _, (told,) = told_the_site(reply)
        assert word in told
    with pytest.raises(RunRefused, match="revoked") as refused:
        told_the_site(Reply(403, '{"error": "this key was revoked"}'))
    assert refused.value.exit is Exit.KEY_REFUSED


# ---- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def agent(monkeypatch, tmp_path, capsys):
    """Run the agent once, as by a timer, on a machine of which `facts` of its card are given."""

    def run(*argv, **facts):
        body = report_body()
        cards = [h100_card()]
        cards[0]["facts"] |= facts
        gathered = Gathered(facts=body["facts"], absent={}, cards=cards, software=[], probes=body["probes"])
        monkeypatch.setattr(cli, "gather", lambda _timeout_s, _told: gathered)
        code = cli.main(["run", "--every", "10m", "--spool", str(tmp_path / "spool"), *argv])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    monkeypatch.setattr(cli, "run_benchmarks", lambda *_: [gemm_result()])
    monkeypatch.setattr(cli, "lower_priority", lambda: None)  # of the tests that follow, too
    monkeypatch.setattr(cli, "foreign_load", lambda: None)
    monkeypatch.setattr(before, "_LOOK_S", 0.0)
    monkeypatch.setattr(before, "_common_folder", lambda: tmp_path)
    monkeypatch.setattr(stay, "_LOOK_AGAIN_S", 1000.0)
    for name in ("ACCELWEB_KEY", "ACCELWEB_SERVER", "ACCELWEB_SPOOL"):
        monkeypatch.delenv(name, raising=False)
    return run


def test_a_turn_says_that_it_is_there_then_measures_and_sends(agent):
    with site() as made:
        code, _, _ = agent("--server", made.url, "--key", KEY, "--yes", "--once")
        assert (code, len(made.received)) == (Exit.OK, 1)
        (beat,) = made.heartbeats
        assert beat == {"identity": made.received[0][1]["machine"]["identity"], "every_s": 600, "busy": ""}
        made.heartbeats.clear()
        made.heartbeat_reply = Reply(200, '{"machine": null, "silent_from": null}')
        agent("--server", made.url, "--key", KEY, "--yes", "--once")
    assert [beat["every_s"] for beat in made.heartbeats] == [600, 600]  # a new machine once more after its report


def test_a_busy_machine_is_told_and_not_measured(agent, tmp_path):
    with site() as made:
        at_site = ("--server", made.url, "--key", KEY, "--yes", "--once")
        code, _, err = agent(*at_site, busy_ratio=0.97)
        assert (code, made.received, Spool(tmp_path / "spool").count()) == (Exit.BUSY, [], 0)
        code, _, _ = agent(*at_site, "--no-bench", busy_ratio=0.97)  # it is read all the same
    assert (code, len(made.received)) == (Exit.OK, 1)
    assert [beat["busy"] for beat in made.heartbeats] == ["card 0 is at work (97%)", ""]
    assert "skipped: card 0 is at work (97%)" in err


def test_it_measures_nothing_that_nobody_agreed_to_send(agent):
    with site() as made:
        code, _, err = agent("--server", made.url, "--key", KEY, "--once")
    assert (code, made.received, made.heartbeats) == (Exit.NOT_CONFIRMED, [], [])
    assert "--yes" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *((("--every", interval), "--every") for interval in ("5m", "31d", "often", "6", "0h", "-1h")),
        (("--attach", "llama.json"), "without --every"),
        (("--server", "https://lab.example", "--key", KEY, "--print-service", "systemd"), "needs --key-file"),
        (("--key-file", "key", "--print-service", "systemd"), "needs --server"),
    ],
)
def test_options_that_contradict_are_refused(agent, capsys, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llama.json").write_text(json.dumps([RUN]), encoding="utf-8")
    with pytest.raises(SystemExit):
        agent(*options)
    told = capsys.readouterr().err
    assert (words in told, KEY in told) == (True, False)
    with pytest.raises(SystemExit):
        cli.main(["run", "--once"])
    assert "need --every" in capsys.readouterr().err


def test_a_real_agent_stays_and_ends_when_the_service_is_stopped(tmp_path):
    with site() as made:
        process = start_agent(
            "run", "--every", "10m", "--no-bench", "--server", made.url, "--key", KEY, "--yes",
            "--spool", str(tmp_path / "spool"), folder=tmp_path, path=[TOY_TORCH],
        )  # fmt: skip
        for line in process.stderr:
            if "the next turn is at" in line:
                break
        process.terminate()
        code, _, _ = end(process)
    assert (code, len(made.received), len(made.heartbeats)) == (Exit.INTERRUPTED, 1, 1)


# ---- the text of a service ------------------------------------------------------------------------------------------


@pytest.fixture
def text_of(agent, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_text(KEY)

    def text(system, *argv):
        options = ("--server", "https://lab.example", "--key-file", "my key", "--quick", "--name", "50% of $X")
        code, out, _ = agent(*options, *argv, "--print-service", system)
        assert code == Exit.OK
        assert KEY not in out
        assert "Nothing was installed" in out
        return out

    return text


def test_nothing_is_installed(text_of, tmp_path, agent):
    before_it = set(tmp_path.rglob("*"))
    for system in ("systemd", "launchd", "windows"):
        script = text_of(system)
        if system != "windows":
            subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    _, out, _ = agent("--server", "https://lab.example", "--key-file", "key", "--print-serv=systemd")
    assert "print-serv" not in out  # an abbreviated option is left out too
    assert set(tmp_path.rglob("*")) == before_it


def test_a_systemd_timer_runs_the_command_that_was_typed(text_of, tmp_path):
    names = ("accelweb-agent.service", "accelweb-agent.timer")
    unit, timer = re.findall(r"<<'END'\n(.*?)^END", text_of("systemd"), re.MULTILINE | re.DOTALL)
    assert f"WorkingDirectory={tmp_path}" in unit
    assert '--key-file "my key" --quick --name "50%% of $$X" --once --yes' in unit
    assert ("--print-service" in unit, "Nice=19" in unit, "OnUnitActiveSec=600s" in timer) == (False, True, True)
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for name, text in zip(names, (unit, timer), strict=True):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *(str(tmp_path / name) for name in names)],
        capture_output=True, text=True, check=False, env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert "accelweb-agent" not in done.stderr


def test_a_launchd_agent_runs_the_command_that_was_typed(text_of, tmp_path):
    script = text_of("launchd")
    plist = plistlib.loads(re.search(r"<<'END'\n(.*?)^END", script, re.MULTILINE | re.DOTALL)[1].encode())
    assert plist["ProgramArguments"][-6:] == ["my key", "--quick", "--name", "50% of $X", "--once", "--yes"]
    assert (plist["StartInterval"], plist["Nice"], plist["WorkingDirectory"]) == (600, 19, str(tmp_path))
    assert "ProcessType" not in plist  # Background would leave only the slow cores of a Mac


def test_a_windows_task_runs_the_command_that_was_typed(text_of):
    script = text_of("windows")
    task = re.search(r"@'\n<\?xml[^\n]*\n(.*?)\n'@", script, re.DOTALL)[1]
    names = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}
    root = ET.fromstring(task)
    assert root.findtext(".//t:Interval", namespaces=names) == "PT600S"
    assert '--key-file "my key"' in root.findtext(".//t:Arguments", namespaces=names)
    assert root.findtext(".//t:Priority", namespaces=names) == "9"
