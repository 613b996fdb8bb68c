"""The ways of the operators: every step has a source, every page shows both GPUs, and leaving the device is said."""

import html
import re

import pytest
from django.urls import reverse

from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.stacks import operators as operators_file
from stackviz.records.stacks.files import DATA, read_stack_files
from stackviz.records.stacks.operators import DEVICES, EVERY, MODES, operator_coverage, operators, steps_of
from stackviz.records.stacks.operators_page import operator_page, operator_rows

ASKED_FOR = {
    "matmul", "linear", "conv2d", "attention", "layer-norm", "embedding", "lstm", "optimizer-step", "all-reduce",
}  # fmt: skip
ALL = [
    step
    for slug in (EVERY, *operators())
    for device in DEVICES
    for mode in MODES
    for step in steps_of(slug, device, mode)
]


def test_the_operators_people_ask_for_are_there():
    assert set(operators()) >= ASKED_FOR


@pytest.mark.parametrize("slug", sorted(operators()))
def test_operator_paths_are_complete(slug):
    for device in DEVICES:
        assert steps_of(slug, device, "eager"), device


def test_every_step_has_a_document_and_every_document_a_step():
    assert len(ALL) > 150
    assert all(step.source.url.startswith("https://") and step.source.title for step in ALL)
    named = {line["title"] for line in operators_file._lines("operator_sources.csv")}
    assert {step.source.title for step in ALL} == named


def test_a_component_that_a_step_names_is_described():
    assert {step.component for step in ALL} - {""} <= set(read_stack_files(DATA).components)


@pytest.mark.parametrize(
    ("name", "value"), [("device", "tpu"), ("layer", "cloud"), ("outcome", "maybe"), ("source", "rumour")]
)
def test_a_wrong_line_is_named(name, value):
    lines = operators_file._lines("operator_steps.csv")
    sources = {line["key"]: line for line in operators_file._lines("operator_sources.csv")}
    lines[4][name] = value
    (problem,) = operators_file._problems(lines, sources)
    assert problem == f"operator_steps.csv, line 6: {name} {value!r} is not known"


def test_wrong_files_raise(monkeypatch):
    monkeypatch.setattr(operators_file, "_problems", lambda *_: ["line 2: no"])
    with pytest.raises(CuratedDataError):
        operators_file._steps.__wrapped__()


def test_what_falls_back_to_the_cpu_is_found():
    page = operator_page("embedding")
    assert [(str(device), step.named) for device, step in page.detours] == [("MPS", "embedding_renorm_")]
    rows = {row.operator.slug: row for row in operator_rows()}
    assert (rows["embedding"].to_cpu, rows["lstm"].missing) == (1, 2)
    assert (rows["matmul"].to_cpu, rows["matmul"].missing) == (0, 0)


def test_coverage_grows_with_the_releases_of_torch():
    newest, *_, oldest = operator_coverage()
    assert (newest.torch, newest.mps_overloads, newest.core_with_nothing) == ("2.13.0", 890, 2)
    assert (oldest.torch, oldest.core_all) == ("1.13.1", None)


@pytest.mark.parametrize("slug", sorted(operators()))
def test_a_page_shows_both_gpus_without_a_query(client, slug, django_assert_num_queries, db):
    with django_assert_num_queries(0):
        answer = client.get(reverse("stacks:operator", args=[slug]))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert len(answer.content) < 100_000
    assert text.index('id="eager-cuda"') < text.index('id="eager-mps"') < text.index('id="compiled-cuda"')


def test_the_list_leads_to_each(client, db, django_assert_num_queries):
    client.get(reverse("stacks:operators"))  # reads the days of the tables' last checks, once for each edition
    with django_assert_num_queries(1):  # the editions
        text = client.get(reverse("stacks:operators")).content.decode()
    assert all(reverse("stacks:operator", args=[slug]) in text for slug in operators())


def test_an_operator_nobody_described_is_not_found(client, db):
    answer = client.get(reverse("stacks:operator", args=["teleport"]))
    assert answer.status_code == 404
    assert "teleport" in answer.content.decode()


def test_what_an_operator_costs_is_one_link_away(curated, client, db):
    for slug in operators():
        text = client.get(reverse("stacks:operator", args=[slug])).content.decode()
        section = text[text.index('aria-labelledby="timed"') :].partition("</section>")[0]
        links = re.findall(r'href="([^"]+)"', section)
        assert links
        for link in links:
            assert client.get(html.unescape(link)).status_code == 200
        assert f'hx-get="{links[0]}"' in section
        assert links[0] == reverse("benchmarks:operator", args=[slug])


def test_a_component_names_the_operators_that_run_it(curated, client, db):
    text = client.get(reverse("stacks:component", args=["cudnn"])).content.decode()
    section = text[text.index('aria-labelledby="used-by"') :].partition("</section>")[0]
    assert 'href="/operators/conv2d/">2-D convolution <small>CUDA</small>' in section


def test_a_matrix_product_leads_to_what_it_takes_at_least(client, curated):
    text = client.get("/operators/matmul/").content.decode()
    (address,) = re.findall(r'href="(/learn/[^"]+)">Time of a matrix product', text)
    assert client.get(address).status_code == 200
    assert "Time of a matrix product" not in client.get("/operators/conv2d/").content.decode()
