"""`/fit/compared/`: well-known models on the accelerators of a comparison, each answer leading to its arithmetic."""

import html
import re

import pytest
from django.utils.html import strip_tags

from stackviz.pages.fit.query import FitChoice
from stackviz.pages.fit.views import MODELS

pytestmark = [pytest.mark.usefixtures("cited"), pytest.mark.django_db]
URL = "/fit/compared/"


def table(client, query):
    page = client.get(URL + query, headers={"HX-Request": "true"}).content.decode()
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]


def words(cell):
    return " ".join(strip_tags(cell.replace("<small>", " <small>")).split())


def test_a_70b_model_in_four_bits_fits_a_mac_not_a_card_of_32_gb(client):
    head, m4, rtx = table(client, "?a=apple-m4-max-40&a=nvidia-geforce-rtx-5090")
    assert [words(cell) for cell in head][1:] == ["Llama 3.1 8B Q4_K_M", "Qwen 3 32B Q4_K_M", "Llama 3.1 70B Q4_K_M"]
    assert re.fullmatch(r"48 GB: no, 64 / 128 GB: yes [\d.]+–[\d.]+ tokens/s", words(m4[3]))
    assert re.fullmatch(r"needs 41\.1 GiB of 31\.7 GiB usable", words(rtx[3]))


def test_a_machine_has_its_reported_memory_and_cards(client):
    _head, mac, eight, unknown = table(client, "?a=apple-m3-max-40:48&a=nvidia-h100-sxm5-80gb:0:8&a=apple-m4-max-40:47")
    assert words(mac[0]) == "Apple M3 Max (40-core GPU), 48 GB"
    assert words(mac[3]).startswith("needs 41")
    assert words(eight[0]) == "8 × NVIDIA H100 SXM5 80GB"
    assert words(eight[3]).startswith("fits")
    assert words(unknown[3]).startswith("48 GB: no, 64 / 128 GB: yes")  # no Mac has 47 GB: all sizes of the sheet


def test_each_answer_leads_to_the_same_answer(client):
    _head, mac = table(client, "?a=apple-m3-max-40:48")
    for cell, model in zip(mac[1:], MODELS, strict=True):
        [url] = re.findall(r'href="([^"]+)"', cell)
        response = client.get(html.unescape(url))
        query = response.context["query"]
        assert (query.model.slug, query.chosen, query.notes) == (model, (FitChoice("apple-m3-max-40", 48),), ())
        rate = re.search(r"[\d.]+–[\d.]+ tokens/s", words(cell))
        if rate:
            assert rate[0] in strip_tags(response.content.decode())


@pytest.mark.parametrize("value", ["x", "apple-m4-max-40:", "apple-m4-max-40:1:2:3", "<b>", "a" * 5000, ":48", "%00"])
def test_what_is_no_accelerator_is_left_out_with_a_note(client, value):
    response = client.get(URL, {"a": ["nvidia-geforce-rtx-5090", value]})
    assert response.status_code == 200
    assert [note.parameter for note in response.context["notes"]] == ["a"]
    assert "<b>" not in response.content.decode().partition("<main")[2]


def test_a_size_the_sheet_lacks_has_a_note_with_its_sizes(client):
    response = client.get(URL, {"a": ["apple-m1-8:12", "apple-m1-8:8"]})
    [note] = response.context["notes"]
    assert note.problem == "Apple M1 (8-core GPU) has 8 or 16 GB, not “12”"


def test_at_most_six_are_compared_and_none_leads_to_a_choice(client):
    query = "&".join(f"a=apple-m4-max-40:{size}" for size in range(40, 48))
    response = client.get(f"{URL}?{query}")
    assert response.content.decode().count("<tr>") == 7
    assert any("At most 6" in note.problem for note in response.context["notes"])
    response = client.get(URL, headers={"HX-Request": "true"})
    assert "start from a comparison of spec sheets" in response.content.decode()


def test_the_table_costs_a_fixed_number_of_queries(client, django_assert_num_queries):
    query = "?a=apple-m4-max-40&a=nvidia-geforce-rtx-5090"
    client.get(URL + query)
    with django_assert_num_queries(2):
        client.get(URL + query + "&a=apple-m3-max-40:48&a=nvidia-h100-sxm5-80gb:0:8")
