"""/accelerators/: the address is the whole state, what is not understood is left out with a note."""

import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from stackviz.catalog.load import load_catalogue
from stackviz.catalog.models import Accelerator, CatalogueEdition, SpecValue

LIST = "/accelerators/"
HTMX = {"HX-Request": "true"}


def names(response) -> list[str]:
    return re.findall(r'<th scope="row"><a href="[^"]+">([^<]+)</a>', response.content.decode())


def test_the_list_stands_at_its_address(loaded, client, db):
    assert reverse("catalog:list") == LIST
    response = client.get(LIST)
    page = response.content.decode()
    assert "<title>Accelerators · accelweb</title>" in page
    assert page.count("<h1") == 1
    assert len(names(response)) == 60
    assert "217 accelerators" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=Mac15,9", ["Apple M3 Max (40-core GPU)"]),
        ("?q=NVIDIA+A100-SXM4-80GB", ["NVIDIA A100 SXM4 80GB"]),
        ("?q=m3+max&vendor=apple", ["Apple M3 Max (30-core GPU)", "Apple M3 Max (40-core GPU)"]),
        ("?q=m3+max&vendor=nvidia", []),
        ("?vendor=google&q=v5", ["Google TPU v5e", "Google TPU v5p"]),
        ("?kind=npu&q=hailo", ["Hailo-8"]),
    ],
)
def test_search_and_filters_find(loaded, client, db, query, found):
    assert names(client.get(LIST + query)) == found


def test_a_row_shows_figures_in_the_units_of_the_head(loaded, client, db):
    page = client.get(LIST + "?q=H100+SXM5").content.decode()
    assert "<small>GB/s</small>" in page
    assert '<span title="3,350,000,000,000 B/s">3,350</span>' in page
    assert ">989.4</span>" in page
    assert "700" in page


def test_what_is_not_published_is_said(loaded, client, db):
    page = client.get(LIST + "?q=Mac15,9").content.decode()
    assert '<span class="miss">not published</span>' in page


def test_every_row_offers_to_compare_with_and_without_javascript(loaded, client, db):
    page = client.get(LIST + "?q=Mac15,9").content.decode()
    assert 'data-tray-add="apple-m3-max-40" data-tray-name="Apple M3 Max (40-core GPU)"' in page
    assert 'href="/compare/?a=apple-m3-max-40"' in page


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("?vendor=acme", "There is no vendor &#x27;acme&#x27;: all are shown."),
        ("?kind=toaster", "There is no kind &#x27;toaster&#x27;: all are shown."),
        ("?colour=red", "There is no filter &#x27;colour&#x27; here: it was left out."),
        ("?vendor=<script>", "There is no vendor &#x27;&lt;script&gt;&#x27;: all are shown."),
        ("?q=" + "x" * 200, "cut to its first 100 characters"),
    ],
)
def test_what_is_not_understood_is_left_out_with_a_note(loaded, client, db, query, note):
    response = client.get(LIST + query)
    assert response.status_code == 200
    assert note in response.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "?page=0",
        "?page=-1",
        "?page=9999999999",
        "?page=zz",
        "?q=%00",
        "?q=%25",
        "?q='",
        "?" + "&".join(f"z{n}=1" for n in range(50)),
    ],
)
def test_nothing_in_the_address_breaks_the_page(loaded, client, db, query):
    assert client.get(LIST + query).status_code == 200


def test_the_second_page_goes_on_where_the_first_ended(loaded, client, db):
    first, second = names(client.get(LIST)), names(client.get(LIST + "?page=2"))
    assert len(second) == 60
    assert not set(first) & set(second)
    assert 'href="?page=2"' in client.get(LIST).content.decode()


def test_links_to_other_pages_keep_the_filters_and_nothing_else(loaded, client, db):
    page = client.get(LIST + "?q=&vendor=nvidia&kind=&colour=red").content.decode()
    assert 'href="?vendor=nvidia&amp;page=2"' in page


def test_a_search_without_result_says_what_to_try(loaded, client, db):
    page = client.get(LIST + "?q=zzz").content.decode()
    assert "No accelerator matches “zzz”" in page
    assert "0 of 217 accelerators" in page


def test_htmx_gets_the_table_alone_and_a_short_address(loaded, client, db):
    response = client.get(LIST + "?q=h100&vendor=&kind=", headers=HTMX)
    assert "<html" not in response.content.decode()
    assert response.headers["HX-Push-Url"] == "/accelerators/?q=h100"
    assert "HX-Request" in response.headers["Vary"]


def test_a_restored_page_is_whole(loaded, client, db):
    response = client.get(LIST, headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in response.content.decode()


@pytest.mark.parametrize("query", ["?q=h100", "?q=zzz", "?q=a&page=2", "?q=m3&vendor=apple&kind=soc"])
def test_a_search_costs_four_queries_whatever_it_finds(loaded, client, db, django_assert_max_num_queries, query):
    with django_assert_max_num_queries(4):
        client.get(LIST + query)


@pytest.mark.parametrize("query", ["", "?page=2", "?vendor=nvidia&kind=gpu"])
def test_a_list_is_kept_and_asking_again_costs_two_queries(loaded, client, db, django_assert_num_queries, query):
    cache.clear()
    with django_assert_num_queries(5):
        client.get(LIST + query)
    with django_assert_num_queries(2):
        client.get(LIST + query)


def test_a_kept_list_gives_way_to_a_change(client, bandwidth):
    assert "3,350" in client.get(LIST).content.decode()
    bandwidth.value = "3352"
    bandwidth.save()
    assert "3,352" in client.get(LIST).content.decode()
    bandwidth.delete()
    assert "3,352" not in client.get(LIST).content.decode()


def test_a_kept_list_gives_way_to_a_load(client, loaded, db):
    """Rows that a load writes in bulk send no signals."""
    SpecValue.objects.filter(field="tdp_w").delete()
    before = CatalogueEdition.current()
    load_catalogue(force=True)
    assert CatalogueEdition.current() != before


def test_no_request_is_in_a_kept_list(client, loaded, db, monkeypatch):
    """Whoever asks first leaves nothing of theirs behind, and a request is not changed by being answered."""
    cache.clear()
    asked = []
    monkeypatch.setattr("stackviz.catalog.views.render_to_string", lambda *given: asked.append(given) or "found")
    response = client.get(LIST + "?vendor=nvidia&colour=red")
    client.get(LIST + "?vendor=nvidia&kind=")
    assert [len(given) for given in asked] == [2, 2]
    assert response.wsgi_request.GET["colour"] == "red"


def test_the_list_stays_small(loaded, client, db):
    assert len(client.get(LIST).content) < 100_000


def test_an_accelerator_that_is_not_public_is_not_listed(loaded, client, db):
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    response = client.get(LIST + "?q=Tesla+T4")
    assert names(response) == []
    assert client.get("/accelerators/nvidia-t4/").status_code == 404
