"""Dated prices: read, refused, loaded, kept apart by day and seller, checked."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from stackviz.records.catalog.check import check_catalogue
from stackviz.records.catalog.files import read_catalogue
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, Price, Source
from stackviz.records.catalog.past import public_prices_at
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.prices.file import MOST_PRICES
from stackviz.records.prices.price import money, plain_number, prices_of_month
from stackviz.records.prices.rules import price_problems
from tests.records.catalog.fixtures import files_of

HEADER = "device,kind,amount,currency,day,seller,offer,cards,status,source,note"
OFFER = "g4dn.xlarge on demand"
GOOD = f"nvidia-t4,rent,0.526,USD,2025-11-30,AWS us-east-1,{OFFER},1,public,nvidia-t4-product-page,"


@pytest.fixture
def folder(tmp_path) -> Path:
    return files_of(tmp_path, "nvidia-t4")


def write(folder: Path, *lines: str) -> None:
    (folder / "prices.csv").write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")


def changed(**cells: str) -> str:
    """The good line with other cells."""
    row = dict(zip(HEADER.split(","), GOOD.split(","), strict=True))
    return ",".join({**row, **cells}.values())


TOMORROW = f"{timezone.now().date() + timedelta(days=1):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"currency": "ZZZ"}, "currency is a code of ISO 4217 such as USD, not 'ZZZ'"),
        ({"currency": "usd"}, "currency is a code of ISO 4217"),
        ({"currency": "XAU"}, "currency is a code of ISO 4217"),
        ({"amount": "-1"}, "amount is a number such as 1669.99, not '-1'"),
        ({"amount": "1e9"}, "amount is a number"),
        ({"amount": "NaN"}, "amount is a number"),
        ({"amount": "٣"}, "amount is a number"),
        ({"amount": "0"}, "amount for one card is between 0.001 and 1000 USD, not 0"),
        ({"amount": "20000"}, "amount for one card is between 0.001 and 1000 USD, not 20000"),
        ({"amount": "3", "kind": "street"}, "amount for one card is between 5 and 5000000 USD, not 3"),
        ({"day": TOMORROW}, "day lies in the future"),
        ({"day": "2025-13"}, "day is a day such as 2025-11-30, a month such as 2025-11, or undated, not '2025-13'"),
        ({"day": "20251130"}, "day is a day such as"),
        ({"day": ""}, "day is a day such as"),
        ({"day": "1999-01-01"}, "day is before 2005-01-01"),
        ({"kind": "launch"}, "kind must be one of street, rent, not 'launch'"),
        ({"cards": "0"}, "cards is between 1 and 10000, not 0"),
        ({"cards": "01"}, "cards is a whole number such as 8, not '01'"),
        ({"cards": "1.5"}, "cards is a whole number such as 8, not '1.5'"),
        ({"source": ""}, "source: a price needs a source with an address, not ''"),
        ({"source": "nobody"}, "source: a price needs a source with an address, not 'nobody'"),
        ({"seller": ""}, "seller: the shop or the cloud is missing"),
        ({"offer": "x" * 81}, "offer: more than 80 characters"),
        ({"status": "draft"}, "status must be one of public, alternative, retired"),
        ({"device": "nobody"}, "device: unknown accelerator 'nobody'"),
        ({"note": '"' + "x" * 200_000}, "field larger than field limit"),
        ({"offer": OFFER, "status": "alternative"}, "duplicate: nvidia-t4/rent/USD/2025-11-30"),
        (
            {"offer": OFFER, "source": "nvidia-cuda-gpu-compute-capability", "amount": "0.6"},
            "status: two preferred prices of nvidia-t4, rent, USD",
        ),
    ],
)
def test_a_wrong_price_is_refused_with_file_line_and_field(folder, cells, problem):
    write(folder, GOOD, changed(**{"offer": "another", **cells}))
    with pytest.raises(CuratedDataError) as refusal:
        read_catalogue(folder)
    (found,) = [text for text in refusal.value.problems if text.startswith("prices.csv")]
    assert found.startswith(f"prices.csv:3: {problem}")


def test_a_million_rows_are_refused_without_being_read(folder):
    with (folder / "prices.csv").open("w", encoding="utf-8") as file:
        file.write(HEADER + "\n")
        file.writelines(GOOD + "\n" for _number in range(1_000_000))
    with pytest.raises(CuratedDataError) as refusal:
        read_catalogue(folder)
    assert refusal.value.problems == [
        f"prices.csv:{MOST_PRICES + 2}: more than 20,000 rows; keep the newest price of each seller and month"
    ]


def test_bounds_follow_the_size_of_a_currency(folder, db):
    write(folder, changed(kind="street", amount="2100000", currency="KRW"))
    load_catalogue(folder)
    price = Price.objects.get()
    assert (price.amount, price.currency, price.label) == (Decimal(2100000), "KRW", "2,100,000 KRW")


def test_prices_load_change_and_leave_with_their_lines(folder, db):
    write(folder)
    load_catalogue(folder)
    write(folder, GOOD, changed(day="2026-02"))
    assert str(load_catalogue(folder).tables["prices"]) == "2 new"
    month = Price.objects.get(is_month=True)
    assert (month.day, month.day_text, month.is_preferred) == (date(2026, 2, 1), "2026-02", True)
    write(folder, changed(amount="0.53"))
    assert str(load_catalogue(folder).tables["prices"]) == "1 updated, 1 deleted"
    price = Price.objects.get()
    assert (price.label, price.history.count()) == ("0.53 USD", 2)
    assert price.history.first().history_change_reason.startswith("Loaded from the curated files")


def test_a_price_corrected_here_stays_and_keeps_its_place(folder, db):
    write(folder, GOOD)
    load_catalogue(folder)
    Price.objects.get().delete()
    Price.objects.create(
        accelerator=Accelerator.objects.get(), source=Source.objects.get(key="nvidia-t4-product-page"), kind="rent",
        amount=Decimal("0.5"), currency="USD", day=date(2025, 11, 30), seller="AWS us-east-1", offer=OFFER, cards=1,
        status="public", is_preferred=True,
    )  # fmt: skip
    write(folder, changed(source="sysrqmts-nvidia-tesla-t4"))
    load_catalogue(folder)
    kept = list(Price.objects.order_by("amount").values_list("amount", "is_preferred"))
    assert kept == [(Decimal("0.5"), True), (Decimal("0.526"), False)]


@pytest.fixture
def make_price(card, sheet_source, db):
    def make(**cells) -> Price:
        values = {
            "accelerator": card, "kind": "rent", "amount": Decimal(8), "currency": "USD", "day": date(2025, 7, 4),
            "seller": "Acme cloud", "cards": 8, "source": sheet_source, "status": "public", "is_preferred": True,
        }  # fmt: skip
        return Price.objects.create(**{**values, **cells})

    return make


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ({"amount": Decimal(0)}, "price_amount_positive"),
        ({"amount": Decimal(-8)}, "price_amount_positive"),
        ({"cards": 0}, "price_cards_at_least_one"),
        ({"kind": "launch"}, "price_kind_is_known"),
        ({"currency": "usd"}, "price_currency_is_a_code"),
        ({"seller": ""}, "price_has_a_seller"),
        ({"is_month": True}, "price_month_is_its_first_day"),
        ({"is_month": True, "day": None}, "price_month_is_its_first_day"),
        ({"status": "review"}, "price_preferred_is_public"),
        ({"status": "gone", "is_preferred": False}, "price_status_is_known"),
    ],
)
def test_the_database_refuses_what_a_price_cannot_be(make_price, cells, name):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        make_price(**cells)


def test_the_database_refuses_a_second_preferred_price(make_price):
    make_price()
    make_price(amount=Decimal(9), is_preferred=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_price(amount=Decimal(9))
    make_price(amount=Decimal(9), currency="EUR")  # another currency is another price
    make_price(day=None)
    with pytest.raises(IntegrityError):
        make_price(day=None, amount=Decimal(9))


def test_an_undated_price_comes_last_and_prices_no_result(make_price, card):
    undated, dated = make_price(day=None, amount=Decimal(9)), make_price()
    prices = public_catalogue().prices(card.pk)
    assert prices == (dated, undated)
    assert (undated.day_text, str(undated)) == ("undated", "rent per hour 9 USD, Acme cloud, undated")
    assert list(Price.objects.filter(accelerator=card)) == [dated, undated]
    assert prices_of_month(prices, date(2025, 7, 31)) == (dated,)
    undated.is_month = True
    with pytest.raises(ValidationError):
        undated.full_clean()


def test_a_line_without_a_day_is_loaded_as_undated(folder, db):
    write(folder, changed(day="undated"))
    load_catalogue(folder)
    price = Price.objects.get()
    assert (price.day, price.day_text, price.is_preferred) == (None, "undated", True)


def test_no_price_of_the_files_has_the_day_its_page_was_read(curated, db):
    """The figures of a page that dates none of its offers."""
    approximate = Price.objects.filter(note="approximate")
    assert approximate.count() == 12
    assert not approximate.filter(day__isnull=False).exists()


def test_a_form_is_told_which_field_is_wrong(make_price):
    price = make_price()
    price.currency, price.day = "ZZZ", timezone.now().date() + timedelta(days=1)
    with pytest.raises(ValidationError) as refusal:
        price.full_clean()
    assert refusal.value.message_dict.keys() == {"currency", "day"}


def test_the_preferred_price_of_a_month_prices_its_results(make_price, card):
    july = make_price()
    make_price(day=date(2025, 6, 30))
    make_price(day=date(2024, 7, 4))
    make_price(day=date(2025, 7, 4), amount=Decimal(9), is_preferred=False)
    make_price(day=date(2025, 7, 5), status="review", is_preferred=False)
    assert prices_of_month(public_catalogue().prices(card.pk), date(2025, 7, 31)) == (july,)
    assert prices_of_month(public_catalogue().prices(card.pk), date(2025, 8, 1)) == ()
    assert [price.day for price in public_catalogue().prices(card.pk)][-1] == date(2024, 7, 4)
    assert july.of_one == 1.0


def test_a_price_moves_the_edition_and_costs_one_query(make_price, card, django_assert_num_queries):
    # By hand too: a test here that loads a few files would delete a whole catalogue, row by row.
    other = Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")
    before = CatalogueEdition.current()
    make_price()
    assert CatalogueEdition.current() != before
    public_catalogue().prices(card.pk)
    with django_assert_num_queries(2):  # the edition, for each; within a request it is asked for once
        public_catalogue().prices(card.pk)
        public_catalogue().prices(other.pk)


def test_prices_of_a_sheet_that_is_not_public_are_not_read(make_price, card):
    make_price()
    card.is_public = False
    card.save()
    assert public_catalogue().prices(card.pk) == ()


def test_the_past_has_the_prices_of_then(make_price, card):
    price = make_price()
    then = timezone.now()
    price.status, price.is_preferred = "retired", False
    price.save()
    assert [row.label for row in public_prices_at(card.pk, then)] == ["8 USD"]
    assert public_prices_at(card.pk, timezone.now()) == []


def test_the_check_finds_prices_that_got_in_another_way(make_price, sheet_source):
    price = make_price()
    Price.objects.filter(pk=price.pk).update(currency="ZZZ", is_preferred=False)
    found = {outcome.name: outcome.problems for outcome in check_catalogue([]).outcomes}
    assert found["price"][0].expected == "currency is a code of ISO 4217 such as USD, not 'ZZZ'"
    assert found["price-of-day"][0].expected == "one preferred price, not 0"
    Price.objects.filter(pk=price.pk).update(currency="USD", is_preferred=True)
    sheet_source.url = "https://acme.example/"
    sheet_source.save()
    found = {outcome.name: outcome.problems for outcome in check_catalogue([]).outcomes}
    assert "the web address of a page" in found["price"][0].expected


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("30000", "30,000"), ("55.5", "55.50"), ("27.447050", "27.44705"), ("1669.99", "1,669.99"),
        (1234.56, "1,234.56"), (123.456, "123.46"), (6.155, "6.155"), (30000.0, "30,000"),
    ],
)  # fmt: skip
def test_cents_are_shown_as_cents(amount, shown):
    assert (money(Decimal(amount)) if isinstance(amount, str) else plain_number(amount)) == shown


@pytest.mark.parametrize(
    ("kind", "amount", "currency", "fault"),
    [
        ("street", "320000000", "KRW", ""),
        ("rent", "0.1234567", "USD", "amount has more than 6 decimals"),
        ("street", "1234567890.1234567", "KRW", "amount has more than 6 decimals or more than 15 digits"),
    ],
)
def test_an_amount_that_the_column_cannot_hold_is_refused(kind, amount, currency, fault):
    day, today = date(2026, 1, 1), date(2026, 2, 1)
    found = price_problems(kind=kind, amount=Decimal(amount), currency=currency, day=day, cards=8, today=today)
    assert dict(found).get("amount", "").startswith(fault)
    assert fault or not dict(found)
