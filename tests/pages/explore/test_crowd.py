"""With thousands of sheets more, pages stay as light as they are and cost the queries they cost."""

import gzip
import os
import re
import time

from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.draw.charts.scatter import MOST_DRAWN
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, Source, SpecValue, Vendor
from tests.pages.explore.test_ladder_page import LIMIT_BYTES, LIMIT_COMPRESSED

SHEETS = int(os.environ.get("ACCELWEB_CROWD", "1500"))  # generated beside those of the files
PAGES = (
    "/accelerators/",
    "/accelerators/?q=4090",
    "/ladder/",
    "/explore/",
    "/timeline/",
    "/search/?q=4090",
    "/compare/?a=nvidia-h100-sxm5-80gb&a=crowd-7",
    "/plan/?accelerator=crowd-7",
    "/fit/",
    "/fit/?accelerator=crowd-7",
    "/search/accelerators/?q=crowd",
    "/",
)
FIGURES = {
    "memory_bandwidth_gb_s": ("GB/s", "", 50),
    "bf16_tensor_tflops": ("TFLOPS", "sparsity=dense", 3),
    "memory_gb": ("GB", "", 4),
}


def fill(count: int) -> None:
    """Sheets with three figures and a date each; figures spread over three decades."""
    vendor, source = Vendor.objects.get(slug="nvidia"), Source.objects.first()
    made = Accelerator.objects.bulk_create(
        [Accelerator(slug=f"crowd-{n}", name=f"Crowd {n}", vendor=vendor, kind="gpu") for n in range(count)]
    )
    values = []
    for n, accelerator in enumerate(made):
        common = {"accelerator": accelerator, "source": source, "status": "public", "is_preferred": True}
        for field, (unit, condition, least) in FIGURES.items():
            figure = str(round(least * 10 ** (3 * ((n * 37) % count) / count), 3))
            values.append(SpecValue(field=field, value=figure, unit=unit, condition=condition, **common))
        values.append(SpecValue(field="release_date", value=f"20{10 + n % 16}-03-01", **common))
    for value in values:
        value.normalise()
    SpecValue.objects.bulk_create(values, batch_size=1000)
    CatalogueEdition.renew()


def visit(client, path):
    """(bytes, bytes as they travel, queries, milliseconds) of a page that nobody opened before, the data being read."""
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        start = time.perf_counter()
        page = client.get(path)
        passed = 1000 * (time.perf_counter() - start)
    assert page.status_code == 200
    return len(page.content), len(gzip.compress(page.content)), len(queries), passed


def test_pages_stay_within_their_bounds(curated, db, client):
    for path in PAGES:
        if "crowd" not in path:
            client.get(path)
    before = {path: visit(client, path) for path in PAGES if "crowd" not in path}
    fill(SHEETS)
    for path in PAGES:
        client.get(path)
    for path in PAGES:
        size, travels, queries, passed = visit(client, path)
        print(
            f"{path}: {size} B, {travels} B compressed, {queries} queries, {passed:.0f} ms; before: {before.get(path)}"
        )
        assert size < 1.2 * LIMIT_BYTES, path
        assert travels < 1.2 * LIMIT_COMPRESSED, path
        if path in before:
            assert queries == before[path][2], path


def test_a_crowded_picture_says_how_many_it_draws(curated, db, client):
    page = client.get("/explore/").content.decode()
    count = int(re.search(rf"The picture draws {MOST_DRAWN} of (\d+) points", page)[1])
    assert page.count("<use ") == MOST_DRAWN
    assert '<a href="/accelerators/nvidia-h100-sxm5-80gb/"><use' in page
    assert len(client.get("/explore/?format=plotly").json()["data"][-1]["x"]) == MOST_DRAWN
    assert len(client.get("/explore/?format=json").json()["points"]) == count
    every = client.get("/explore/?draw=all").content.decode()
    assert every.count("<use ") == len(client.get("/explore/?draw=all&format=plotly").json()["data"][-1]["x"]) == count
    macs = client.get("/explore/?use=mac&format=plotly").json()["data"][-1]["meta"]["colours"]
    assert {colour.split()[0] for colour in macs} == {"v-apple"}
    assert client.get("/explore/?year=2024").content.decode().count("<use ") <= MOST_DRAWN
