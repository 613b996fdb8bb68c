"""The page `/search/` and the suggestions: what they show, what they cost, what they hide."""

import time

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.models import Membership
from tests.pages.machines.factories import make_lab, make_machine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated")]
HTMX = {"HX-Request": "true"}


def test_results_are_in_groups_and_suggestions_are_options(client):
    answers = [client.get("/search/", {"q": "cudnn"}, headers=headers) for headers in ({}, HTMX)]
    assert [answer.headers["X-Robots-Tag"] for answer in answers] == ["noindex", "noindex"]
    page, options = (answer.content.decode() for answer in answers)
    assert page.index('class="best"') < page.index('href="/components/cudnn/"') < page.index('id="group-')
    assert '<meta name="robots" content="noindex">' in page
    assert 'value="cudnn"' in page
    assert "<html" not in options
    assert options.index('href="/components/cudnn/"') < options.index('href="/search/?q=cudnn"')
    assert 'id="search-option-1"' in options
    assert "suggestions" in options
    assert client.get("/search/?q=", headers=HTMX).content.decode().strip() == ""
    assert "No suggestions" in client.get("/search/?q=qqqqxxxx", headers=HTMX).content.decode()
    assert 'action="/search/"' in client.get("/learn/").content.decode()


def test_an_accelerator_that_is_not_public_is_not_found(client):
    assert "/nvidia-t4/" in client.get("/search/?q=nvidia+t4").content.decode()
    row = Accelerator.objects.get(slug="nvidia-t4")
    row.is_public = False
    row.save()
    assert "/nvidia-t4/" not in client.get("/search/?q=nvidia+t4").content.decode()


def test_an_empty_answer_says_what_can_be_searched(client):
    for query in ("", "qqqqxxxx", "?!"):
        text = client.get("/search/", {"q": query}).content.decode()
        assert "What can be searched" in text
        assert 'href="/learn/"' in text
    assert "Nothing matches “qqqqxxxx”." in client.get("/search/?q=qqqqxxxx").content.decode()
    assert "The text has no letters or digits" in client.get("/search/?q=%3F%21").content.decode()
    cut = client.get("/search/", {"q": "h100 " * 2_000}).content.decode()
    assert "The text is longer than 300 characters" in cut
    assert "nvidia-h100" in cut


def test_an_error_message_opens_the_diagnosis_with_its_text(client):
    text = client.get("/search/", {"q": "Some error nobody knows <b>"}).content.decode()
    assert "/diagnose/?text=Some+error+nobody+knows+%3Cb%3E" in text
    opened = client.get("/diagnose/?text=Some+error+nobody+knows+%3Cb%3E").content.decode()
    assert "Some error nobody knows &lt;b&gt;</textarea>" in opened
    cut = client.get("/diagnose/", {"text": "z" + "y" * 9_000}).content.decode()
    assert "\nz" + "y" * 1_999 + "</textarea>" in cut


@pytest.mark.parametrize(
    "query",
    [
        "x" * 10_000, "x y " * 2_500, "显存" * 3_000, "\x01\x02\x1f", "\x00", "h100\x00", "'; DROP TABLE x;--", "%", "_", "\\",
        "%%%___", "🙂", "\u202e\u200b", "<script>alert(1)</script>", "a" * 299 + " b",
    ],
)  # fmt: skip
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whatever_is_typed_is_answered(client, query, headers):
    client.get("/search/?q=h100")  # the index is made once
    begun = time.process_time()
    answer = client.get("/search/", {"q": query}, headers=headers)
    assert time.process_time() - begun < 2
    assert answer.status_code == 200
    assert "<script>alert(1)" not in answer.content.decode()


@pytest.mark.parametrize("query", ["%", "_", "\\", "%a", "r_ck", "%rack_7%x"])
def test_signs_of_like_are_signs(client, query):
    make_machine(make_lab(), "rack-7")
    assert "rack-7" not in client.get("/search/", {"q": query}).content.decode()


def test_machines_are_found_by_name_and_lab_twenty_at_most(client):
    machine = make_machine(make_lab(name="Northern lights"), "rack-7")
    for query in ("rack", "RACK-7", "northern", "lights rack"):
        text = client.get("/search/", {"q": query}).content.decode()
        assert machine.get_absolute_url() in text, query
    assert machine.get_absolute_url() not in client.get("/search/?q=rack+south").content.decode()


def test_of_many_machines_twenty_are_read(client):
    lab = make_lab()
    for number in range(25):
        make_machine(lab, f"rack-{number}")
    text = client.get("/search/?q=rack").content.decode()
    assert text.count('href="/machines/north/rack-') == 8
    assert "12 more are not shown" in text


def shown(client, query: str) -> str:
    """The page without its frame, which has a token of its own each time."""
    return client.get("/search/", {"q": query}).content.decode().partition("<main")[2].partition("</main>")[0]


def test_machines_of_a_private_lab_are_found_by_members(client):
    lab, other = make_lab("cellar", is_public=False, name="Vault"), make_lab("attic", is_public=False)
    make_machine(lab, "sealed-box")
    member, stranger = User.objects.create_user("member"), User.objects.create_user("stranger")
    Membership.objects.create(lab=lab, user=member)
    Membership.objects.create(lab=other, user=stranger)
    queries = ("sealed", "Vault", "vault box")
    before = [shown(client, query) for query in queries]
    for visitor, may_see in ((None, False), (stranger, False), (member, True)):
        client.logout()
        if visitor:
            client.force_login(visitor)
        for query in queries:
            for headers in ({}, HTMX):
                text = client.get("/search/", {"q": query}, headers=headers).content.decode()
                assert ("/machines/cellar/sealed-box/" in text) is may_see, (visitor, query)
                assert ("sealed-box" in text) is may_see
    lab.machines.all().delete()
    client.logout()
    assert [shown(client, query) for query in queries] == before  # as if it were not there


def test_it_costs_the_same_whatever_it_finds(client, django_assert_num_queries):
    client.get("/search/?q=h100")
    for headers in ({}, HTMX):
        for query in ("h100", "rack", "qqqqxxxx", "卷积"):
            cache.clear()
            with django_assert_num_queries(2):  # machines, the editions
                client.get("/search/", {"q": query}, headers=headers)
    with django_assert_num_queries(0):
        client.get("/search/")
    with django_assert_num_queries(1):  # a sentence is no name of a machine
        client.get("/search/", {"q": "no kernel image is available for execution"})
