"""The history of a row is shown to whoever may see it; an old state is brought back only by whoever may change it."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.forms import model_to_dict
from django.urls import reverse

from stackviz.records.catalog.curated_admin import HistoryAdmin
from stackviz.records.catalog.models import Alias

KEPT = [model for model in admin.site._registry if hasattr(model, "history")]


def may(verb: str, model) -> User:
    user = User.objects.create_user(f"{verb}-only", is_staff=True)
    codename = f"{verb}_{model._meta.model_name}"
    user.user_permissions.add(Permission.objects.get(content_type__app_label=model._meta.app_label, codename=codename))
    return user


def address_of(record) -> str:
    meta = record.instance._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_simple_history", args=[record.id, record.history_id])


def filled(row) -> dict[str, object]:
    return {name: said for name, said in model_to_dict(row).items() if said not in (None, False)}


def test_catalogue_and_stacks_have_histories():
    assert {model._meta.app_label for model in KEPT} == {"catalog", "cited", "hosts", "stacks"}
    assert len(KEPT) >= 9


@pytest.mark.parametrize("model", KEPT, ids=lambda model: model.__name__)
def test_viewer_cannot_revert_an_old_state(cited, client, db, model):
    assert isinstance(admin.site._registry[model], HistoryAdmin)
    if not model.history.exists():  # the first load of cited results writes no records, a change does
        model.objects.order_by("pk").first().save()
    record = model.history.order_by("pk").first()
    before, records = model.objects.filter(pk=record.id).values().get(), model.history.count()
    client.force_login(may("view", model))
    assert client.get(address_of(record)).status_code == 200
    form = {**filled(record.instance), "name": "PWNED", "note": "PWNED", "reason": "because", "_save": "1"}
    assert client.post(address_of(record), form).status_code == 403
    assert (model.objects.filter(pk=record.id).values().get(), model.history.count()) == (before, records)


def test_whoever_may_change_a_row_brings_an_old_state_back(client, card):
    alias = Alias.objects.create(accelerator=card, name="Acme One 8GB")
    first = alias.history.latest()
    alias.name = "Acme One 16GB"
    alias.save()
    client.force_login(may("change", Alias))
    assert client.post(address_of(first), filled(first.instance)).status_code == 302
    assert card.aliases.get().name == "Acme One 8GB"


def test_deleted_row_returns_only_with_permission(client, card):
    alias = Alias.objects.create(accelerator=card, name="Acme One 8GB")
    first = alias.history.latest()
    alias.delete()
    user = may("change", Alias)
    client.force_login(user)
    assert client.post(address_of(first), filled(first.instance)).status_code == 403
    assert not card.aliases.exists()
    user.user_permissions.add(Permission.objects.get(codename="add_alias"))
    assert client.post(address_of(first), filled(first.instance)).status_code == 302
    assert card.aliases.get().name == "Acme One 8GB"
