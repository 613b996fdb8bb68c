"""Dated prices in the public log: what was asked, by whom, of which day; nothing of what is in review."""

from datetime import date
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from stackviz.pages.accelerators.changes import PRICES, LogFilter, read_log
from stackviz.records.prices.price import Price


@pytest.fixture
def rent(card, sheet_source) -> Price:
    return Price.objects.create(
        accelerator=card, kind="rent", amount=Decimal("55.04"), currency="USD", day=date(2025, 11, 30), cards=8,
        seller="Acme Cloud", offer="8x on demand", source=sheet_source, status="public", is_preferred=True,
    )  # fmt: skip


def entries():
    return read_log(LogFilter(accelerator="acme-one", field=PRICES)).entries


def test_a_new_price_is_told_with_its_day_and_seller(rent):
    (entry,) = entries()
    assert (entry.what, entry.old, entry.new) == ("added", "", "55.04 USD for 8, 2025-11-30")
    assert (entry.title, entry.condition) == ("rent per hour", "Acme Cloud, 8x on demand")
    assert (entry.accelerator, entry.source_url) == ("Acme One", "https://acme.example/one")
    assert read_log(LogFilter()).entries[0] == entry


def test_a_price_in_review_is_told_by_nobody(rent):
    Price.objects.create(
        accelerator=rent.accelerator, kind="street", amount=Decimal(1), currency="USD", day=date(2026, 1, 1),
        seller="Secret Shop", source=rent.source, status="review",
    )  # fmt: skip
    assert len(entries()) == 1


BY_MONTH = {"day": date(2025, 11, 1), "is_month": True, "cards": 1}


@pytest.mark.parametrize(
    ("changes", "what", "old", "new"),
    [
        ({"status": "retired", "is_preferred": False}, "retired", "55.04 USD for 8, 2025-11-30", ""),
        ({"is_preferred": False}, "alternative", "", "55.04 USD for 8, 2025-11-30"),
        (BY_MONTH, "changed", "55.04 USD for 8, 2025-11-30", "55.04 USD, 2025-11"),
    ],
)
def test_a_change_shows_what_a_price_was(rent, changes, what, old, new):
    for name, value in changes.items():
        setattr(rent, name, value)
    rent.save()
    assert (entries()[0].what, entries()[0].old, entries()[0].new) == (what, old, new)
    rent.delete()
    if what != "retired":  # that is public no more
        assert (entries()[0].what, entries()[0].old) == ("removed", new)


def test_another_seller_and_note_of_the_same_amount_are_told(rent):
    rent.seller, rent.note = "Acme Cloud Europe", "in Frankfurt"
    rent.save()
    assert entries()[0].details == ("previous seller: Acme Cloud, 8x on demand", "note: in Frankfurt")


def test_who_approved_it_is_told(rent):
    ada, mira = (User.objects.create_user(name, first_name=name.title()) for name in ("ada", "mira"))
    rent.amount, rent.proposed_by, rent.checked_by, rent.checked_at = Decimal(50), ada, mira, timezone.now()
    rent._history_user = ada
    rent.save()
    assert entries()[0].who == "Ada, approved by Mira"


def test_the_page_lists_prices_alone(client, rent):
    page = client.get("/changes/?a=acme-one&field=price").content.decode()
    assert page.count("<li id=") == 1
    assert "55.04 USD for 8, 2025-11-30" in page


def test_prices_of_the_files_are_counted_in_their_load(curated, db):
    loads = [entry for entry in read_log(LogFilter()).entries if entry.load]
    assert f"{Price.objects.filter(status='public').count()} prices added" in loads[0].counts
