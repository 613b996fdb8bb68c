"""`--llama-bench FILE` adds what llama-bench printed to the report, on the card it names."""

import json

import pytest

from stackviz.agent.diagnose import FileRefused
from stackviz.agent.llama_bench import attached_results, read_llama_file
from tests.dumps.test_llama_results import RUN, table

RTX_4090 = {"index": 3, "reported_name": "NVIDIA GeForce RTX 4090"}
OTHER = {"index": 0, "reported_name": "NVIDIA GeForce RTX 3090"}


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "bench.txt").write_text(text, encoding="utf-8")
        return str(tmp_path / "bench.txt")

    return write


def test_results_are_on_the_card_with_the_printed_name(file):
    (result,) = attached_results(read_llama_file(file(json.dumps([RUN]))), [OTHER, RTX_4090])
    assert (result["benchmark"], result["unit"], result["card"]) == ("llama-bench", "token/s", 3)
    assert result["samples"] == RUN["samples_ts"]
    assert result["started_at"] == "2026-07-21T18:53:15Z"


@pytest.mark.parametrize("cards", [[], [OTHER], [RTX_4090, RTX_4090 | {"index": 4}]])
def test_a_card_that_is_not_certain_is_none(file, cards):
    (result,) = attached_results(read_llama_file(file(json.dumps([RUN]))), cards)
    assert result["card"] is None


def test_a_table_counts_as_of_now(file):
    (result,) = attached_results(read_llama_file(file(table())), [])
    assert result["started_at"].endswith("Z")
    assert result["conditions"]["mean_of_runs"] is True


@pytest.mark.parametrize("text", ["", "a diary", '{"build_commit": 1', "| model | test |\n"])
def test_a_file_without_results_is_refused_by_name(file, text):
    with pytest.raises(FileRefused, match=r"bench\.txt"):
        read_llama_file(file(text))


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(FileRefused, match="no/such/file"):
        read_llama_file("/no/such/file")
