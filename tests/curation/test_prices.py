"""Prices in the admin: one person enters, another one decides; a public price is retired, not changed."""

from datetime import date
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from stackviz.catalog.models import Price

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
    client.post(LIST, {"action": action, "_selected_action": [price.pk], "why": why})
    return Price.objects.get()


def test_what_somebody_enters_is_in_review_with_its_reason(entered):
    assert (entered.status, entered.is_preferred, entered.proposed_by.username) == ("review", False, "ed")
    assert entered.history.first().history_change_reason == "read on its page"


def test_nobody_approves_the_own_price(entered, people):
    assert decide(people("ed", *EDITOR, "approve"), "approve").status == "review"


def test_a_second_person_makes_it_public_and_the_first_of_its_day_preferred(entered, people):
    price = decide(people("mira", *APPROVER), "approve")
    assert (price.status, price.is_preferred, price.checked_by.username) == ("public", True, "mira")
    twin = Price.objects.get()
    twin.pk, twin.status, twin.is_preferred, twin.amount = None, "review", False, Decimal("2.6")
    twin.checked_by = twin.checked_at = None
    twin.save()
    people("mira", *APPROVER).post(LIST, {"action": "approve", "_selected_action": [twin.pk]})
    twin.refresh_from_db()
    assert (twin.status, twin.is_preferred) == ("public", False)


def test_a_public_price_is_not_changed_and_retired_only_with_a_reason(entered, people, card, sheet_source):
    price = decide(people("mira", *APPROVER), "approve")
    client = people("ed", *EDITOR)
    address = reverse("admin:catalog_price_change", args=[price.pk])
    assert client.post(address, form_of(card, sheet_source, amount="9")).status_code == 403
    assert decide(people("mira", *APPROVER), "retire").status == "public"
    retired = decide(people("mira", *APPROVER), "retire", "of another card")
    assert (retired.status, retired.is_preferred, retired.amount) == ("retired", False, Decimal("2.5"))
    assert retired.history.first().history_change_reason == "of another card"


def test_without_the_right_nothing_is_decided(entered, people):
    assert decide(people("eve", "view_price", "change_price"), "approve").status == "review"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"currency": "ZZZ"}, "currency is a code of ISO 4217"),
        ({"amount": "-3"}, "amount for one card is between"),
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
