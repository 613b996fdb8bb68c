"""What `/roofline/`, `/roofline/share-of-peak/` and `/scaling/` have in common: odd addresses, parts for htmx, light pages."""

import re

import pytest

from stackviz.pages.benchmarks.curves import KINDS
from tests.responses import words_of

H100 = "nvidia-h100-sxm5-80gb"
LIMIT_BYTES = 100_000
PLOTLY = re.compile(r'<script[^>]+src="[^"]*plotly')


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/roofline/?a=no-such-card", "Unknown accelerator"),
        ("/roofline/?dtype=fp1", "Unknown data type"),
        ("/roofline/?colour=red", "Unknown parameter"),
        ("/roofline/?a=%00", "Roofline"),
        ("/roofline/share-of-peak/?of=fp1", "Unknown peak"),
        ("/roofline/share-of-peak/?of=bf16&benchmark=babelstream", "Unknown benchmark"),
        ("/roofline/share-of-peak/?of=fp4&benchmark=operator-time", "No result is known"),
        ("/roofline/share-of-peak/?page=99999999", "Share of the memory bandwidth"),
        ("/scaling/?curve=taste", "Unknown curve"),
        ("/scaling/?setting=model%3DNone", "Unknown setting"),
        ("/scaling/?a=no-such", "Unknown accelerator"),
    ],
)
def test_an_odd_address_is_answered_with_what_there_is(client, address, says):
    response = client.get(address)
    assert response.status_code == 200
    assert says in words_of(response)


@pytest.mark.parametrize(
    ("address", "clean"),
    [
        (f"/roofline/?a={H100}&a=&dtype=bf16", f"/roofline/?a={H100}&dtype=bf16"),
        ("/roofline/share-of-peak/?of=fp32&benchmark=", "/roofline/share-of-peak/?of=fp32"),
        ("/scaling/?curve=decode&setting=&a=", "/scaling/?curve=decode"),
    ],
)
def test_htmx_gets_the_part_alone(client, address, clean):
    response = client.get(address, headers={"hx-request": "true"})
    assert b"<html" not in response.content
    assert response["HX-Push-Url"] == clean


@pytest.mark.parametrize(
    "address", ["/roofline/", "/roofline/share-of-peak/", *(f"/scaling/?curve={kind}" for kind in KINDS)]
)
def test_pages_are_light_and_load_no_plotly(client, address):
    response = client.get(address)
    assert response.status_code == 200
    assert len(response.content) < LIMIT_BYTES
    assert not PLOTLY.search(response.content.decode())
