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
    picture = text[text.index('id="decode"') : text.index('id="layers"')]
    assert picture.count("<use ") == picture.count('<th scope="row">') > 40
    assert "Apple M3 Max" in picture
    assert "NVIDIA GeForce RTX 4090" in picture
    assert "187.7" in picture
    assert "71 %" in picture  # 187.7 tokens of 3.56 GiB each second, of 1,008 GB/s
    assert 'class="iso"' in picture


def test_a_card_without_a_rate_leads_to_what_else_is_cited_of_it(client, db, cited):
    text = page(client)
    known = text[text.index('class="known-bars"') : text.index("</table>", text.index('class="known-bars"'))]
    assert "no result yet" not in known
    count = CitedResult.objects.filter(accelerator__slug="amd-mi300x", state="public").count()
    assert re.search(rf'<a href="/accelerators/amd-mi300x/#cited">{count:,} other results</a>', known)


def test_the_picture_has_the_points_of_the_scatter_file(client, db, cited):
    text = page(client)
    picture = text[text.index('id="decode"') : text.index('id="layers"')]
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
