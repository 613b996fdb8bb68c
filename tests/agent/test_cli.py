"""The command line: what it prints, what it keeps, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackviz.agent import before, cli, sending
from stackviz.agent import spool as spool_module
from stackviz.agent.exit_codes import Exit
from stackviz.agent.probing.gather import Gathered
from stackviz.agent.spool import Spool
from stackviz.report.format import parse_report
from stackviz.report.measuring import RUNNABLE
from tests.agent.sites import ACCEPTED, Reply, site
from tests.report.dumps.test_llama_results import RUN
from tests.report.format.reports import gemm_result, h100_card, report_body

ROOT = Path(__file__).parents[2]
KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"


def gathered(**facts):
    body = report_body()
    return Gathered(
        facts=body["facts"] | facts, absent={}, cards=[h100_card()], software=body["software"], probes=body["probes"]
    )


@pytest.fixture(autouse=True)
def _quick_machine(monkeypatch, tmp_path):
    """Probes and benchmarks answer at once; nothing of this machine's environment shows through."""
    monkeypatch.setattr(cli, "gather", lambda _timeout_s, _told: gathered())
    monkeypatch.setattr(cli, "run_benchmarks", lambda *_: [gemm_result()])
    monkeypatch.setattr(before, "_LOOK_S", 0.0)
    monkeypatch.setattr(before, "_common_folder", lambda: tmp_path)
    for name in ("ACCELWEB_KEY", "ACCELWEB_SERVER", "ACCELWEB_SPOOL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def agent(tmp_path, capsys):
    """Run the agent; -> (exit code, standard output, standard error)."""

    def run(*argv):
        code = cli.main([*argv, "--spool", str(tmp_path / "spool")])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "spool")


def run_at(url):
    return ["run", "--server", url, "--key", KEY, "--timeout", "0.2", "-q"]


def test_run_reads_measures_sends_and_prints_the_receipt(agent, spool):
    with site() as made:
        code, out, _ = agent(*run_at(made.url), "--yes", "--name", "rack-7")
        _, as_json, _ = agent(*run_at(made.url), "--yes", "--json")
    _, document = made.received[0]
    assert (code, out) == (Exit.OK, f"{made.url}/receipts/{document['id']}/\n")
    assert document["machine"]["name"] == "rack-7"
    assert document["results"][0]["samples"]
    assert spool.count() == 0
    told = json.loads(as_json)
    assert (told["exit"], told["waiting"]) == (0, 0)
    assert told["receipt_url"] == f"{made.url}/receipts/{told['report']}/"
    assert told["status_url"].startswith(made.url)


def test_key_comes_from_environment_or_file(agent, monkeypatch, tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    with site() as made:
        monkeypatch.setenv("ACCELWEB_KEY", KEY)
        first = agent("run", "--server", made.url, "--yes")
        monkeypatch.delenv("ACCELWEB_KEY")
        second = agent("run", "--server", made.url, "--key-file", str(tmp_path / "key"))
    assert [headers["authorization"] for headers, _ in made.received] == [f"Bearer {KEY}"] * 2
    for code, out, err in (first, second):
        assert code == Exit.OK
        assert KEY not in out + err


@pytest.mark.parametrize(
    ("statuses", "code", "waits"),
    [
        ((503, 429), Exit.NOT_DELIVERED, 1), ((401, 403), Exit.KEY_REFUSED, 1),
        ((404, 307), Exit.WRONG_SERVER, 1), ((409, 413, 422), Exit.REJECTED, 0),
    ],
)  # fmt: skip
def test_each_answer_has_its_exit_code(agent, spool, statuses, code, waits):
    for number, status in enumerate(statuses, 1):
        with site(Reply(status, '{"error": "is missing", "field": "id"}')) as made:
            ended, out, err = agent(*run_at(made.url), "--yes")
        assert (ended, spool.count(), out) == (code, waits * number, ""), status
        assert code.meaning in err
        assert len(list(spool.rejected.glob("*Z-*[!r].json"))) == (1 - waits) * number


def test_what_could_not_be_delivered_is_delivered_later(agent, spool):
    with site(Reply(503, "{}")) as made:
        assert agent(*run_at(made.url), "--yes")[0] == Exit.NOT_DELIVERED
    with site() as made:
        spool.confirm(made.url)
        code, _, _ = agent("upload", "--server", made.url, "--key", KEY)
    assert (code, len(made.received), spool.count()) == (Exit.OK, 1, 0)


@pytest.mark.parametrize(
    ("status", "code", "sent", "waits"), [(422, Exit.REJECTED, 2, 0), (401, Exit.KEY_REFUSED, 1, 2)]
)
def test_a_rejected_report_does_not_hold_up_the_others(agent, spool, status, code, sent, waits):
    """A refused key stops before the next report."""
    with site(Reply(status, "{}"), ACCEPTED) as made:
        spool.put(parse_report(report_body(created_at="2026-01-01T00:00:00Z")))
        ended, _, _ = agent(*run_at(made.url), "--yes")
    assert (ended, len(made.received), spool.count()) == (code, sent, waits)


def test_unreadable_report_does_not_block_others(agent, spool, monkeypatch):
    real = spool_module._read

    def read(path):
        if path.name.startswith("2026-01-01"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(spool_module, "_read", read)
    with site(ACCEPTED) as made:
        spool.put(parse_report(report_body(created_at="2026-01-01T00:00:00Z")))
        code, _, err = agent(*run_at(made.url)[:-1], "--yes")
        assert (code, len(made.received), spool.count()) == (Exit.SPOOL, 1, 1)
        assert "2026-01-01T000000Z" in err
        assert "cannot be read (Permission denied); it stays there" in err
        _, out, _ = agent("upload", "--server", made.url, "--key", KEY, "--yes", "--json")
    assert len(json.loads(out)["unread"]) == 1


def test_nothing_is_sent_unconfirmed(agent, spool, monkeypatch):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: PTH123, SIM115
    with site() as made:
        code, _, err = agent(*run_at(made.url))
    assert (code, made.received, spool.count()) == (Exit.NOT_CONFIRMED, [], 1)
    assert "This will be sent to" in err
    assert "NVIDIA H100 80GB HBM3" in err
    assert "--yes" in err
    sys.stdin.close()


@pytest.mark.parametrize(("answer", "code", "sent"), [("y\n", Exit.OK, 2), ("\n", Exit.NOT_CONFIRMED, 0)])
def test_on_a_terminal_it_asks_once_per_server(agent, monkeypatch, answer, code, sent):
    asked = []

    class Terminal:
        def isatty(self):
            return True

        def readline(self):
            asked.append(1)
            return answer

    monkeypatch.setattr(sys, "stdin", Terminal())
    with site() as made:
        ended = [agent(*run_at(made.url))[0] for _ in range(2 if sent else 1)]
    assert (ended[-1], len(made.received), len(asked)) == (code, sent, 1)


@pytest.mark.parametrize(("answer", "sent"), [("y\n", 3), ("n\n", 0), (None, 3)])
def test_one_answer_is_about_all_reports_that_wait(agent, spool, monkeypatch, answer, sent):
    """Where sending is agreed they are still named."""
    for minute in (1, 2):
        spool.put(parse_report(report_body(created_at=f"2026-01-01T00:0{minute}:00Z")))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True, readline=lambda: answer))
    with site() as made:
        if answer is None:
            spool.confirm(made.url)
        _, _, err = agent(*run_at(made.url)[:-1])
    assert "2026-01-01 00:01 UTC, rack-7" in err
    assert ("Send these 3 reports" in err) == (answer is not None)
    assert len(made.received) == sent


def test_dry_runs_print_and_send_nothing(agent, spool):
    code, out, _ = agent("run", "--dry-run", "-q")
    assert (code, parse_report(out).unknown_fields, spool.count()) == (0, (), 0)
    spool.put(parse_report(report_body()))
    code, out, _ = agent("upload", "--dry-run")
    assert (code, parse_report(out).machine.name, spool.count()) == (0, "rack-7", 1)
    code, out, _ = agent("probe", "-q")
    assert (code, "2.13.0+cu130" in out, "79.65 GiB" in out, spool.count()) == (0, True, True, 1)


def test_bench_prints_and_can_keep_its_report(agent, spool, tmp_path):
    code, out, _ = agent("bench", "--quick", "--keep", "-q")
    assert (code, spool.count()) == (0, 1)
    assert "gemm bf16 8192 on cuda:0: 687.2 TFLOP/s, 1.6 ms, 5 samples" in out
    _, out, err = agent("bench", "--json")
    assert parse_report(out).results  # JSON alone
    assert "estimating" in err
    (tmp_path / "spool").rename(tmp_path / "aside")
    (tmp_path / "spool").write_text("a file")
    code, _, err = agent("bench", "--keep", "-q")
    assert (code, "cannot write" in err) == (Exit.SPOOL, True)


@pytest.fixture
def without_torch(monkeypatch):
    machine = gathered()
    del machine.facts["torch.version"]
    machine.absent["torch.version"] = {"reason": "not_installed", "detail": "torch is not installed for this Python"}
    monkeypatch.setattr(cli, "gather", lambda _timeout_s, _told: machine)
    return machine


def test_without_torch_the_benchmarks_are_results_that_say_so(agent, without_torch):
    _, out, _ = agent("bench", "--quick", "--json", "-q")
    results = parse_report(out).results
    assert {(result.state, result.reason) for result in results} == {
        ("skipped", "not_installed: torch is not installed for this Python")
    }
    assert [result.benchmark for result in results] == [
        key for key, known in RUNNABLE.items() if "cpu" not in known.not_on
    ]
    without_torch.absent.clear()  # a torch that crashes
    _, out, _ = agent("bench", "--json", "-q")
    assert {result.state for result in parse_report(out).results} == {"failed"}


def test_a_benchmark_that_is_named_twice_is_run_once(agent, monkeypatch):
    seen = []
    monkeypatch.setattr(cli, "run_benchmarks", lambda options, *_: seen.append(options) or [gemm_result()])
    agent("bench", "-q", "--only", "gemm", "--benchmark", "gemm")
    assert [options.benchmarks for options in seen] == [("gemm",)]


def test_comparison_without_results_fails(agent, without_torch, tmp_path):
    """A pipeline that asks for a comparison must not take the absence of torch for "not slower"."""
    code, _, err = agent("bench", "--quick", "--fail-below", "0.95", "-q")
    assert (code, "not_installed" in err) == (Exit.NOTHING_MEASURED, True)
    assert agent("bench", "--quick", "-q")[0] == Exit.OK
    (tmp_path / "llama.json").write_text(json.dumps([RUN]), encoding="utf-8")
    attached = ("--attach", str(tmp_path / "llama.json"))
    assert agent("bench", "--quick", "--fail-below", "0.95", "-q", *attached)[0] == Exit.OK


def test_llama_bench_results_are_added_with_or_without_run(agent, tmp_path):
    (tmp_path / "llama.json").write_text(json.dumps([RUN]), encoding="utf-8")
    attach = ("--llama-bench", str(tmp_path / "llama.json"))
    _, out, _ = agent("bench", "--json", "-q", *attach)
    assert [result.benchmark for result in parse_report(out).results] == ["gemm", "llama-bench"]
    _, out, _ = agent("run", "--dry-run", "--no-bench", "-q", *attach)
    (result,) = parse_report(out).results
    assert (result.benchmark, result.unit, result.samples) == ("llama-bench", "token/s", tuple(RUN["samples_ts"]))
    assert parse_report(out).unknown_fields == ()


AT_EXAMPLE = ["--server", "https://example.org"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run"], ""),
        (["run", *AT_EXAMPLE], ""),
        (["run", "--server", "example.org", "--key", KEY], "--server must be an address"),
        (["run", "--server", "http://[", "--key", KEY], "--server must be an address"),
        (["run", *AT_EXAMPLE, "--key", "two words"], ""),
        (["run", *AT_EXAMPLE, "--key-file", "/no/such/file"], ""),
        (["upload", *AT_EXAMPLE, "--key", KEY, "--timeout", "0"], ""),
        (["probe", "--name", "\x07"], ""),
        (["bench", "--benchmark", "quake"], ""),
        (["bench", "--benchmark", "llama-bench"], ""),
        (["bench", "--device", "foo"], "choose cuda, xpu, mps, mlx, cpu, or one card: cuda:1"),
        (["bench", "--device", "mps:1"], ""),
        (["bench", "--device", "cuda:"], ""),
        (["run", "--llama-bench", "/no/such/file"], ""),
        (["dance"], ""),
        ([], ""),
    ],
)
def test_a_wrong_argument_is_said_before_anything_is_measured(argv, words, monkeypatch, capsys):
    monkeypatch.setattr(cli, "gather", lambda *_: pytest.fail("it measured"))
    with pytest.raises(SystemExit) as ended:
        cli.main(argv)
    assert ended.value.code == Exit.USAGE
    err = capsys.readouterr().err
    assert ("error:" in err, words in err) == (True, True)


@pytest.mark.parametrize(
    ("error", "code"), [(ZeroDivisionError, Exit.UNEXPECTED), (KeyboardInterrupt, Exit.INTERRUPTED)]
)
def test_errors_and_interruptions_have_their_exit_codes(agent, monkeypatch, error, code):
    def fail(*_arguments):
        raise error

    monkeypatch.setattr(cli, "gather", fail)
    ended, _, err = agent("run", "--dry-run")
    assert (ended, "please report" in err) == (code, code is Exit.UNEXPECTED)


def test_exit_codes_are_documented_and_the_worst_wins(capsys):
    assert Exit.worst() is Exit.OK
    assert Exit.worst(Exit.OK, Exit.REJECTED) is Exit.REJECTED
    assert Exit.worst(Exit.REJECTED, Exit.KEY_REFUSED, Exit.OK) is Exit.KEY_REFUSED
    assert set(sending._EXITS) == set(sending.UploadOutcome)
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    printed = capsys.readouterr().out
    manual = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
    for exit_ in Exit:
        assert f"| {exit_.value} | {exit_.meaning} |" in manual
        assert any(line.startswith(f"{exit_.value:>5} {exit_.meaning[:20]}") for line in printed.splitlines())
    assert "llama-bench, nccl-tests and nvbandwidth" in printed


def test_agent_starts_with_stdlib_only(tmp_path):
    """From another folder, without site-packages, in a terminal that knows only ASCII."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from stackviz.agent.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, "probe", "--json", "-q"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environ, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = parse_report(done.stdout)
    assert ([probe.state for probe in report.probes], report.unknown_fields) == (["ok"] * 7, ())


def test_report_leaves_spool_despite_bad_address(agent, spool):
    with site(Reply(202, '{"id": "THE-ID", "status_url": "http://[x", "receipt_url": "http://[x"}')) as made:
        code, out, _ = agent(*run_at(made.url), "--yes", "--json")
    assert (code, json.loads(out)["receipt_url"], spool.count()) == (Exit.OK, None, 0)


def test_key_in_answer_is_neither_shown_nor_stored(agent, spool):
    with site(Reply(422, f'{{"error": "\x1b[2JAuthorization: Bearer {KEY}"}}')) as made:
        code, out, err = agent("run", "--server", made.url, "--key", KEY, "--timeout", "0.2", "--yes")
    (kept,) = spool.rejected.glob("*.answer.json")
    assert code == Exit.REJECTED
    assert "<key>" in kept.read_text()
    for text in (out, err, kept.read_text()):
        assert KEY not in text
        assert "\x1b" not in text
        assert "\\u001b" not in text
