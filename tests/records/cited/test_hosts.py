"""Results of public hosts: each is a cited result of its host, and nothing that differs in kind is compared."""

import csv
import os
from collections import Counter, defaultdict
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from stackviz.base.units import UNITS
from stackviz.records.catalog.models import Vendor
from stackviz.records.cited.files import DATA, HOST_HEADER, RESULT_HOSTS_HEADER, read_cited
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import results_of_hosts
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.models import Host, HostLoad
from tests.live import ROOT
from tests.records.cited.conftest import LINE, write_csv

HOST = "rtx-4090-raspberry-pi-cm5-2025-12"
OTHER_HOST = "rtx-4090-core-ultra-265k-2025-12"
OF_HOST = {"host": HOST} | LINE
FACTS = Path(os.environ.get("ACCELWEB_HOST_FACTS") or ROOT.parent / "shared" / "facts" / "hosts")

# Benchmark of the facts -> those of ours that have its figures.
BENCHMARKS = {
    "anemll-bench": {"memory-bandwidth"},
    "bert-inference": {"model-time"},
    "club-3090 bench": {"llm-decode", "llm-prefill"},
    "colibri": {"llm-decode"},
    "ds4-bench": {"llm-decode", "llm-prefill"},
    "geerlingguy ai-benchmarks": {"llm-decode"},
    "llama-bench": {"llama-bench", "llm-decode"},  # one was cited before, as of an engine that is not named
    "llama-server": {"llm-decode"},
    "llama.cpp": {"llm-decode", "llm-prefill"},
    "llamafactory": {"llm-decode"},
    "llmfit llamacpp": {"llm-decode"},
    "llmfit ollama": {"llm-decode"},
    "llmfit vllm": {"llm-decode"},
    "memtest_vulkan": {"memory-bandwidth"},
    "mlx-benchmark": {"operator-time"},
    "mlx-lm": {"mlx-lm"},
    "mlx-swift-lm": {"llm-decode", "llm-prefill"},
    "modded-nanogpt": {"model-time"},
    "normiebench": {"llama-bench"},
    "nvidia-smi": {"average-power"},
    "ollama": {"llm-decode"},
    "omlx": {"llm-decode"},
    "rapid-mlx": {"llm-decode", "llm-prefill"},
    "realizar": {"llm-decode"},
    "rocm-bandwidth-test": {"memory-bandwidth"},
    "sglang": {"llm-decode"},
    "stable-diffusion": {"model-time", "generation-time"},
    "torch-copy": {"memory-bandwidth"},
    "torch-matmul": {"gemm"},
    "torch-multiply": {"operator-time"},
    "vgg16-cifar10": {"model-time"},
    "vllm": {"llm-decode"},
    "vllm-ascend": {"llm-decode"},
    "vllm-serve": {"llm-throughput", "llm-decode"},
}
ROUNDED = 0.005  # a table prints 23.2 where the stored run has 23.22


@pytest.fixture(scope="module")
def files():
    return read_cited()


def test_every_figure_of_the_facts_is_a_result_of_its_host(files):
    if not (FACTS / "results.csv").is_file():
        pytest.skip("the facts about hosts are not here: ACCELWEB_HOST_FACTS names their folder")
    with (FACTS / "results.csv").open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file))
    unused = defaultdict(list)
    for line in [*files.results, *files.of_hosts]:
        if line.host:
            unused[line.host].append(line)
    lost = []
    for fact in facts:
        amount = float(fact["value"])
        wanted = 1 / amount if fact["unit"] == "1/s" else amount  # iterations per second are cited as time
        mine = [line for line in unused[fact["host"]] if line.benchmark in BENCHMARKS[fact["benchmark"]]]
        nearest = min(mine, key=lambda line: abs(line.amount - wanted), default=None)
        if nearest is None or abs(nearest.amount - wanted) > ROUNDED * wanted:
            lost.append(fact)
        else:
            unused[fact["host"]].remove(nearest)
    assert not lost
    assert len(facts) == 734


def test_figures_cited_before_their_host_have_one_line(files):
    assert len(files.of_hosts) == 594
    named = Counter(line.benchmark for line in files.results if line.host)
    assert named == {"operator-time": 180, "llm-decode": 21, "system-power": 21, "mlx-lm": 4}
    assert len({line.host for line in [*files.results, *files.of_hosts] if line.host}) == 139


def test_different_kinds_of_figures_never_share_a_key(files):
    cases = defaultdict(list)
    for line in [*files.results, *files.of_hosts]:
        cases[line.benchmark, line.params_key].append(line.params)
    kinds = {"model-time": ("recipe", "per"), "llm-throughput": ("concurrency", "speculative")}
    kinds |= {"llm-decode": ("speculative", "counted", "task", "depth"), "mlx-lm": ("speculative", "depth")}
    for (benchmark, _key), params in cases.items():
        for name in kinds.get(benchmark, ()):
            assert len({item.get(name) for item in params}) == 1, (benchmark, name, params[0])


def test_drafted_rates_are_not_held_against_the_weights(files):
    drafted = [line for line in files.of_hosts if line.params.get("speculative", "none") != "none"]
    assert len(drafted) > 50
    assert {CITED_BENCHMARKS[line.benchmark].bound(line.params) for line in drafted} == {None}


def test_cards_of_two_kinds_and_processors_have_no_sheet(files):
    computed = [line for line in files.of_hosts if "computed on the CPU" in line.note]
    mixed = [line for line in files.of_hosts if " + " in line.reported_name]
    assert len(computed) == 6
    assert len(mixed) > 10
    assert {line.accelerator for line in [*computed, *mixed]} == {"-"}


@pytest.fixture
def host_folder(folder):
    """`host_folder(lines, result_hosts)` writes the files of `folder` and lines of hosts."""

    def write(lines, result_hosts=None):
        path = folder()
        (path / "hosts").mkdir(exist_ok=True)
        write_csv(path / "hosts" / "llama-bench.csv", HOST_HEADER, lines)
        if result_hosts is not None:
            write_csv(path / "result_hosts.csv", RESULT_HOSTS_HEADER, result_hosts)
        return path

    return write


@pytest.fixture
def pi(curated, db):
    return Host.objects.create(
        slug=HOST,
        title="RTX 4090 on a Raspberry Pi",
        vendor=Vendor.objects.get(slug="nvidia"),
        seen_on="2025-12-18",
        source_url="https://example.org/pi",
        source_kind="issue",
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"host": ""}, "host: missing"),
        ({"host": "nobody"}, "host: unknown 'nobody'"),
        ({"value": "fast"}, "value: 'fast' is not a number"),
        ({"value": "3"}, "params: another line has this run: name what differs, in params or software"),
    ],
)
def test_a_wrong_line_of_a_host_is_named(host_folder, changes, problem):
    with pytest.raises(CuratedDataError) as wrong:
        read_cited(host_folder([OF_HOST, OF_HOST | changes]))
    assert wrong.value.problems == [f"hosts/llama-bench.csv:3: {problem}"]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([{"params": "test=tg1"}], "2: source: no result has this source, name and parameters"),
        ([{"params": "test"}], "2: params: 'test' is not name=value"),
        ([{"host": "nobody"}], "2: host: unknown 'nobody'"),
        ([{}, {"host": OTHER_HOST, "params": "quant=Q4_0; test=tg128"}], f"3: host: {{key}} is of {HOST} already"),
    ],
)
def test_a_wrong_host_of_results_is_named(host_folder, lines, problem):
    line = {"host": HOST, "source": "scoreboard", "reported_name": "RTX 4090", "params": "test=tg128"}
    path = host_folder([], [line | changes for changes in lines])
    with pytest.raises(CuratedDataError) as wrong:
        read_cited(path)
    (path / "result_hosts.csv").unlink()
    key = read_cited(path).results[0].data_key
    assert wrong.value.problems == [f"result_hosts.csv:{problem.format(key=key)}"]


def test_a_result_is_of_its_host_and_its_accelerator(pi, host_folder):
    named = {"host": HOST, "source": "scoreboard", "reported_name": "RTX 4090", "params": "test=pp512"}
    load_cited(host_folder([OF_HOST | {"value": "100"}], [named]))
    rows = results_of_hosts([pi.pk])
    assert sorted(row.value for row in rows) == ["100", "13944.43"]
    assert {(row.accelerator.slug, row.state) for row in rows} == {(LINE["accelerator"], "public")}
    assert CitedResult.objects.get(value="189.05").host is None


def test_a_result_comes_and_goes_with_its_host(pi, host_folder):
    path = host_folder([OF_HOST | {"value": "100"}], [])
    load_cited(path)
    pi.delete()
    HostLoad.objects.create(version="without hosts")
    load_cited(path)
    assert not CitedResult.objects.filter(value="100").exists()
    assert CitedResult.objects.count() == 2


def test_an_impossible_rate_of_a_host_is_refused(pi, host_folder, monkeypatch):
    path = host_folder([OF_HOST, OF_HOST | {"value": "400", "software": ""}])
    monkeypatch.setattr(
        "stackviz.records.cited.management.commands.load_cited.load_cited", lambda **_: load_cited(path)
    )
    with pytest.raises(CommandError, match=r"hosts/llama-bench.csv:3: value: above the published peak"):
        call_command("load_cited", stdout=StringIO())
    load_cited(host_folder([OF_HOST | {"value": "400", "doubt": "above the published peak"}]))
    assert [row.state for row in results_of_hosts([pi.pk])] == ["doubtful"]


def test_units_of_hosts_are_base_units_or_multiples(files):
    assert all(UNITS[line.unit].si in CITED_BENCHMARKS[line.benchmark].units for line in files.of_hosts)


def test_files_of_hosts_have_the_names_of_benchmarks():
    assert {path.stem for path in (DATA / "hosts").glob("*.csv")} <= set(CITED_BENCHMARKS)
