"""The box on a comparison: what it offers, where each offer leads, what it hides and what it costs."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User

from stackviz.records.labs.models import Membership
from tests.pages.machines.factories import make_lab, make_machine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated")]
HTMX = {"HX-Request": "true"}
H100, MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"


def offers(client, query, headers=HTMX, **parameters) -> list[str]:
    """The addresses of comparisons that are offered."""
    page = client.get("/search/subjects/", {"q": query, "a": [H100, MAX], **parameters}, headers=headers)
    assert page.status_code == 200
    return [unescape(url) for url in re.findall(r'href="(/compare/\?[^"]+)"', page.content.decode())]


def test_an_offer_adds_or_replaces_a_subject_of_the_comparison(client):
    assert offers(client, "rtx 4090")[0] == f"/compare/?a={H100}&a={MAX}&a=nvidia-geforce-rtx-4090"
    assert client.get(offers(client, "rtx 4090")[0]).status_code == 200
    url = offers(client, "rtx 4090", instead=MAX, only="differences", base=MAX)[0]
    new = "nvidia-geforce-rtx-4090"
    assert url == f"/compare/?a={H100}&a={new}&base={new}&only=differences"
    assert all(url.count(f"a={H100}") == 1 for url in offers(client, "h100 sxm5"))
    assert offers(client, "rocm", at="2026-01-01") == []
    assert "at=2026-01-01" in offers(client, "rtx 4090", at="2026-01-01")[0]


def test_stacks_and_machines_are_offered_and_nothing_else(client):
    make_machine(make_lab("north"), "dgx-07")
    assert f"/compare/?a={H100}&a={MAX}&a=stack:amd-rocm" in offers(client, "rocm")
    assert offers(client, "dgx-07")[0] == f"/compare/?a={H100}&a={MAX}&a=machine:north/dgx-07"
    assert offers(client, "cusolver") == []


def test_a_private_machine_is_offered_to_its_lab_alone(client):
    lab = make_lab("south", is_public=False)
    make_machine(lab, "sealed")
    hidden, absent = (
        client.get("/search/subjects/", {"q": name, "a": H100}, headers=HTMX).content for name in ("sealed", "qqqxxx")
    )
    assert hidden == absent
    assert offers(client, "sealed") == []
    ada = User.objects.create_user("ada")
    Membership.objects.create(lab=lab, user=ada)
    client.force_login(ada)
    assert offers(client, "sealed") == [f"/compare/?a={H100}&a={MAX}&a=machine:south/sealed"]


def test_a_full_comparison_says_that_one_must_be_replaced(client):
    six = [f"gpu-{number}" for number in range(6)]
    for headers in ({}, HTMX):
        page = client.get("/search/subjects/", {"q": "4090", "a": six}, headers=headers).content.decode()
        assert "A comparison holds at most 6. Choose which to replace." in page
    assert len(offers(client, "4090", a=six, instead="gpu-3")) > 0


def test_without_scripts_the_same_subjects_are_offered(client):
    page = client.get("/search/subjects/", {"q": "rtx 4090", "a": [H100, MAX]})
    assert set(offers(client, "rtx 4090")) <= set(offers(client, "rtx 4090", headers={}))
    assert f'<input type="hidden" name="a" value="{MAX}">' in page.content.decode()
    assert page.headers["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize(
    "query", ["", "x" * 10_000, "%", "\x00\x01", "<script>alert(1)</script>", "'; DROP TABLE x;--"]
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whatever_is_typed_is_answered(client, query, headers):
    sent = {"q": query, "a": ["<b>", "machine:x", H100], "instead": "y" * 5_000, "at": "never", "base": "\x00"}
    page = client.get("/search/subjects/", sent, headers=headers)
    assert page.status_code == 200
    assert b"<script>alert" not in page.content
    assert b'value="<b>' not in page.content


def test_an_answer_costs_a_fixed_number_of_queries(client, django_assert_num_queries):
    lab = make_lab("north")
    for number in range(30):
        make_machine(lab, f"rocm-{number}")
    client.get("/search/?q=h100")
    with django_assert_num_queries(2):
        offers(client, "rocm")
