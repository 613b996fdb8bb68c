"""`/timeline/` says what each architecture brought, each statement with its source; figures come from the catalogue."""

import csv
import gzip
import io
import re
from dataclasses import replace
from html import unescape

import pytest
from django.core.cache import cache

from stackviz.draw.charts.scatter import MOST_DRAWN
from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.timeline import (
    SAYS,
    Statement,
    _statement,
    architectures,
    assemble_timeline,
    by_architecture,
    statements,
)
from stackviz.records.catalog.models import Accelerator, SpecValue
from tests.pages.explore.test_ladder_page import LIMIT_BYTES, LIMIT_COMPRESSED
from tests.responses import words_of


def lanes_of(vendor=""):
    return assemble_timeline(read_plot_data(), vendor)[0]


def architecture(name):
    return next(one for lane in lanes_of() for one in lane.architectures if one.name == name)


def test_every_statement_has_a_source_and_a_lane():
    assert [line for line in statements() if not line.is_sourced] == []
    known = {(one.vendor, one.name) for one in architectures()}
    assert {(line.vendor, line.architecture) for line in statements()} == known
    assert {line.says for line in statements()} == set(SAYS)
    assert all(2006 <= line.year <= 2026 for line in statements())


def test_lines_without_source_are_left_out_unreadable_ones_named():
    line = statements()[0]
    for changes in ({"title": ""}, *({"url": url} for url in ("", "ftp://example.org", "javascript:alert(1)"))):
        assert by_architecture([replace(line, **changes)]) == {}
    assert by_architecture([line])
    row = {"vendor": "a", "architecture": "b", "says": "sang", "year": "2006", "text": "x"}
    with pytest.raises(ValueError, match="line 7"):
        _statement(7, {**row, "source_title": "", "source_url": ""})


def test_lanes_begin_with_tesla_in_2006_and_m1_in_2020(curated, db):
    lanes = {lane.vendor: [(one.name, one.year) for one in lane.architectures] for lane in lanes_of()}
    assert lanes["nvidia"][0] == ("Tesla", 2006)
    assert lanes["apple"][0] == ("M1", 2020)
    assert {"amd", "google", "intel"} <= set(lanes)
    assert all(years == sorted(years) for years in ([year for _name, year in own] for own in lanes.values()))


def test_flagships_are_known_and_sheets_in_one_architecture(curated, db):
    subjects = {subject.slug: subject for subject in read_plot_data().subjects}
    named = {subject.architecture for subject in subjects.values()}
    assert len([known for known in architectures() if known.flagship]) > 10
    for known in architectures():
        if known.flagship:
            assert known.has(subjects[known.flagship]), known
        for start in known.sheets:
            assert any(slug.startswith(start) for slug in subjects), start
        assert not known.names or set(known.names) & named or known.name == "Fermi", known
    for subject in read_plot_data().subjects:
        assert sum(known.has(subject) for known in architectures()) <= 1, subject


def test_figures_are_those_of_the_catalogue(curated, db):
    hopper = {axis.measure.title: figure.text for axis, figure in architecture("Hopper").figures}
    assert (hopper["Memory bandwidth"], hopper["fp16 tensor"]) == ("3,350", "989.4")
    of_h100 = SpecValue.objects.filter(accelerator__slug="nvidia-h100-sxm5-80gb", is_preferred=True)
    value = of_h100.get(field="memory_bandwidth_gb_s", condition="")
    value.value = "3351"
    value.save()
    assert architecture("Hopper").figures[0][1].text == "3,351"


def test_an_architecture_leads_to_its_public_sheets(client, curated, db):
    response = client.get("/timeline/")
    page = response.content.decode()
    assert "2008: Double precision" in words_of(response)
    row = re.search(r'<tr id="nvidia-hopper">.*?</tr>', page, re.DOTALL)[0]
    assert 'href="/accelerators/nvidia-h100-sxm5-80gb/"' in row
    assert 'href="/accelerators/nvidia-h200-sxm/"' in row
    assert 'href="#nvidia-hopper"' in page
    hidden = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    hidden.is_public = False
    hidden.save()
    assert b"nvidia-h100-sxm5-80gb" not in client.get("/timeline/").content


@pytest.mark.parametrize(
    ("query", "says"),
    [("vendor=acme", "Unknown vendor"), ("year=2020", "Unknown parameter"), ("x=1", "Unknown parameter")],
)
def test_an_odd_address_is_answered_with_a_note(client, curated, db, query, says):
    response = client.get(f"/timeline/?{query}")
    assert response.status_code == 200
    assert says in words_of(response)


def test_one_maker_alone_for_htmx_too(client, curated, db):
    response = client.get("/timeline/?vendor=apple", headers={"hx-request": "true"})
    assert b"<html" not in response.content
    assert response["HX-Push-Url"] == "/timeline/?vendor=apple"
    assert b'id="apple-m1"' in response.content
    assert b"nvidia-hopper" not in response.content


def test_the_page_stays_light_and_costs_few_queries(client, curated, db, django_assert_num_queries):
    page = client.get("/timeline/").content  # a drawing of 437 points and the architectures
    assert len(page) < 1.2 * LIMIT_BYTES
    assert len(gzip.compress(page)) < LIMIT_COMPRESSED
    cache.clear()
    with django_assert_num_queries(1):  # the editions
        client.get("/timeline/")
    with django_assert_num_queries(1):
        client.get("/timeline/")


def test_a_rate_is_drawn_over_the_years_with_its_leaders_named(client, curated, db):
    page = words_of(client.get("/timeline/"))
    assert "Memory bandwidth over the years" in page
    assert "Pareto front" in page
    drawn = client.get("/timeline/").content.decode().split("</figure>")[0]
    for leader in ("A100 SXM4 80GB", "MI300X", "B100"):
        assert leader in drawn.split('class="names"')[1]
    assert "Memory over the years" in words_of(client.get("/timeline/?rate=memory_gb&vendor=apple"))
    assert "Unknown field" in words_of(client.get("/timeline/?rate=beauty"))


@pytest.mark.parametrize("query", ["", "?rate=compute-rate-per-watt", "?rate=memory_gb&vendor=apple"])
def test_the_years_are_the_file_of_the_scatter_they_lead_to(client, curated, db, query):
    text = client.get(f"/timeline/{query}").content.decode()
    drawn = sorted(unescape(name) for name in re.findall(r"<title>([^<]*?): \d{4}", text.split("</figure>")[0]))
    (address,) = set(re.findall(r'href="(/explore/\?[^"]*x=released[^"]*)"[^>]*>With its table', text))
    file = client.get(f"{unescape(address)}&format=csv").content.decode()
    assert len(drawn) > 20
    names = sorted(row["name"] for row in csv.DictReader(io.StringIO(file)))
    assert drawn == names if len(names) <= MOST_DRAWN else set(drawn) < set(names) and len(drawn) == MOST_DRAWN


def test_a_site_without_a_catalogue_still_tells_the_story(client, db):
    assert "CUDA: general programs" in words_of(client.get("/timeline/"))
    assert client.get("/ladder/").status_code == client.get("/explore/").status_code == 200
    assert isinstance(statements()[0], Statement)
