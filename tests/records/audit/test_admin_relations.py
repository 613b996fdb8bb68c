"""Forms of the admin that come with nonsense for their relations, in an address or as sent: refused beside the field."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.forms import ModelChoiceField
from django.urls import reverse

from stackviz.records.catalog.models import Alias, Price
from stackviz.records.labs.keys import create_key
from stackviz.records.stacks.models import Component, Release, Stack
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report
from tests.records.catalog.fixtures import bandwidth, card, sheet_source

__all__ = ["bandwidth", "card", "sheet_source"]

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
NONSENSE = ("9" * 25, "\x00", "abc", "-1", "1.5", "１", "None", "' OR 1=1", "")
PAGES = ("", "9" * 30, "0", "x")
SOME = 2  # of each in a quick run: what no database holds, and what PostgreSQL refuses
EACH = pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label_lower)
HOW_MANY = pytest.mark.parametrize(
    "most", [pytest.param(SOME, id="some"), pytest.param(len(NONSENSE), id="all", marks=pytest.mark.slow)]
)


@pytest.fixture
def desk(client):
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def rows(bandwidth, card, sheet_source):
    """Something of what has relations."""
    lab = make_lab("north")
    machine = make_machine(lab, "m")
    make_report(machine, cards=[h100(0)], results=[gemm("bf16", [0.001] * 8)])
    create_key(lab=lab, machine=machine, name="cron")
    lab.memberships.create(user=User.objects.create_user("ada"), role="owner")
    Alias.objects.create(accelerator=card, name="Acme 1", kind="torch", source=sheet_source)
    Price.objects.create(
        accelerator=card,
        kind="rent",
        amount="2.5",
        currency="USD",
        day="2025-07-04",
        seller="Acme",
        source=sheet_source,
    )
    stack = Stack.objects.create(slug="acme", name="Acme", vendor="acme")
    part = Component.objects.create(
        slug="acme-driver", name="Acme driver", layer="driver", role="driver", what_it_is="A driver.",
        what_it_does="It drives.", source=sheet_source,
    )  # fmt: skip
    stack.placements.create(component=part)
    Release.objects.create(component=part, version="1.0", source=sheet_source)


def relations(page) -> tuple[list[str], dict[str, str]]:
    """Names of the form's fields that choose rows, those of a new inline row too; and what counts inline rows."""
    form = page.context["adminform"].form
    names, counts = _of_relations(form), {}
    for inline in page.context["inline_admin_formsets"]:
        prefix = inline.formset.prefix
        counts |= {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "0"}
        names += [name.replace("__prefix__", "0") for name in _of_relations(inline.formset.empty_form)]
    return names, counts


def _of_relations(form) -> list[str]:
    """`ModelMultipleChoiceField` is one too."""
    return [form.add_prefix(name) for name, field in form.fields.items() if isinstance(field, ModelChoiceField)]


def faults_of(desk, address: str, most: int) -> tuple[int, list[tuple[str, str, int]]]:
    """How many relations the form has, and which nonsense it does not answer with itself."""
    page = desk.get(address)
    if page.status_code != 200 or "adminform" not in (page.context or {}):
        return 0, []
    names, counts = relations(page)
    faults = []
    for nonsense in NONSENSE[:most]:
        sent = dict.fromkeys(names, nonsense)
        answers = {"GET": desk.get(address, sent), "POST": desk.post(address, sent | counts)}
        wrong = {method: answer.status_code for method, answer in answers.items()}
        faults += [(method, nonsense, code) for method, code in wrong.items() if code not in {200, 302, 403}]
    return len(names), faults


@HOW_MANY
@EACH
def test_nonsense_for_relations_of_a_new_row_is_refused(desk, model, most):
    desk.raise_request_exception = False
    assert faults_of(desk, reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_add"), most)[1] == []


@pytest.mark.slow
def test_nonsense_for_relations_of_a_stored_row_is_refused(desk, rows):
    desk.raise_request_exception = False
    faults, forms, choices = {}, 0, 0
    for model in MODELS:
        row = model._default_manager.first()
        if row is not None:
            address = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk])
            number, found = faults_of(desk, address, len(NONSENSE))
            forms, choices = forms + 1, choices + number
            faults |= {address: found} if found else {}
    assert faults == {}
    assert (forms >= 15, choices >= 15) == (True, True), (forms, choices)


@HOW_MANY
def test_the_relations_that_are_searched_for_answer_nonsense(desk, rows, most):
    desk.raise_request_exception = False
    searched = [
        (model, name)
        for model, desk_of in admin.site._registry.items()
        for owner, fields in [(model, desk_of.autocomplete_fields), *((each.model, each.autocomplete_fields) for each in desk_of.inlines)]
        for model, name in ((owner, name) for name in fields)
    ]  # fmt: skip
    assert len(searched) > 25
    faults = []
    for model, name in searched:
        about = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": name}
        for term, page in ((term, page) for term in NONSENSE[:most] for page in PAGES[:most]):
            query = {**about, "term": term} | ({"page": page} if page else {})
            answer = desk.get(reverse("admin:autocomplete"), query)
            if answer.status_code not in {200, 404}:
                faults.append((model, name, term, page, answer.status_code))
    assert faults == []


def test_what_a_form_was_sent_rightly_stays_chosen(desk, bandwidth, card, sheet_source):
    address = reverse("admin:catalog_price_add")
    page = desk.get(address, {"source": sheet_source.pk, "accelerator": "abc"}).content.decode()
    assert f'<option value="{sheet_source.pk}" selected>Acme data sheet' in page
    refused = desk.post(address, {"source": "abc", "accelerator": card.pk})
    assert "source" in refused.context["adminform"].form.errors
    assert f'<option value="{card.pk}" selected>' in refused.content.decode()
    page = desk.get(reverse("admin:catalog_specvalue_change", args=[bandwidth.pk])).content.decode()
    assert f'<option value="{bandwidth.source_id}" selected>' in page
