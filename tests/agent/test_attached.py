"""`--attach FILE` adds what other tools measured to the report, on the cards they name."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from stackviz.agent.arguments import make_parser
from stackviz.agent.cli import _COMMANDS
from stackviz.agent.diagnose import FileRefused, attached_results, read_attached_file
from stackviz.agent.report_text import result_lines
from stackviz.report.format import parse_report
from tests.report.dumps.test_llama_results import RUN, table
from tests.report.format.reports import report_body
from tests.report.importers.own_dump import fixture
from tests.report.importers.test_nvbandwidth import DOCUMENT

RTX_4090 = {"index": 3, "reported_name": "NVIDIA GeForce RTX 4090"}
OTHER = {"index": 0, "reported_name": "NVIDIA GeForce RTX 3090"}


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "bench.txt").write_text(text, encoding="utf-8")
        return str(tmp_path / "bench.txt")

    return write


def test_results_are_on_the_card_with_the_printed_name(file):
    (result,) = attached_results(read_attached_file(file(json.dumps([RUN]))), [OTHER, RTX_4090])
    assert (result["benchmark"], result["unit"], result["card"]) == ("llama-bench", "token/s", 3)
    assert result["samples"] == RUN["samples_ts"]
    assert result["started_at"] == "2026-07-21T18:53:15Z"


@pytest.mark.parametrize("cards", [[], [OTHER], [RTX_4090, RTX_4090 | {"index": 4}]])
def test_a_card_that_is_not_certain_is_none(file, cards):
    (result,) = attached_results(read_attached_file(file(json.dumps([RUN]))), cards)
    assert result["card"] is None


def test_a_table_counts_as_of_now(file):
    (result,) = attached_results(read_attached_file(file(table())), [])
    assert abs(datetime.now(UTC) - datetime.fromisoformat(result["started_at"])) < timedelta(minutes=1)
    assert result["conditions"]["mean_of_runs"] is True


def test_a_file_without_results_is_refused_by_name(file):
    for text in ("", "a diary", '{"build_commit": 1', "| model | test |\n"):
        with pytest.raises(FileRefused, match=r"bench\.txt"):
            read_attached_file(file(text))
    lines = [line for line in fixture("dumps/tools/nccl_tests.txt").splitlines() if "all_reduce" not in line]
    with pytest.raises(FileRefused, match="paste the command too"):
        read_attached_file(file("\n".join(lines).replace("  sum ", " none ")))
    with pytest.raises(FileRefused, match="no/such/file"):
        read_attached_file("/no/such/file")


A100 = "NVIDIA A100-SXM4-40GB"


def test_results_between_cards_are_on_those_of_the_machine(file):
    cards = [OTHER] + [{"index": 2 * number + 1, "reported_name": A100} for number in range(4)]
    results = attached_results(read_attached_file(file(fixture("dumps/tools/nccl_tests.txt"))), cards)
    assert {(result["benchmark"], result["unit"], result["framework"]) for result in results} == {
        ("nccl-tests", "s", "other")
    }
    assert {(result["card"], tuple(result["cards"])) for result in results} == {(None, (1, 3, 5, 7))}


def test_copies_between_two_of_four_cards_are_on_none_of_them(file):
    """Which two were visible to the tool nobody can tell."""
    cards = [{"index": number, "reported_name": A100} for number in range(4)]
    results = attached_results(read_attached_file(file(fixture("dumps/tools/nvbandwidth.txt"))), cards)
    assert len(results) == 8
    assert all(result["card"] is None and result["cards"] == [] for result in results)


@pytest.mark.parametrize("option", ["--attach", "--llama-bench"])
def test_both_names_of_the_option_read_all_tools(file, option):
    name = file(fixture("dumps/tools/nccl_tests.txt"))
    given = make_parser(_COMMANDS).parse_args(["bench", option, name])
    assert [reading.kind for readings in given.attach for reading in readings] == ["nccl-tests"]


def test_a_name_in_a_file_commands_no_terminal(file):
    text = json.dumps(DOCUMENT).replace("read_ce", r"read\u009b2J\u202ece")
    readings = read_attached_file(file(text))
    document = report_body(cards=[], results=attached_results(readings, []))
    shown = "\n".join(result_lines(parse_report(document)))
    assert "read?2J?ce" in shown
    assert not {"\x9b", "\u202e"} & set(shown)
