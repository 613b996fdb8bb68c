"""A result against a price: of its own month and no other, in its own currency, with the formula."""

import json
from datetime import date
from decimal import Decimal

import pytest

from stackviz.pages.benchmarks.priced import cheapest, priced_result
from stackviz.records.catalog.models import Accelerator, Price, Source
from stackviz.records.cited.words import result_address
from tests.responses import words_of

RTX_4090 = "nvidia-geforce-rtx-4090"
NOTHING = "no price of that time"


@pytest.fixture
def make_price(db):
    def make(slug: str = RTX_4090, **cells) -> Price:
        values = {
            "accelerator": Accelerator.objects.get(slug=slug), "kind": "rent", "amount": Decimal("0.72"), "cards": 1,
            "currency": "USD", "day": date(2025, 7, 20), "seller": "Acme cloud", "source": Source.objects.first(),
            "status": "public", "is_preferred": True,
        }  # fmt: skip
        return Price.objects.create(**{**values, **cells})

    return make


def test_a_rent_of_the_month_gives_the_cost_of_tokens(client, make_result, make_price, django_assert_max_num_queries):
    make_price()
    result = make_result(value="200")  # 0.72 USD / (200 * 3600) * 1e6
    (priced,) = priced_result(result)
    assert priced.amount == pytest.approx(1.0)
    text = words_of(client.get(result_address(result)))
    assert "Cost, rented 1 USD per million tokens derived" in text
    assert "0.72 USD × 1 ÷ (200 tokens/s × 3,600 s) × 1,000,000" in text
    assert "Acme cloud, 2025-07-20: 0.72 USD" in text
    assert NOTHING not in text
    with django_assert_max_num_queries(4):
        client.get(result_address(result))


def test_a_street_price_of_the_month_gives_what_it_buys(client, make_result, make_price):
    make_price(kind="street", amount=Decimal(1600), currency="EUR")
    result = make_result(value="200")
    (priced,) = priced_result(result)
    assert (priced.amount, priced.text) == (pytest.approx(0.125), "125 tokens/s per 1,000 EUR")
    assert "200 tokens/s ÷ (1,600 EUR × 1) × 1,000" in words_of(client.get(result_address(result)))


@pytest.mark.parametrize("day", [date(2025, 6, 30), date(2025, 8, 1), date(2024, 7, 20), date(2026, 7, 1)])
def test_a_price_of_another_month_prices_nothing(client, make_result, make_price, day):
    make_price(day=day)
    result = make_result()
    assert priced_result(result) == ()
    assert f"Price per result {NOTHING}" in words_of(client.get(result_address(result)))


def test_without_a_day_or_with_a_launch_price_nothing_is_priced(client, make_result, make_price):
    launched = make_result(date=date(2022, 10, 12))  # the RTX 4090 has a launch price on its sheet
    assert f"Price per result {NOTHING}" in words_of(client.get(result_address(launched)))
    make_price()
    assert f"Price per result {NOTHING}" in words_of(client.get(result_address(make_result(date=None))))


@pytest.mark.parametrize("cells", [{"status": "review", "is_preferred": False}, {"is_preferred": False}])
def test_a_price_that_nobody_checked_or_prefers_prices_nothing(make_result, make_price, cells):
    make_price(**cells)
    assert priced_result(make_result()) == ()


def test_a_month_is_enough_and_cards_are_shared_out(make_result, make_price):
    make_price(day=date(2025, 7, 1), is_month=True, amount=Decimal("5.76"), cards=8)
    params = {"model": "retinanet", "scenario": "Offline"}
    result = make_result(benchmark="mlperf-inference", params=params, value="800", unit="sample/s", count=4)
    (priced,) = priced_result(result)  # 0.72 * 4 / (800 * 3600) * 1e6
    assert (priced.amount, priced.text) == (pytest.approx(1.0), "1 USD per million samples")
    assert priced.where == "Acme cloud, 2025-07"


def test_a_rate_of_each_device_is_priced_by_one_and_no_time_is(client, make_result, make_price):
    make_price()
    rate = make_result(benchmark="train-tokens-per-device", params={"model": "gpt"}, value="200", count=64)
    assert priced_result(rate)[0].amount == pytest.approx(1.0)
    time = make_result(benchmark="model-time", params={"model": "bert"}, value="9", unit="ms")
    assert NOTHING not in words_of(client.get(result_address(time)))


def test_currencies_are_never_mixed_and_the_cheapest_ranked(make_result, make_price):
    make_price(amount=Decimal("1.44"), seller="Dear cloud")
    make_price()
    make_price(amount=Decimal(100), currency="JPY")
    texts = [item.text for item in cheapest(priced_result(make_result(value="200")))]
    assert texts == ["139 JPY per million tokens", "1 USD per million tokens"]


def test_a_ranking_says_what_has_a_price_and_what_has_none(client, make_result, make_price):
    make_price()
    make_result(value="2000")
    page = words_of(client.get("/benchmarks/llama-bench/"))
    assert "0.1 USD per million tokens" in page
    assert NOTHING in page
    rows = json.loads(client.get("/benchmarks/llama-bench/?format=json").content)["results"]
    best = rows[0]["price_per_result"]
    assert (best[0]["currency"], best[0]["day"], best[0]["figure"]) == ("USD", "2025-07-20", pytest.approx(0.1))
    without_any = words_of(client.get("/benchmarks/babelstream/"))
    assert NOTHING not in without_any
    assert "Price per result" not in without_any
    assert "price_per_result" in client.get("/benchmarks/llama-bench/?format=csv").content.decode().splitlines()[0]
