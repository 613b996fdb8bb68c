"""The curated files: every line is accounted for, and what is wrong is named by file, line and field."""

import csv
import re

import pytest

from stackviz.base.units import UNITS
from stackviz.records.catalog.never_named import never_named
from stackviz.records.cited.files import DATA, cited_data_version, read_cited
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import CuratedDataError
from tests.records.cited.conftest import LINE, SOURCE


@pytest.fixture(scope="module")
def files():
    return read_cited()


def test_every_line_of_the_files_is_read(files):
    lines = 0
    for path in (DATA / "results").glob("*.csv"):
        with path.open(newline="") as file:
            lines += sum(1 for _row in csv.reader(file)) - 1
    assert len(files.results) == lines > 20_000


def test_every_line_has_a_name_of_its_own(files):
    lines = [*files.results, *files.of_hosts]
    assert len({line.data_key for line in lines}) == len(lines)


def test_sources_are_used_and_benchmarks_have_results(files):
    assert {line.source for line in (*files.results, *files.of_hosts)} == {line.key for line in files.sources}
    assert {line.benchmark for line in files.results} == set(CITED_BENCHMARKS)


def test_local_score_and_llama_bench_are_never_mixed(files):
    scores = {line.benchmark for line in files.results if line.source.startswith("localscore")}
    assert scores == {"localscore"}


def test_a_sweep_of_gpu_stream_has_each_kernel_once(files):
    kernels = [
        (result.source, result.reported_name, result.params["kernel"])
        for result in files.results
        if result.benchmark == "gpu-stream"
    ]
    assert len(kernels) == len(set(kernels)) == 60


def test_results_beyond_the_published_peak_are_doubtful(files):
    reasons = [line.doubt for line in files.results]
    assert reasons.count("above the published peak") > 60
    assert {line.doubt for line in files.results if "model=ncf" in str(line.params)} <= {""}
    ncf = [line for line in files.results if line.params.get("model") == "ncf" and line.source.startswith("lambda")]
    assert ncf
    assert all(line.doubt for line in ncf)


def test_amounts_are_in_base_units(files):
    copied = [line for line in files.results if line.benchmark == "babelstream" and line.unit == "TB/s"]
    assert copied[0].amount == pytest.approx(float(copied[0].value) * 1e12)
    assert all(UNITS[line.unit].si in CITED_BENCHMARKS[line.benchmark].units for line in files.results)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"value": "NaN"}, "value: must be finite and not negative, not 'NaN'"),
        ({"value": "inf"}, "value: must be finite and not negative, not 'inf'"),
        ({"value": "-1"}, "value: must be finite and not negative, not '-1'"),
        ({"value": "fast"}, "value: 'fast' is not a number"),
        ({"source": ""}, "source: missing"),
        ({"source": "nobody"}, "source: unknown 'nobody'"),
        ({"unit": "GB/s"}, "unit: GB/s does not belong to llama-bench: token/s"),
        ({"unit": "furlong"}, "unit: unknown 'furlong'"),
        ({"accelerator": "nvidia-h900"}, "accelerator: unknown 'nvidia-h900'"),
        ({"reported_name": ""}, "reported_name: missing"),
        ({"count": "0"}, "count: must be a whole number from 1 to 100,000, not '0'"),
        ({"date": "last week"}, "date: must be like 2026-11-20, not 'last week'"),
        ({"params": "colour=red"}, "params: llama-bench has no parameter 'colour'"),
        ({"params": "model={'a': 'fp8'}"}, "params: model must be words, not an object of a program: {'a': 'fp8'}"),
        ({"params": "test=tg128; model=Llama 2 7B"}, "params: 'model' is repeated or out of order: names are sorted"),
        ({"params": "depth=deep"}, "params: depth must be a whole number, not 'deep'"),
        ({"params": "test"}, "params: 'test' is not name=value"),
        ({"software": "=1"}, "software: '=1' is not name=value"),
        ({"note": "x" * 601}, "note: longer than 600 characters"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_field(folder, changes, problem):
    with pytest.raises(CuratedDataError) as wrong:
        read_cited(folder([LINE, LINE | changes]))
    assert wrong.value.problems == [f"results/llama-bench.csv:3: {problem}"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"url": ""}, "url: '' is not a web address"),
        ({"url": "ftp://example.org/x"}, "url: 'ftp://example.org/x' is not a web address"),
        ({"kind": "friend"}, "kind: must be one of vendor, project, paper, press, community, not 'friend'"),
        ({"title": ""}, "title: missing"),
    ],
)
def test_a_wrong_source_is_named_by_file_line_and_field(folder, changes, problem):
    with pytest.raises(CuratedDataError) as wrong:
        read_cited(folder(sources=[SOURCE | changes]))
    assert wrong.value.problems == [f"sources.csv:2: {problem}"]


def test_a_source_that_must_never_be_named_is_refused(folder):
    address = never_named()[0].address
    with pytest.raises(CuratedDataError, match=re.escape(f"sources.csv:2: url: {address} must not be named")):
        read_cited(folder(sources=[SOURCE | {"url": f"https://{address}/db"}]))


def test_a_benchmark_nobody_defined_is_named(folder):
    with pytest.raises(CuratedDataError, match=r"results/guesses.csv:1: benchmark: nobody defined 'guesses'"):
        read_cited(folder(benchmark="guesses"))


def test_a_file_with_another_header_is_named(folder):
    path = folder() / "results/llama-bench.csv"
    path.write_text(path.read_text().replace("reported_name", "name", 1))
    with pytest.raises(CuratedDataError, match=r"results/llama-bench.csv:1: the header is accelerator,name"):
        read_cited(path.parent.parent)


def test_equal_lines_are_two_results(folder):
    keys = [line.data_key for line in read_cited(folder([LINE, LINE])).results]
    assert keys[1] == f"{keys[0]}-2"


def test_the_version_follows_the_text(folder):
    before = cited_data_version(folder())
    assert cited_data_version(folder()) == before
    assert cited_data_version(folder([LINE | {"note": "twice"}])) != before
