"""The picture of the front page: what others measured against published bandwidth, with the bound and a table."""

import csv
import io
import re
from html import unescape

from stackviz.base.units import format_number
from stackviz.records.cited.models import CitedResult


def page(client):
    return client.get("/").content.decode()


def test_what_others_measured_is_drawn_with_its_bound(client, db, cited):
    text = page(client)
    picture = text[text.index('id="decode"') : text.index("<footer")]
    assert picture.count("<use ") == picture.count('<th scope="row">') > 40
    assert "Apple M3 Max" in picture
    assert "NVIDIA GeForce RTX 4090" in picture
    assert "187.7" in picture
    assert "71 %" in picture  # 187.7 tokens of 3.56 GiB each second, of 1,008 GB/s
    assert 'class="iso"' in picture


def test_the_picture_has_the_points_of_the_scatter_file(client, db, cited):
    text = page(client)
    picture = text[text.index('id="decode"') : text.index("<footer")]
    (address,) = re.findall(r'href="(/explore/[^"]*)"', picture)
    file = client.get(f"{unescape(address)}&format=csv").content.decode()
    rows = {
        row["name"]: (format_number(float(row["x_value"])), format_number(float(row["y_value"])))
        for row in csv.DictReader(io.StringIO(file))
    }
    figures = re.findall(
        r'<th scope="row">([^<]*)</th><td class="num">([^<]*)</td><td class="num">([^<]*)</td>', picture
    )
    assert len(figures) > 40
    assert {unescape(name): (bandwidth, rate) for name, bandwidth, rate in figures} == rows


def test_the_front_page_costs_few_queries_with_results(client, db, cited, django_assert_max_num_queries):
    page(client)
    with django_assert_max_num_queries(12):
        page(client)


def test_without_cited_results_nothing_is_drawn(client, db, cited):
    CitedResult.objects.update(state="unmatched", accelerator=None)
    assert 'id="decode"' not in page(client)
