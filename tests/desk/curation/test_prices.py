"""Prices in the admin: one person enters, another one decides; a public price is retired, not changed."""

import html
import re
from datetime import date
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from stackviz.pages.accelerators.changes import PRICES, LogFilter, read_log
from stackviz.records.catalog.models import Price

LIST = reverse("admin:catalog_price_changelist")


@pytest.fixture
def people(django_user_model, client, db):
    """`people(name, *rights)`: log somebody with these rights in."""

    def log_in(name: str, *rights: str):
        user, _new = django_user_model.objects.get_or_create(username=name, defaults={"is_staff": True})
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="catalog", codename__in=rights))
        client.force_login(user)
        return client

    return log_in


EDITOR = ("view_price", "add_price", "change_price", "view_accelerator", "view_source")
APPROVER = ("view_price", "approve", "change_price")


@pytest.fixture
def entered(people, card, sheet_source):
    answer = people("ed", *EDITOR).post(reverse("admin:catalog_price_add"), form_of(card, sheet_source))
    assert answer.status_code == 302
    return Price.objects.get()


def form_of(card, sheet_source, **cells):
    values = {
        "accelerator": card.pk, "kind": "rent", "amount": "2.5", "currency": "USD", "cards": "1", "day": "2025-07-04",
        "seller": "Acme cloud", "offer": "", "source": sheet_source.pk, "note": "", "reason": "read on its page",
    }  # fmt: skip
    return {**values, **cells}


def decide(client, action: str, why: str = "") -> Price:
    price = Price.objects.get()
    choose(client, action, price, why)
    return Price.objects.get()


def choose(client, action: str, price: Price, why: str = "", seen_at: str = "") -> None:
    """As the list's form sends it."""
    seen_at = seen_at or timezone.now().isoformat()
    client.post(LIST, {"action": action, "_selected_action": [price.pk], "why": why, "seen_at": seen_at})


def test_neither_the_author_nor_people_without_the_right_approve(entered, people):
    assert (entered.status, entered.is_preferred, entered.proposed_by.username) == ("review", False, "ed")
    assert entered.history.first().history_change_reason == "read on its page"
    for name, rights in (("ed", (*EDITOR, "approve")), ("eve", ("view_price", "change_price"))):
        assert decide(people(name, *rights), "approve").status == "review"


def test_a_second_person_makes_it_public_and_preferred(entered, people):
    price = decide(people("mira", *APPROVER), "approve")
    assert (price.status, price.is_preferred, price.checked_by.username) == ("public", True, "mira")
    twin = Price.objects.get()
    twin.pk, twin.status, twin.is_preferred, twin.amount = None, "review", False, Decimal("2.6")
    twin.checked_by = twin.checked_at = None
    twin.save()
    choose(people("mira", *APPROVER), "approve", twin)
    twin.refresh_from_db()
    assert (twin.status, twin.is_preferred) == ("public", False)


def test_a_public_price_is_retired_only_with_a_reason(entered, people, card, sheet_source):
    price = decide(people("mira", *APPROVER), "approve")
    client = people("ed", *EDITOR)
    address = reverse("admin:catalog_price_change", args=[price.pk])
    assert client.post(address, form_of(card, sheet_source, amount="9")).status_code == 403
    assert decide(people("mira", *APPROVER), "retire").status == "public"
    retired = decide(people("mira", *APPROVER), "retire", "of another card")
    assert (retired.status, retired.is_preferred, retired.amount) == ("retired", False, Decimal("2.5"))
    assert retired.history.first().history_change_reason == "of another card"


def test_another_price_is_preferred_instead_of_a_retired_one(entered, people):
    price = decide(people("mira", *APPROVER), "approve")
    twin = Price.objects.get()
    twin.pk, twin.is_preferred, twin.amount = None, False, Decimal("2.6")
    twin.save()
    choose(people("mira", *APPROVER), "retire", price, "of another card")
    twin.refresh_from_db()
    assert (twin.status, twin.is_preferred) == ("public", True)
    assert "preferred instead of 2.50 USD" in twin.history.first().history_change_reason


def test_what_changed_after_the_list_is_not_approved(entered, people, card, sheet_source):
    page = people("mira", *APPROVER).get(LIST).content.decode()
    (shown_at,) = re.findall(r'name="seen_at" value="([^"]+)"', page)
    address = reverse("admin:catalog_price_change", args=[entered.pk])
    people("ed", *EDITOR).post(address, form_of(card, sheet_source, amount="999"))
    choose(people("mira", *APPROVER), "approve", entered, seen_at=html.unescape(shown_at))
    entered.refresh_from_db()
    assert (entered.status, entered.amount) == ("review", 999)
    for unreadable in ("yesterday", "2026-11-27T10:00:00"):
        choose(people("mira", *APPROVER), "approve", entered, seen_at=unreadable)
        entered.refresh_from_db()
        assert entered.status == "review"


def test_where_one_approval_is_enough_it_may_be_ones_own(entered, people, settings):
    settings.CURATION_APPROVALS = 1
    price = decide(people("ed", *EDITOR, "approve"), "approve")
    assert (price.status, price.is_preferred, price.checked_by) == ("public", True, None)


def test_the_log_names_who_entered_it_and_who_approved(entered, people):
    decide(people("mira", *APPROVER), "approve")
    ed, mira = (User.objects.get(username=name) for name in ("ed", "mira"))
    (entry,) = read_log(LogFilter(accelerator="acme-one", field=PRICES)).entries
    assert entry.who == f"curator {ed.pk}, approved by curator {mira.pk}"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"currency": "ZZZ"}, "currency is a code of ISO 4217"),
        ({"amount": "-3"}, "amount for one card is between"),
        ({"amount": "2.1234567"}, "no more than 6 decimal places"),
        ({"day": f"{date.today().year + 1}-01-01"}, "day lies in the future"),  # noqa: DTZ011 - any day to come
        ({"source": ""}, "This field is required"),
        ({"seller": "a\x00b"}, "Null characters are not allowed"),
    ],
)
def test_a_wrong_price_is_refused_at_its_field(people, card, sheet_source, cells, words):
    client = people("ed", *EDITOR)
    page = client.post(reverse("admin:catalog_price_add"), form_of(card, sheet_source, **cells))
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not Price.objects.exists()
