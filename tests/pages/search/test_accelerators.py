"""The search for an accelerator of a form: where each offer leads, what of the form it keeps, and what it costs."""

import re
from html import unescape

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated")]
HTMX = {"HX-Request": "true"}
T4, M3_MAX = "nvidia-t4", "apple-m3-max-40"


def offers(client, query, headers=HTMX, **parameters) -> list[str]:
    """The addresses that are offered."""
    page = client.get("/search/accelerators/", {"q": query, **parameters}, headers=headers)
    assert page.status_code == 200
    text = page.content.decode().partition("<h1>")[2] or page.content.decode()
    return [unescape(url) for url in re.findall(r'href="(/(?:plan|fit)/\?[^"]+)"', text)]


def test_an_offer_is_the_plan_for_the_same_framework(client):
    assert offers(client, "rtx 3060 laptop", framework="jax", system="wsl2", torch="2.0.0", accelerator=T4)[0] == (
        "/plan/?framework=jax&accelerator=nvidia-geforce-rtx-3060-laptop"
    )
    assert client.get(offers(client, "tesla t4")[0]).status_code == 200


def test_an_offer_adds_its_accelerator_to_a_fit_question(client):
    kept = {"for": "fit", "model": "llama-3-70b", "context": "8192", "page": "3"}
    assert offers(client, "m3 max 40", **kept, accelerator=[T4])[0] == (
        f"/fit/?accelerator={T4}&accelerator={M3_MAX}&context=8192&model=llama-3-70b"
    )
    assert offers(client, "tesla t4", **kept, accelerator=[T4])[0].count(T4) == 1


def test_the_plain_card_is_offered_before_its_variants(client):
    found = [url.rpartition("=")[2] for url in offers(client, "3060", **{"for": "fit"})]
    assert found[0] == "nvidia-geforce-rtx-3060"
    assert "nvidia-geforce-rtx-3060-ti" in found


def test_a_seventh_accelerator_takes_the_place_of_the_first(client):
    six = [f"gpu-{number}" for number in range(6)]
    url = offers(client, "tesla t4", **{"for": "fit"}, accelerator=six)[0]
    assert re.findall(r"accelerator=([^&]+)", url) == [*six[1:], T4]


def test_accelerators_are_offered_and_nothing_else(client):
    assert offers(client, "cusolver") == []
    assert "No suggestions" in client.get("/search/accelerators/?q=cusolver", headers=HTMX).content.decode()


def test_without_scripts_the_same_accelerators_are_offered(client):
    kept = {"for": "fit", "model": "llama-3-70b"}
    page = client.get("/search/accelerators/", {"q": "rtx 4090", **kept})
    assert offers(client, "rtx 4090", **kept) == offers(client, "rtx 4090", headers={}, **kept) != []
    assert '<input type="hidden" name="model" value="llama-3-70b">' in page.content.decode()
    assert '<a href="/fit/?model=llama-3-70b">Does it fit?</a>' in page.content.decode()
    assert page.headers["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize(
    "query", ["", "x" * 10_000, "%", "\x00\x01", "<script>alert(1)</script>", "'; DROP TABLE x;--"]
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whatever_is_typed_is_answered(client, query, headers):
    sent = {"q": query, "for": "<b>", "framework": '"><script>alert(2)</script>', "accelerator": ["\x00"] * 50}
    page = client.get("/search/accelerators/", sent, headers=headers)
    assert page.status_code == 200
    assert b"<script>alert" not in page.content


def test_an_answer_costs_a_fixed_number_of_queries(client, django_assert_num_queries):
    offers(client, "h100")
    with django_assert_num_queries(1):
        assert len(offers(client, "rtx")) == 8
