"""A comparison of sheets names the NVIDIA driver of each, in the words of the sheet."""

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.stacks.driver_words import sheet_drivers

RTX_5090, GTX_1060, M4_MAX = "nvidia-geforce-rtx-5090", "nvidia-geforce-gtx-1060-6gb", "apple-m4-max-40"


def driver_rows(client, *slugs):
    address = "/compare/?" + "&".join(f"a={slug}" for slug in slugs)
    return [row for row in client.get(f"{address}&format=json").json()["rows"] if row["field"] == "nvidia_driver"]


@pytest.mark.usefixtures("curated")
def test_a_comparison_names_the_drivers_of_the_sheets(client, db):
    [row] = driver_rows(client, RTX_5090, GTX_1060, M4_MAX)
    texts = [cell["text"] for cell in row["cells"][:2]]
    words = [sheet_drivers(Accelerator.objects.get(slug=slug)).words for slug in (RTX_5090, GTX_1060)]
    assert texts == words
    assert words[0] == "R570 or newer on Linux and Windows"
    assert words[1].endswith("up to R580, the last branch")
    assert row["cells"][2]["missing"] == "does_not_apply"


@pytest.mark.usefixtures("curated")
def test_without_an_nvidia_product_no_driver_is_named(client, db):
    assert driver_rows(client, M4_MAX, "amd-mi300x") == []
