"""A sheet as it stood: by `?at=`, with a banner; and what an address asks for that there is not."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from stackviz.records.catalog.models import Alias
from stackviz.web.http.address import write_moment

URL = "/accelerators/acme-one/"


def text_of(client, query: str = "") -> str:
    response = client.get(URL + query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def yesterday(bandwidth) -> str:
    """A moment of yesterday as an address names it; the card's figures, 3350 GB/s, are older."""
    for model in (type(bandwidth), type(bandwidth.accelerator)):
        model.history.update(history_date=timezone.now() - timedelta(days=2))
    return write_moment((timezone.now() - timedelta(days=1)).replace(microsecond=0))


def correct(value, new: str) -> None:
    value.value = new
    value.save()


def test_past_sheet_has_banner_and_old_values(client, bandwidth, yesterday):
    version = r'<a href="http://testserver(/accelerators/acme-one/\?at=[^"]+)">This version</a>'
    permalink = re.search(version, text_of(client))[1]
    assert "No value has changed since." in text_of(client, f"?at={yesterday}")
    correct(bandwidth, "3352")
    past, present = text_of(client, f"?at={yesterday}"), text_of(client)
    assert ">3,350 GB/s</span>" in past
    assert ">3,352 GB/s</span>" in present
    assert ">3,350 GB/s</span>" in client.get(permalink).content.decode()
    assert "The spec sheet as of" in past
    assert "1 value was added, changed or withdrawn since." in past
    assert f'<a href="{URL}">The current spec sheet</a>' in past
    assert '<meta name="robots" content="noindex">' in past
    assert f'<link rel="canonical" href="http://testserver{URL}">' in past
    assert not re.search("spec sheet as of|noindex", present)


def test_names_and_the_products_own_name_are_those_of_then(client, bandwidth, yesterday):
    Alias.objects.create(accelerator=bandwidth.accelerator, name="Acme Uno", source=bandwidth.source)
    card = bandwidth.accelerator
    card.name = "Acme One, renamed"
    card.save()
    past = text_of(client, f"?at={yesterday}")
    assert "<h1>Acme One</h1>" in past
    assert "Acme Uno" not in past
    assert "Acme Uno" in text_of(client)


def test_past_sheet_derives_from_past_values(client, bandwidth, yesterday, sheet_source):
    rate = bandwidth.__class__.objects.create(
        accelerator=bandwidth.accelerator, field="bf16_tensor_tflops", value="989.4", unit="TFLOPS",
        condition="sparsity=dense", source=sheet_source, status="public", is_preferred=True,
    )  # fmt: skip
    rate.__class__.history.filter(id=rate.pk).update(history_date=timezone.now() - timedelta(days=2))
    correct(bandwidth, "6700")
    assert ">295.3 FLOP/B</span>" in text_of(client, f"?at={yesterday}")
    assert ">147.7 FLOP/B</span>" in text_of(client)


def test_withdrawn_sheet_has_no_public_past(client, bandwidth, yesterday):
    card = bandwidth.accelerator
    card.is_public = False
    card.save()
    assert client.get(f"{URL}?at={yesterday}").status_code == 404
    assert client.get(f"{URL}?at={yesterday}&format=json").status_code == 404


@pytest.mark.parametrize(
    ("query", "note"),
    [
        *((f"?at={at}", "the current sheet is shown.") for at in ("nonsense", "2999-01-01", "2026-13-77", "<script>")),
        ("?at=" + "1" * 5000, "the current sheet is shown."),
        ("?at=2001-01-01", "This sheet did not exist on 2001-01-01 23:59:59 UTC; the current version is shown."),
    ],
)
def test_what_cannot_be_shown_is_left_out_with_a_note(client, bandwidth, query, note):
    page = text_of(client, query)
    assert note in page
    assert ">3,350 GB/s</span>" in page
    assert "<script>”" not in page


def test_past_sheet_query_count_is_bounded(curated, client, db, django_assert_max_num_queries):
    at = write_moment(timezone.now())
    client.get(reverse("accelerators:sheet", args=["nvidia-t4"]))  # what is public is read from now on
    for slug in ("nvidia-h100-sxm5-80gb", "apple-m3-max-40", "hailo-8"):
        with django_assert_max_num_queries(17):  # prices of then and their sources among them
            page = client.get(reverse("accelerators:sheet", args=[slug]), {"at": at})
        assert "spec sheet as of" in page.content.decode()


# --- the same again ---


def test_an_unchanged_sheet_is_not_sent_twice(client, bandwidth, yesterday, django_user_model):
    client.get(URL)  # with the cookie of the first answer
    past = f"{URL}?at={yesterday}"
    tags = {address: client.get(address).headers["ETag"] for address in (URL, past)}
    for address, tag in tags.items():
        again = client.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get(URL, headers={"If-None-Match": tags[past]}).status_code == 200
    correct(bandwidth, "3352")
    assert client.get(URL, headers={"If-None-Match": tags[URL]}).status_code == 200
    client.force_login(django_user_model.objects.create_user("mei"))
    assert "ETag" not in client.get(URL).headers
