"""What is settled before anything is measured: the key, consent, one agent at a time, other load, the plan."""

import json
import sys
from types import SimpleNamespace

import pytest

from stackviz.agent import before
from stackviz.agent.before import RunRefused, check_site, measuring_alone, say_other_load
from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.run import BenchmarkOptions, PlannedCase, RunPlan
from stackviz.agent.exit_codes import Exit
from stackviz.agent.report_text import describe_plan
from stackviz.agent.spool import Spool
from stackviz.agent.upload import Server
from tests.agent.processes import TOY_TORCH, end, start_agent
from tests.agent.sites import Reply, site

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"


def checked(reply):
    told = []
    with site() as made:
        made.key_reply = reply
        check_site(Server(made.url, KEY, timeout_s=2.0), told.append)
        assert made.key_checks[0]["authorization"] == f"Bearer {KEY}"
    return told


def test_a_key_that_holds_says_what_it_is_for():
    answer = {"lab": {"name": "North lab"}, "machine": {"name": "Rack 7"}, "expires_at": "2020-01-02T03:04:05.123Z"}
    (told,) = checked(Reply(200, json.dumps(answer)))
    assert told == "key accepted: lab North lab, machine Rack 7; it expires on 2020-01-02"
    (told,) = checked(Reply(200, '{"lab": {"name": "\\u001b[2J' + KEY + '"}, "machine": 7}'))
    assert (KEY in told, "\x1b" in told) == (False, False)


@pytest.mark.parametrize(
    ("reply", "exit_", "word"),
    [
        (Reply(401, '{"error": "this key is unknown to this site"}'), Exit.KEY_REFUSED, "unknown to this site"),
        (Reply(403, '{"error": "this key was revoked"}'), Exit.KEY_REFUSED, "revoked"),
        (Reply(200, "<html>Welcome to the hotel</html>"), Exit.WRONG_SERVER, "no accelweb site"),
        (Reply(302, "", {"Location": "https://elsewhere.example/"}), Exit.WRONG_SERVER, "elsewhere.example"),
    ],
)
def test_a_refusal_ends_the_run_before_it_measures(reply, exit_, word):
    with pytest.raises(RunRefused, match=word) as refused:
        checked(reply)
    assert refused.value.exit is exit_
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "reply", [Reply(403, "<html>proxy</html>"), Reply(404, "<html>"), Reply(503, "{}"), Reply(429, "{}"), None]
)
def test_whatever_may_pass_or_is_older_costs_no_measurement(reply):
    """None: the site is down."""
    told = []
    if reply is None:
        check_site(Server("http://127.0.0.1:9", KEY, timeout_s=2.0), told.append)
    (text,) = told if reply is None else checked(reply)
    assert "key" in text


# ---- one agent at a time --------------------------------------------------------------------------------------------


def test_of_two_agents_the_second_ends_and_says_who_is_at_work(tmp_path):
    told = []
    with measuring_alone(0.0, print, tmp_path):
        for wait_s in (0.0, 0.05):
            with (
                pytest.raises(RunRefused, match=r"another agent \(process \d+\) is measuring") as refused,
                measuring_alone(wait_s, told.append, tmp_path),
            ):
                pytest.fail("both measure")
        assert refused.value.exit is Exit.BUSY
    assert "waiting for at most 0.05 s" in told[0]
    (tmp_path / "accelweb-agent.lock").unlink(missing_ok=True)
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "accelweb-agent.lock").symlink_to(tmp_path / "victim")  # no link is followed
    with measuring_alone(0.0, print, tmp_path):
        pass
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_real_agent_waits_for_nobody_and_measures_nothing(tmp_path):
    with measuring_alone(0.0, print, tmp_path):
        agent = start_agent(
            "bench", "--quick", "-q", "--spool", str(tmp_path / "spool"), folder=tmp_path, path=[TOY_TORCH]
        )
        code, out, err = end(agent)
    assert (code, out) == (Exit.BUSY, "")
    assert "another agent" in err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is a temporary folder")
def test_all_users_of_a_machine_share_the_lock(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("ACCELWEB_LOCK_FOLDER", raising=False)
    assert str(before._common_folder()) in {"/dev/shm", "/tmp"}
    monkeypatch.setenv("ACCELWEB_LOCK_FOLDER", str(tmp_path))
    assert before._common_folder() == tmp_path


# ---- other load -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("busy", "warns"), [(0, False), (9, False), (30, True)])
def test_other_load_is_said(tmp_path, monkeypatch, busy, warns):
    stat, told = tmp_path / "stat", []
    stat.write_text("cpu  100 0 100 1000 0 0 0 0 0 0\n")
    later = f"cpu  {100 + busy} 0 100 {1100 - busy} 0 0 0 0 0 0\n"
    monkeypatch.setattr(before, "time", SimpleNamespace(sleep=lambda _s: stat.write_text(later)))
    say_other_load(told.append, stat)
    assert [f"other programs use {busy}%" in text for text in told] == [True] * warns
    say_other_load(pytest.fail, tmp_path / "none")


# ---- the plan -------------------------------------------------------------------------------------------------------


def planned(count, seconds):
    params = {"dtype": "fp32", "m": 1024, "n": 1024, "k": 1024}
    return [PlannedCase(Case("gemm", 1, f"cuda:{number // 10}", params), seconds) for number in range(count)]


def test_a_plan_has_the_time_of_each_case():
    cases = [*planned(1, 130.0), *planned(1, 4.2), *planned(1, None)]
    text = describe_plan(RunPlan(cases, 5, 1150.0), BenchmarkOptions())
    assert text.splitlines() == [
        "Measuring 2 cases, about 2 min in all. Ctrl-C keeps what is done.",
        "  gemm fp32 1024 on cuda:0  about 2 min",
        "  gemm fp32 1024 on cuda:0  about 4 s",
        "  gemm fp32 1024 on cuda:0  skipped",
    ]


def test_a_long_plan_is_grouped_and_says_its_end():
    text = describe_plan(RunPlan(planned(80, 30.0), 1, 1100.0), BenchmarkOptions())
    assert text.startswith("Measuring 80 cases, about 40 min for one round, which is too long")
    assert len(text.splitlines()) == 9
    assert "gemm on cuda:7, 10 cases  about 5 min" in text
    options = BenchmarkOptions(suite="standard")
    text = describe_plan(RunPlan(planned(3, 100.0), 1, 500.0), options)
    assert text.startswith("Measuring 3 cases, about 5 min for 1 of 3 rounds, more as time allows")
    # Held against what the trials left: 300 s are half of the suite's time, and more than what is left of it.
    for left_s, is_long in ((290.0, True), (310.0, False)):
        assert ("too long" in describe_plan(RunPlan(planned(3, 100.0), 1, left_s), options)) is is_long


def test_a_run_says_its_plan_before_it_measures(tmp_path):
    with site() as made:
        agent = start_agent(
            "run", "--server", made.url, "--quick", "--device", "cpu", "--benchmark", "gemm", "--yes",
            folder=tmp_path, path=[TOY_TORCH], ACCELWEB_KEY=KEY, ACCELWEB_SPOOL=str(tmp_path / "spool"),
        )  # fmt: skip
        code, _, err = end(agent)
    lines = err.splitlines()
    assert code == 0, err
    assert lines[0] == "key accepted: lab North lab"
    plan = next(number for number, line in enumerate(lines) if line.startswith("Measuring 3 cases, about "))
    assert lines[plan + 1].startswith("  gemm fp32 1024 on cpu  about ")
    assert lines[plan + 4].startswith("[0/9] gemm fp32 1024 on cpu")


def test_a_wrong_key_ends_the_run_before_it_reads_the_machine(tmp_path):
    with site() as made:
        made.key_reply = Reply(401, '{"error": "this key is unknown to this site"}')
        agent = start_agent(
            "run", "--server", made.url, "--yes", folder=tmp_path, path=[TOY_TORCH], ACCELWEB_KEY=KEY,
            ACCELWEB_SPOOL=str(tmp_path / "spool"),
        )  # fmt: skip
        code, _, err = end(agent)
    assert code == Exit.KEY_REFUSED
    assert "probe" not in err
    assert Spool(tmp_path / "spool").count() == 0
