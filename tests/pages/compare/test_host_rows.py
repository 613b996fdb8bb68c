"""Cited results of hosts share a row only where test and engine agree; the factor between two is explained."""

import csv
import io
import re
from urllib.parse import urlencode

import pytest

from stackviz.pages.compare.host_charts import host_charts
from stackviz.pages.compare.host_rows import host_results
from stackviz.pages.compare.query import Address
from stackviz.pages.compare.subjects import heads_of, loaded_host
from stackviz.pages.compare.why import explanations
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedEdition, CitedResult, CitedSource
from stackviz.records.hosts.queries import public_hosts
from tests.records.hosts.factories import add_host, card_fields
from tests.responses import words_of

RATE = {"model": "Bonsai-8B", "quant": "Q1_0", "test": "tg128"}


@pytest.fixture
def source(curated, db):
    return CitedSource.objects.create(key="issue-1", title="An issue", url="https://github.com/example/issues/1")


@pytest.fixture
def make_host(source):
    def make(title, slug, **fields):
        accelerator = Accelerator.objects.get(slug=slug)
        return add_host(
            Vendor.objects.get(pk=accelerator.vendor_id),
            title=title,
            system=fields.pop("system", "Ubuntu 24.04"),
            cards=[card_fields(accelerator)],
            **fields,
        )

    return make


@pytest.fixture
def add_result(source):
    def add(host, value, benchmark="llama-bench", count=1, software=None, **params):
        card = host.cards.get()
        result = CitedResult.objects.create(
            accelerator=card.accelerator,
            host=host,
            reported_name=card.reported_name,
            count=count,
            benchmark=benchmark,
            params=params or RATE,
            value=str(value),
            unit="token/s",
            software=software or {},
            source=source,
        )
        CitedEdition.renew()
        return result

    return add


def compare(client, *hosts):
    return client.get("/compare/?" + urlencode([("a", f"host:{host.slug}") for host in hosts]))


def test_results_of_one_test_share_a_row_with_a_factor(client, make_host, add_result):
    first, second = (make_host(title, "amd-radeon-8060s") for title in ("With ROCm", "With Vulkan"))
    add_result(first, 96.08, **RATE, backend="ROCm")
    add_result(second, 63.77, **RATE, backend="Vulkan")
    response = compare(client, first, second)
    results = response.context["comparison"].hosts
    [row] = results.shared
    assert [cell.best.text for cell in row.cells] == ["96.1 tokens/s", "63.8 tokens/s"]
    assert [cell.factor for cell in row.cells] == ["", "0.66×"]
    assert [cell.best.note for cell in row.cells] == ["backend ROCm", "backend Vulkan"]
    assert row.cells[0].best.bound == "Memory bandwidth 256 GB/s"
    assert response.context["verdict"].startswith("With ROCm is 1.5× as fast as With Vulkan in tg128")


def test_difference_is_explained_with_its_evidence(client, make_host, add_result):
    first, second = (make_host(title, "amd-radeon-8060s") for title in ("With ROCm", "With Vulkan"))
    add_result(first, 96.08, **RATE, backend="ROCm")
    add_result(second, 63.77, **RATE, backend="Vulkan")
    elsewhere = make_host("With both", "amd-radeon-8060s")
    fast = add_result(elsewhere, 90.0, **RATE, backend="ROCm")
    add_result(elsewhere, 60.0, **RATE, backend="Vulkan")
    response = compare(client, first, second)
    [explanation] = response.context["comparison"].explanations
    [line] = explanation.lines
    assert (line.title, line.factor, line.is_rest) == ("Driver and framework", "1.5×", False)
    page = re.sub(r"\s+", " ", response.content.decode())
    assert f"/row-{fast.pk}/" in page
    assert "two runs on one host that state no other difference" in words_of(response)


def test_results_about_equal_have_no_explanation(client, make_host, add_result):
    first, second = (make_host(title, "amd-radeon-8060s") for title in ("With ROCm", "With Vulkan"))
    add_result(first, 96.08, **RATE, backend="ROCm")
    add_result(second, 96.05, **RATE, backend="Vulkan")
    assert not compare(client, first, second).context["comparison"].explanations


def test_what_nobody_controlled_cannot_be_told(client, make_host, add_result):
    first = make_host("New", "amd-radeon-8060s", cpu="A")
    second = make_host("Old", "amd-radeon-8060s", cpu="B", system="Fedora 43")
    add_result(first, 96.0, **RATE, backend="ROCm", flash_attention="on")
    add_result(second, 48.0, **RATE, backend="ROCm", flash_attention="off")
    [explanation] = compare(client, first, second).context["comparison"].explanations
    [line] = explanation.lines
    assert (line.title, line.factor, line.is_rest) == ("Cannot tell", "2×", True)
    assert "FlashAttention: on and off" in explanation.differs
    assert "FlashAttention on and with off" in explanation.advice
    assert explanation.command == "llama-bench -m Bonsai-8B-Q1_0.gguf -p 0 -n 128 -r 5"


@pytest.mark.parametrize(
    ("benchmark", "first", "second"),
    [
        ("llm-decode", {"engine": "vLLM"}, {"engine": "SGLang"}),
        ("llm-decode", {"precision": "fp8", "engine": "vLLM"}, {"precision": "bf16", "engine": "vLLM"}),
        ("llm-throughput", {"concurrency": 1}, {"concurrency": 20}),
        ("llm-throughput", {"speculative": "MTP"}, {}),
    ],
)
def test_no_factor_across_engines_and_regimes(client, make_host, add_result, benchmark, first, second):
    hosts = [make_host(title, "nvidia-geforce-rtx-5090") for title in ("One", "Two")]
    for host, params in zip(hosts, (first, second), strict=True):
        add_result(host, 100.0, benchmark, model="Qwen3-14B", **params)
    comparison = compare(client, *hosts).context["comparison"]
    assert not comparison.hosts.shared
    assert len(comparison.hosts.alone) == 2
    assert not comparison.explanations


def test_one_card_and_two_have_no_factor(client, make_host, add_result):
    hosts = [make_host(title, "nvidia-geforce-rtx-3090") for title in ("One", "Two")]
    for count, host in enumerate(hosts, 1):
        add_result(host, 100.0 * count, count=count)
    assert not compare(client, *hosts).context["comparison"].hosts.shared


def test_sheet_shows_its_cited_result_in_the_row(client, make_host, add_result):
    host, other = make_host("Mine", "nvidia-geforce-rtx-3090"), make_host("Theirs", "nvidia-geforce-rtx-4090")
    add_result(host, 50.0)
    add_result(other, 80.0)
    add_result(other, 70.0)
    results = client.get(f"/compare/?a=host:{host.slug}&a=nvidia-geforce-rtx-4090").context["comparison"].hosts
    [row] = results.shared
    assert [cell.best.text for cell in row.cells] == ["50 tokens/s", "80 tokens/s"]
    assert [head.subtitle for head in results.heads] == ["public host", "spec sheet"]


def test_runs_of_one_host_are_explained_alone(client, make_host, add_result):
    host = make_host("Alone", "amd-radeon-8060s")
    add_result(host, 975.3, **(RATE | {"test": "pp512"}), flags="hipBLASLt")
    add_result(host, 322.44, **(RATE | {"test": "pp512"}))
    comparison = compare(client, host).context["comparison"]
    [cell] = comparison.hosts.alone[0].cells
    assert (cell.best.text, [other.text for other in cell.others]) == ("975 tokens/s", ["322 tokens/s"])
    [explanation] = comparison.explanations
    assert [(line.title, line.factor) for line in explanation.lines] == [("Settings", "3×")]


@pytest.mark.parametrize("count", [4, 12])
def test_query_count_is_constant_among_hosts(client, make_host, add_result, django_assert_num_queries, count):
    hosts = [make_host(f"Host {number}", "amd-radeon-8060s", cpu=f"{number % 2}") for number in range(count)]
    for number, host in enumerate(hosts):
        add_result(host, 90.0 + 10 * number, **RATE, backend=("ROCm", "Vulkan")[number % 2])
    chosen = [loaded_host(host) for host in public_hosts().filter(pk__in=[hosts[0].pk, hosts[1].pk])]
    heads = heads_of(chosen, Address(tuple(loaded.subject for loaded in chosen)))
    public_catalogue()
    # Results; like runs, their hosts, cards and components; the widest test, its results; the edition of the catalogue.
    with django_assert_num_queries(7 + 4):
        results = host_results(chosen, heads, None)
        assert len(explanations(results)) == 1
        assert len(host_charts(results, hosts[:2])[0].points) == count


def test_chart_has_every_host_of_the_test_and_leads_to_each(client, make_host, add_result):
    slugs = ("amd-radeon-8060s", "nvidia-geforce-rtx-3090", "nvidia-geforce-rtx-4090", "apple-m4-max-40")
    hosts = [make_host(f"Host of {slug}", slug) for slug in slugs]
    for number, host in enumerate(hosts):
        add_result(host, 90.0 + number)
    response = compare(client, hosts[0], hosts[3])
    [chart] = response.context["comparison"].host_charts
    assert sorted(point.host.slug for point in chart.points) == sorted(host.slug for host in hosts)
    assert {css for point, _x, _y, css in chart.marks if not point.is_compared} == {"v-nvidia pale"}
    assert {css for point, _x, _y, css in chart.marks if point.is_compared} == {"v-amd", "v-apple"}
    page = response.content.decode()
    assert all(f'href="{host.get_absolute_url()}"' in page for host in hosts)


def test_watts_of_the_system_are_a_chart(client, make_host, add_result):
    hosts = [make_host(f"Host {number}", "nvidia-geforce-rtx-4090") for number in range(4)]
    for number, host in enumerate(hosts, 1):
        add_result(host, 50.0 * number, "llm-decode", model="gpt-oss 20b", engine="Ollama")
        watts = add_result(host, 100.0 * number, "llm-decode", model="gpt-oss 20b", engine="Ollama")
        CitedResult.objects.filter(pk=watts.pk).update(benchmark="system-power", unit="W")
    CitedEdition.renew()
    charts = compare(client, *hosts[:2]).context["comparison"].host_charts
    watts_chart = next(chart for chart in charts if chart.x == "power, W")
    assert sorted((point.x, point.y) for point in watts_chart.points) == [
        (100.0, 50.0),
        (200.0, 100.0),
        (300.0, 150.0),
        (400.0, 200.0),
    ]


def test_files_have_the_figures_of_the_page(client, make_host, add_result):
    first, second = (make_host(title, "amd-radeon-8060s") for title in ("With ROCm", "With Vulkan"))
    add_result(first, 96.08, **RATE, backend="ROCm")
    add_result(first, 90.5, **RATE, backend="Vulkan")
    add_result(second, 63.77, **RATE, backend="Vulkan")
    add_result(second, 831.0, **(RATE | {"test": "pp512"}))
    response = compare(client, first, second)
    url, results = response.wsgi_request.get_full_path(), response.context["comparison"].hosts
    lines = [*results.shared, *results.alone]
    shown = [[[run.text for run in (cell.best, *cell.others) if run] for cell in line.cells] for line in lines]
    data = client.get(f"{url}&format=json").json()["hosts"]
    assert [[[run["text"] for run in cell["runs"]] for cell in row["cells"]] for row in data] == shown
    assert shown[0] == [["96.1 tokens/s", "90.5 tokens/s"], ["63.8 tokens/s"]]
    table = csv.DictReader(io.StringIO(client.get(f"{url}&format=csv").content.decode()))
    rows = [row for row in table if row["kind"] == "cited"]
    assert [(row["With ROCm"], row["With Vulkan"], row["With Vulkan factor"]) for row in rows] == [
        ("96.08", "63.77", "0.66"),
        ("no result", "831.0", ""),
    ]
    assert rows[0]["With ROCm source address"].startswith("http://testserver/benchmarks/llama-bench/")
    markdown = client.get(f"{url}&format=md").content.decode()
    assert "63.8 tokens/s 0.66×" in markdown.partition("## Results on these hosts")[2].partition("##")[0]
