"""The roofline at the head of cited results: the same points as the file, small, and a picture without scripts."""

import csv
import io
import re
from xml.etree import ElementTree as ET

import pytest

from stackviz.records.catalog.queries import public_catalogue
from tests.responses import words_of

RTX_4090, H100, M3_MAX = "nvidia-geforce-rtx-4090", "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
MUST_SHOW = (H100, RTX_4090, "nvidia-geforce-rtx-5090", M3_MAX, "apple-m4-max-40", "amd-mi300x")
SUBJECTS = [(slug,) for slug in MUST_SHOW] + [(H100, M3_MAX)]
HTMX = {"HX-Request": "true"}
LIMIT_BYTES = 40_000
SVG = "{http://www.w3.org/2000/svg}"


def query_of(slugs):
    return "&".join(f"a={slug}" for slug in slugs)


def file_rows(client, slugs):
    rows = csv.DictReader(io.StringIO(client.get(f"/roofline/?{query_of(slugs)}&format=csv").content.decode()))
    return list(rows)


def figure_of(client, slugs):
    return client.get(f"/roofline/figure/?{query_of(slugs)}", headers=HTMX)


@pytest.mark.parametrize("slugs", SUBJECTS)
def test_cited_results_begin_with_the_roofline(client, slugs):
    address = "/benchmarks/?" + "&".join(f"accelerator={slug}" for slug in slugs)
    for headers in ({}, HTMX):
        page = client.get(address, headers=headers).content.decode()
        query = query_of(slugs).replace("&", "&amp;")
        assert f'hx-get="/roofline/figure/?{query}"' in page
        assert f'src="/roofline/?{query}&amp;format=svg"' in page
        assert page.index("roof-figure") < page.index("<table")


@pytest.mark.parametrize("slugs", SUBJECTS)
def test_the_figure_has_the_points_of_the_file(client, slugs):
    part = figure_of(client, slugs).content.decode()
    rows = file_rows(client, slugs)
    points = [row for row in rows if row["rate"]]
    drawn = re.findall(r'<a href="([^"]+)"><use [^>]+/><title>', part)
    assert drawn == [row["result"] for row in points]
    assert drawn
    assert part.count("<polyline") == len(rows) - len(points) > 0
    assert "<html" not in part
    assert len(part.encode()) < LIMIT_BYTES


@pytest.mark.parametrize("slugs", SUBJECTS)
def test_the_picture_has_the_points_of_the_file(client, slugs):
    response = client.get(f"/roofline/?{query_of(slugs)}&format=svg")
    assert response["Content-Type"].startswith("image/svg+xml")
    root = ET.fromstring(response.content)
    shapes = [path for path in root.iter(f"{SVG}path") if path.get("transform")]
    points = [path for path in shapes if path.get("fill") != "none"]  # the others explain them
    assert len(shapes) > len(points)
    assert len(points) == sum(1 for row in file_rows(client, slugs) if row["rate"]) > 0
    texts = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    assert "bytes only" in texts or "matrix product" in texts
    assert all(public_catalogue().by_slug[slug].name in texts for slug in slugs)


def test_the_figure_is_that_of_the_page(client, django_assert_num_queries):
    part = figure_of(client, (RTX_4090,)).content.decode()
    page = client.get(f"/roofline/?a={RTX_4090}").content.decode()
    spots = r'<use href="#p\d" x="([\d.]+)%" y="([\d.]+)%"'
    assert re.findall(spots, part) == re.findall(spots, page)
    for slugs in ((H100,), (H100, RTX_4090)):
        figure_of(client, slugs)
        with django_assert_num_queries(2):  # the editions, what was measured
            figure_of(client, slugs)
    response = client.get(f"/roofline/figure/?a={H100}&nonsense=1")  # without htmx
    assert (response.status_code, response["Location"]) == (302, f"/roofline/?a={H100}")
    slug = next(item.slug for item in public_catalogue().accelerators if not item.cited_results.exists())
    assert "roof-figure" not in client.get(f"/benchmarks/?accelerator={slug}", headers=HTMX).content.decode()


def test_in_the_place_of_a_figure_without_a_roof_stands_why(client):
    catalogue = public_catalogue()
    slug = next(item.slug for item in catalogue.accelerators if not any(file_rows(client, (item.slug,))))
    part = figure_of(client, (slug,))
    assert catalogue.by_slug[slug].name in words_of(part)
    assert b"<figure" not in part.content
    picture = ET.fromstring(client.get(f"/roofline/?a={slug}&format=svg").content)
    assert catalogue.by_slug[slug].name in " ".join("".join(text.itertext()) for text in picture.iter(f"{SVG}text"))


def test_a_roof_without_a_point_says_why(client):
    part = figure_of(client, ("nvidia-gb300",))
    assert part.content.count(b"<polyline") == 2  # bf16 and fp32
    assert b"<use " not in part.content
    assert public_catalogue().by_slug["nvidia-gb300"].name in words_of(part).partition("measured here.")[2]
