"""Prices on a sheet, in its API and of the past: each with kind, day, seller and source."""

import json

import pytest
from django.core.cache import cache
from django.utils import timezone

from stackviz.pages.accelerators.sheet import read_sheet
from stackviz.records.catalog.models import Accelerator, Price
from tests.responses import words_of

PRICES = "/api/v1/prices/"


def test_a_sheet_has_the_newest_of_each_kind_and_place(curated, client, db):
    page = words_of(client.get("/accelerators/nvidia-h100-sxm5-80gb/"))
    assert "street price 30,000 USD undated shop not named" in page
    assert "rent per hour 55.04 USD 6.88 USD for one of 8 2025-11-30 AWS us-east-1, p5.48xlarge on demand" in page
    assert "rent per hour 49.24 USD 6.155 USD for one of 8 2026-02 CoreWeave" in page
    assert "launch price" not in page.split("Prices each of its day")[1].split("Names it is reported")[0]


def test_a_launch_price_stands_apart_with_its_day(curated, db):
    sheet = read_sheet(Accelerator.objects.get(slug="nvidia-geforce-rtx-4090"))
    launch, street = sheet["prices"]["newest"]
    assert (launch.kind, launch.amount, launch.day) == ("launch price", "1,599 USD", "2022-10-12")
    assert (street.kind, street.amount, street.day) == ("street price", "1,669.99 USD", "2023-11-23")
    assert street.source.title.startswith("XDA")


def test_earlier_prices_of_a_place_are_its_history(curated, client, db):
    newest = Price.objects.get(seller="GameStop")
    before = Price.objects.get(pk=newest.pk)
    before.pk, before.data_key, before.day = None, None, newest.day.replace(month=10)
    before.save()
    prices = read_sheet(newest.accelerator)["prices"]
    assert [item.day for item in prices["newest"]] == ["2022-10-12", "2023-11-23"]
    assert [item.day for item in prices["earlier"]] == ["2023-10-23"]
    cache.clear()
    assert "1 earlier price" in words_of(client.get("/accelerators/nvidia-geforce-rtx-4090/"))


def test_a_past_sheet_has_the_prices_of_then(curated, client, db):
    then = timezone.now()
    price = Price.objects.get(seller="GameStop")
    price.status, price.is_preferred = "retired", False
    price.save()
    address = "/accelerators/nvidia-geforce-rtx-4090/"
    assert "1,669.99 USD" not in words_of(client.get(address))
    assert [item.kind for item in read_sheet(price.accelerator, then)["prices"]["newest"]] == [
        "launch price",
        "street price",
    ]


def test_hostile_texts_of_a_price_are_escaped(curated, client, db):
    hostile = "<img src=x onerror=alert(1)>"
    price = Price.objects.get(seller="GameStop")
    price.seller = price.offer = price.note = hostile
    price.save()
    assert hostile not in client.get("/accelerators/nvidia-geforce-rtx-4090/").content.decode()


def test_the_api_has_each_price_with_day_and_source(curated, client, db):
    answer = client.get(PRICES, {"accelerator": "nvidia-h100-sxm5-80gb", "kind": "rent"}).json()
    assert answer["count"] == len(answer["items"]) == 5
    first = answer["items"][-1]
    assert (first["amount"], first["cards"], first["currency"], first["day"]) == (6.88, 1, "USD", "2025-11-30")
    assert first["source"]["url"].startswith("https://github.com/tsaol/aws-gpu/")
    of_spring = client.get(PRICES, {"since": "2026-05-01", "until": "2026-11-20", "limit": 1}).json()
    assert of_spring["count"] == 5
    assert of_spring["items"][0]["kind"] == "rent"
    every = client.get(PRICES, {"limit": 100}).json()["items"]
    assert [item["day"] for item in every[-12:]] == ["undated"] * 12


@pytest.mark.parametrize(
    ("query", "field"),
    [({"kind": "launch"}, "kind"), ({"since": "soon"}, "since"), ({"until": "2026-13-01"}, "until"), ({"q": "x"}, "q")],
)
def test_the_api_refuses_what_it_cannot_read(client, db, query, field):
    answer = client.get(PRICES, query)
    assert (answer.status_code, json.loads(answer.content)["field"]) == (422, field)


def test_the_api_costs_the_same_however_many_prices_there_are(curated, client, db, django_assert_num_queries):
    for query in ({}, {"accelerator": "nvidia-l40s"}, {"limit": 1000}):
        with django_assert_num_queries(3):  # edition, count, prices
            client.get(PRICES, query)
