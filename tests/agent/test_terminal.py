"""What a run says in the terminal: rates, intervals, the change since the last run, and how it ends."""

import pytest

from stackviz.agent import before, cli
from stackviz.agent.benchmarks import run as running
from stackviz.agent.benchmarks.run import BenchmarkOptions, NoSuchDevice, run_benchmarks
from stackviz.agent.children import Ended
from stackviz.agent.exit_codes import Exit
from stackviz.agent.measured import LastRun, stated_peak
from stackviz.agent.probing.gather import Gathered
from stackviz.agent.report_text import result_line, result_lines
from stackviz.agent.upload import Server, stamped
from stackviz.report.format import parse_report, to_json
from tests.agent.sites import answer_only, answering, site
from tests.report.format.reports import gemm_result, h100_card, memory_copy_result, report_body, rounds_result

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"


def results(*bodies):
    return parse_report(report_body(results=list(bodies))).results


def slower(factor):
    return rounds_result(samples=[sample * factor for sample in rounds_result()["samples"]])


@pytest.fixture
def agent(monkeypatch, tmp_path, capsys):
    """Run the agent where the benchmarks give these results; -> (exit code, standard output, standard error)."""
    body = report_body()
    found = Gathered(facts=body["facts"], absent={}, cards=[h100_card()], software=[], probes=[])
    monkeypatch.setattr(cli, "gather", lambda _timeout_s, _told: found)
    monkeypatch.setattr(before, "_LOOK_S", 0.0)
    monkeypatch.setattr(before, "_common_folder", lambda: tmp_path)
    for name in ("ACCELWEB_KEY", "ACCELWEB_SERVER", "ACCELWEB_SPOOL"):
        monkeypatch.delenv(name, raising=False)

    def run(command, *argv, measured=()):
        measuring = measured if callable(measured) else lambda *_: list(measured)
        monkeypatch.setattr(cli, "run_benchmarks", measuring)
        code = cli.main([command, *argv, "--spool", str(tmp_path / "spool")])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_a_line_has_rate_interval_time_and_rounds():
    failed = gemm_result(state="failed", reason="out of memory", samples=[])
    assert [result_line(result) for result in results(rounds_result(), failed)] == [
        "gemm bf16 8192 on cuda:0: 689.3 TFLOP/s ±1.6 %, 1.595 ms, 6 samples in 3 rounds",
        "gemm bf16 8192 on cuda:0: failed, out of memory",
    ]


def test_a_line_says_what_changed_and_what_nobody_can_tell():
    busy = {"foreign_cpu_ratio": 0.48, "processes": ["stress-ng"]}
    (result,) = results(rounds_result(device="cpu", card=None, interference=busy))
    line = result_line(result, before=689.3e12 * 2)
    assert "; 0.5 times the last run; cannot tell: other programs used 48% of the processors (stress-ng)" in line


def test_a_copy_is_a_share_of_what_clock_and_bus_allow():
    card = h100_card(facts={"memory_clock_max_hz": 2.619e9, "memory_bus_bits": 5120})
    report = parse_report(report_body(cards=[card], results=[memory_copy_result()]))
    assert stated_peak(report.results[0], report.cards[0]) == pytest.approx(3.352e12, rel=0.001)
    assert " % of" not in next(result_lines(report))
    assert "% of 3.352 TB/s by clock and bus" in next(result_lines(report))


# ---- the last run ----------------------------------------------------------------------------------------------------


def test_a_regression_has_its_own_exit_code(agent):
    measure = ("bench", "-q", "--fail-below", "0.95")
    code, _, err = agent(*measure, measured=[rounds_result()])
    assert (code, "--fail-below compared nothing: no earlier run" in err) == (Exit.OK, True)
    code, out, err = agent(*measure, measured=[slower(1.03)])
    assert (code, "0.971 times the last run" in out, err) == (Exit.OK, True, "")
    code, _, err = agent(*measure, measured=[slower(1.12)])
    assert code == Exit.REGRESSION == 9
    assert "slower than 0.95 times the last run: gemm bf16 8192 on cuda:0" in err
    assert agent(*measure, measured=[slower(1.12)])[0] == Exit.OK


def test_disturbed_or_failed_is_no_regression_nor_remembered(agent, tmp_path):
    measure = ("bench", "-q", "--fail-below", "0.95")
    agent(*measure, measured=[rounds_result()])
    disturbed = slower(2) | {"interference": {"card_ratio": 0.5, "card_processes": ["python"]}}
    code, out, _ = agent(*measure, measured=[disturbed])
    assert (code, "cannot tell: other processes used 50% of the card (python)" in out) == (Exit.OK, True)
    (result,) = results(rounds_result())
    assert LastRun(tmp_path / "spool").rate(result) == pytest.approx(689.3e12, rel=0.001)
    other = gemm_result(params={"dtype": "bf16", "m": 4096, "n": 4096, "k": 4096})
    wrong = slower(2) | {"state": "failed", "reason": "the product is wrong"}
    assert agent(*measure, measured=[wrong, other])[0] == Exit.OK


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"rates": 7}', b'{"rates": {"x": "y"}, "name": 3}', b"\xff", b"[" * 9999]
)
def test_a_file_that_is_none_is_no_last_run(tmp_path, content):
    (tmp_path / "last-run.json").write_bytes(content)
    (result,) = results(rounds_result())
    assert (LastRun(tmp_path).rate(result), LastRun(tmp_path).name) == (None, None)


def test_a_second_name_is_said_and_what_is_sent_has_the_time(agent):
    with site() as made:
        run = ("run", "--server", made.url, "--key", KEY, "--yes", "--timeout", "5")
        assert "was called" not in agent(*run, "--name", "rack-7", measured=[rounds_result()])[2]
        _, _, err = agent(*run, "--name", "rack-8", measured=[rounds_result()])
    for words in ("this machine was called rack-7 before", "689.3 TFLOP/s", "1 times the last run"):
        assert words in err
    assert made.received[0][1]["sent_at"].endswith("Z")


@pytest.mark.parametrize("share", ["0", "1.5", "x", "-1", "nan"])
def test_a_share_is_between_0_and_1(agent, share):
    with pytest.raises(SystemExit) as ended:
        agent("bench", f"--fail-below={share}")
    assert ended.value.code == Exit.USAGE


# ---- how it ends -----------------------------------------------------------------------------------------------------


def test_a_dry_run_measures_nothing(agent):
    code, out, err = agent("run", "--dry-run", measured=lambda *_: pytest.fail("it measured"))
    assert code == Exit.OK
    assert parse_report(out).results == ()
    assert "nothing was measured" in err


def test_a_device_that_is_not_there_ends_with_a_code_of_its_own(agent, monkeypatch):
    def none_such(*_arguments):
        raise NoSuchDevice("nothing to measure: torch says that no device is cuda")

    for command in (("bench", "-q", "--device", "cuda"), ("run", "--server", "http://localhost:9", "--key", KEY, "-q")):
        code, out, err = agent(*command, measured=none_such)
        assert (code, out) == (Exit.USAGE, "")
        assert "torch says that no device is cuda. Nothing was measured, stored or sent." in err
    monkeypatch.setattr(running, "run_child", lambda *_: Ended("ok", None, (), 0.1))
    with pytest.raises(NoSuchDevice, match="no device is cuda"):
        run_benchmarks(BenchmarkOptions(devices=("cuda",)), [])


def test_a_run_whose_benchmarks_all_fail_does_not_end_well(agent):
    failed = gemm_result(state="failed", reason="out of memory", samples=[])
    assert agent("bench", "-q", measured=[failed, failed])[0] == Exit.NOTHING_MEASURED
    assert agent("bench", "-q", measured=[failed, gemm_result()])[0] == Exit.OK


def test_https_on_a_port_that_speaks_http_is_said():
    with answering(answer_only, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", 1, scheme="https") as url:
        got = Server(url, KEY, 5.0).get_key()
    assert got.text == "this port speaks http, not https: pass --server http://..., or the port that has https"
    assert got.is_final


# ---- the time of sending ---------------------------------------------------------------------------------------------


def test_each_attempt_states_its_time_and_is_the_same_report():
    body = to_json(parse_report(report_body())).encode()
    first, second = (parse_report(stamped(body, now)) for now in (1_800_000_000.5, 1_800_000_060))
    assert (second.sent_at - first.sent_at).total_seconds() == 59.5
    assert first.unknown_fields == ()
    assert stamped(stamped(body, 1.0), 2.0) == stamped(body, 1.0)
    for now in (1e30, -1e30, float("nan"), float("inf")):  # beyond the calendar
        assert stamped(body, now) == body
