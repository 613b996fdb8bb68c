"""The start of `/compare/`: two boxes and pairs with their answers; what the boxes mean without JavaScript."""

import re
from html import unescape

import pytest

from stackviz.pages.compare.starts import PAIRS, suggested_pairs

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"


@pytest.mark.usefixtures("curated", "db")
def test_every_pair_of_the_start_has_an_answer():
    pairs = suggested_pairs()
    assert len(pairs) == len(PAIRS) == 10
    lines = {pair.url: pair.line for pair in pairs}
    answer = lines["?a=nvidia-geforce-rtx-5090&a=apple-m4-max-40"]
    assert "M4 Max (40-core GPU) has 4× the memory of GeForce RTX 5090" in answer
    assert "3.3× the memory bandwidth" in answer
    assert "done by the same component on both" in lines["?a=stack:nvidia-cuda&a=stack:apple-metal"]


@pytest.mark.usefixtures("curated", "db")
def test_the_start_has_two_boxes_and_the_pairs(client):
    page = client.get("/compare/").content.decode()
    assert re.search(r'<input[^>]+name="q"[^>]+data-find="first-options"', page)
    assert re.search(r'<input[^>]+name="q2"[^>]+data-find="second-options"', page)
    for pair in suggested_pairs():
        assert unescape(pair.line) in unescape(page)
    assert 'name="q2"' not in client.get(f"/compare/?a={H100}").content.decode()


@pytest.mark.parametrize(
    ("first", "second", "address"),
    [
        ("h100 sxm", "m3 max 40", f"/compare/?a={H100}&a={M3_MAX}"),
        ("5090", "m4 max", "/compare/?a=nvidia-geforce-rtx-5090&a=apple-m4-max-"),
        ("NVIDIA CUDA on Linux", "Apple Metal on macOS", "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal"),
    ],
)
@pytest.mark.usefixtures("curated", "db")
def test_two_texts_lead_to_their_comparison(client, first, second, address):
    answer = client.get("/search/subjects/", {"q": first, "q2": second})
    assert answer.status_code == 302
    assert answer["Location"].startswith(address)


@pytest.mark.usefixtures("curated", "db")
def test_a_text_that_fits_nothing_is_asked_for_again(client):
    answer = client.get("/search/subjects/", {"q": "h100 sxm", "q2": "zzzz"})
    assert answer.status_code == 200
    page = answer.content.decode()
    assert f'<input type="hidden" name="a" value="{H100}">' in page
    assert "Nothing that can be compared matches “zzzz”" in page


@pytest.mark.usefixtures("curated", "db")
def test_options_of_a_box_keep_the_other_one(client):
    query = {"q": "h100 sxm", "q2": "m3 max"}
    second = client.get("/search/subjects/", {**query, "slot": "2"}, headers={"HX-Request": "true"}).content.decode()
    assert f'href="/compare/?a={H100}&amp;a={M3_MAX}"' in second
    first = client.get("/search/subjects/", {**query, "slot": "1"}, headers={"HX-Request": "true"}).content.decode()
    assert re.search(rf'href="/compare/\?a={H100}&amp;a=apple-m3-max-', first)
    ids = re.findall(r' id="([^"]+)"', first + second)
    assert len(ids) == len(set(ids))
