"""A reader reports a mistake without an account, follows it, and is thanked; nothing public changes by it."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from stackviz.desk.curation.mistake_page import PURPOSE
from stackviz.desk.curation.models import ReaderCorrection
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.web.http.tickets import new_token, sign_ticket

FORM = "/accelerators/nvidia-t4/mistake/"
ABOUT = {"field": "memory_gb", "condition": ""}
SAID = {"wrong": "It has 15 GB.\nSee <script>alert(1)</script>", "right": "15 GB", "name": "Ada"}
SAID |= {"source_url": "https://example.org/t4", "contact": "ada@example.org"}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated")]


def ticket_of(client) -> str:
    page = client.get(FORM, ABOUT).content.decode()
    return re.search(r'name="ticket" value="([^"]+)"', page)[1]


def send(client, **changed):
    return client.post(FORM, {**ABOUT, **SAID, "ticket": ticket_of(client), **changed})


@pytest.fixture(autouse=True)
def patient(settings):
    """All tests come from one address."""
    settings.CORRECTIONS_PER_HOUR = 100_000


@pytest.fixture
def curator():
    person = User.objects.create_user("curator", is_staff=True)
    person.groups.add(Group.objects.get(name="Curators"))
    return person


def test_every_value_of_a_sheet_leads_to_the_form(client):
    page = client.get("/accelerators/nvidia-t4/").content.decode()
    address = re.search(r'href="(/accelerators/nvidia-t4/mistake/\?field=fp16_tensor_tflops[^"]*)"', page)[1]
    form = client.get(address.replace("&amp;", "&")).content.decode()
    assert "this sheet shows 65 TFLOPS" in form
    assert 'name="condition" value="sparsity=dense' in form


def test_a_mistake_is_stored_and_can_be_followed(client):
    answer = send(client)
    assert answer.status_code == 303
    stored = ReaderCorrection.objects.get()
    assert (stored.accelerator.slug, stored.field, stored.shown) == ("nvidia-t4", "memory_gb", "16 GB")
    assert (stored.right, stored.source_url, stored.state) == ("15 GB", "https://example.org/t4", "waiting")
    page = Client().get(answer["Location"])
    text = page.content.decode()
    assert ("&lt;script&gt;alert(1)" in text, "ada@example.org" in text) == (True, False)
    assert (page["X-Robots-Tag"], page["Referrer-Policy"]) == ("noindex", "no-referrer")
    assert "no-store" in page["Cache-Control"]
    token = answer["Location"].split("/")[-2]
    assert len(token) == 43
    assert token not in map(str, ReaderCorrection.objects.values().get().values())  # a digest is stored
    assert client.get(f"/corrections/{'x' * 43}/").status_code == 404


def test_it_changes_nothing_public(client):
    before = SpecValue.objects.filter(accelerator__slug="nvidia-t4").values_list("pk", "value", "status").order_by("pk")
    kept = list(before)
    send(client)
    assert list(before.all()) == kept
    for path in ("/accelerators/nvidia-t4/", "/changes/", "/corrections/", "/api/v1/accelerators/nvidia-t4/"):
        assert "15 GB" not in client.get(path).content.decode(), path


def test_a_form_sent_twice_is_one_correction_unless_words_differ(client):
    ticket = ticket_of(client)
    first, again, other = (send(client, ticket=ticket, wrong=f"It has {gb} GB.") for gb in (15, 15, 14))
    assert first["Location"] == again["Location"] != other["Location"]
    assert ReaderCorrection.objects.count() == 2
    assert "It has 14 GB." in client.get(other["Location"]).content.decode()
    assert "It has 15 GB." in client.get(first["Location"]).content.decode()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"wrong": ""}, "This field is required"),
        ({"wrong": "x" * 1001}, "at most 1000 characters"),
        ({"source_url": "javascript:alert(1)"}, "Enter a valid URL"),
        ({"source_url": "ftp://example.org/x"}, "Enter a valid URL"),
        ({"right": "x" * 121}, "at most 120 characters"),
        ({"name": "\x00"}, "Null characters are not allowed"),
        ({"ticket": "forged"}, "older than a day"),
        ({"ticket": ""}, "This field is required"),
    ],
)
def test_a_wrong_form_is_explained_and_stays_filled(client, changed, says):
    answer = send(client, **changed)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert says in text
    assert text.count(says) == 1
    assert "ada@example.org" in text
    assert ReaderCorrection.objects.count() == 0


def test_an_unknown_field_or_condition_is_about_the_sheet(client):
    assert send(client, field="nonsense", condition="x").status_code == 303
    stored = ReaderCorrection.objects.get()
    assert (stored.field, stored.condition, stored.shown) == ("", "", "")
    assert client.get("/accelerators/no-such-sheet/mistake/").status_code == 404


def test_too_many_are_refused_with_the_text_kept(settings):
    client = Client(REMOTE_ADDR="198.51.100.77")
    settings.CORRECTIONS_PER_HOUR = 3
    answers = [send(client, wrong=f"wrong {n}") for n in range(5)]
    assert [answer.status_code for answer in answers] == [303, 303, 303, 429, 429]
    assert "wrong 4" in answers[-1].content.decode()
    assert int(answers[-1]["Retry-After"]) > 0
    settings.CORRECTIONS_WAITING = 1
    assert send(Client(REMOTE_ADDR="198.51.100.78")).status_code == 503
    assert ReaderCorrection.objects.count() == 3


def decide(client, curator, **answer):
    client.force_login(curator)
    pk = ReaderCorrection.objects.get().pk
    page = f"/admin/curation/readercorrection/{pk}/change/"
    assert "propose a change" in client.get(page).content.decode()
    return client.post(page, answer)


def test_a_curator_answers_and_the_reader_is_thanked(client, curator):
    address = send(client)["Location"]
    refused = decide(Client(), curator, state="accepted", answer="")
    assert "Say what was found" in refused.content.decode()
    assert decide(Client(), curator, state="accepted", answer="15 GB are usable").status_code == 302
    stored = ReaderCorrection.objects.get()
    assert (stored.state, stored.decided_by, stored.contact) == ("accepted", curator, "")
    assert "15 GB are usable" in client.get(address).content.decode()
    thanks = client.get("/corrections/").content.decode()
    assert "Ada" in thanks
    assert "15 GB are usable" in thanks
    assert "See &lt;script" not in thanks  # what the reader wrote stays with the reader


def test_what_is_declined_is_not_listed(client, curator):
    address = send(client)["Location"]
    decide(Client(), curator, state="declined", answer="The source prints 16 GB")
    assert "The source prints 16 GB" in client.get(address).content.decode()
    assert "Ada" not in client.get("/corrections/").content.decode()


def test_only_curators_see_them_and_no_other_site_sends_them(client):
    send(client)
    client.force_login(User.objects.create_user("helper", is_staff=True))
    assert client.get("/admin/curation/readercorrection/").status_code == 403
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(FORM, {**ABOUT, **SAID, "ticket": sign_ticket([new_token()], PURPOSE)}).status_code == 403


def test_the_pages_cost_the_same_however_many_there_are(client, django_assert_num_queries):
    address = send(client)["Location"]
    for _again in range(2):
        with django_assert_num_queries(1):
            client.get(address)
        with django_assert_num_queries(1):
            client.get("/corrections/")
        with django_assert_num_queries(1):  # the edition
            client.get(FORM, ABOUT)
        rows = [
            ReaderCorrection(
                token_digest=f"{n}-{_again}", accelerator=Accelerator.objects.get(slug="nvidia-l4"), wrong="x",
                state="accepted", answer="y", decided_at="2026-01-01T00:00Z",
            )
            for n in range(20)
        ]  # fmt: skip
        ReaderCorrection.objects.bulk_create(rows)
