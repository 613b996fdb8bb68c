"""Every address of the admin, asked for and posted to by people of each role: who may only look changes nothing."""

import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.urls import NoReverseMatch, get_resolver, reverse

from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue, Vendor
from tests.pages.machines.factories import copy, gemm, h100, make_lab, make_machine, make_report, warning

pytestmark = pytest.mark.django_db
ADDRESSES_AT_LEAST = 200


@pytest.fixture
def rows():
    """A row of most tables."""
    vendor = Vendor.objects.create(slug="acme", name="Acme")
    sheet = Accelerator.objects.create(slug="acme-one", name="Acme One", vendor=vendor, kind="gpu")
    source = Source.objects.create(key="s", title="Data sheet", url="https://example.org/sheet", kind="maker")
    SpecValue.objects.create(
        accelerator=sheet, field="memory_gb", value="80", unit="GB", source=source, status="public", is_preferred=True
    )
    Alias.objects.create(accelerator=sheet, name="ACME 1")
    lab = make_lab()
    machine = make_machine(lab)
    make_report(
        machine, cards=[h100(0)], results=[gemm("bf16", [0.00141] * 8), copy([0.003] * 8)], findings=[warning()]
    )
    lab.keys.create(name="key", prefix="abcdefgh", digest="0" * 64)


def admin_addresses() -> Iterator[str]:
    """Every address below /admin/, with the key of a row that exists where one is asked for."""
    for name, arguments in sorted(_admin_patterns()):
        model = next(
            (m for m in apps.get_models() if name.startswith(f"{m._meta.app_label}_{m._meta.model_name}_")), None
        )
        row = model.objects.first() if model else None
        for values in ([], [row.pk if row else 1], [row.pk if row else 1, 1]):
            if len(values) == arguments:
                try:
                    yield reverse(f"admin:{name}", args=values)
                except NoReverseMatch:
                    continue


def _admin_patterns() -> set[tuple[str, int]]:
    """(name, number of arguments) of each."""
    resolver = next(each for each in get_resolver().url_patterns if getattr(each, "namespace", None) == "admin")
    return {
        (name, len(parameters))
        for name in resolver.reverse_dict
        if isinstance(name, str)
        for possibilities, *_rest in resolver.reverse_dict.getlist(name)
        for _pattern, parameters in possibilities
    } | {("index", 0)}


def everything() -> dict[str, list]:
    """Every row of every table but those that record visits."""
    return {
        model._meta.label: list(model.objects.order_by("pk").values())
        for model in apps.get_models()
        if model not in (Session, LogEntry) and not model._meta.proxy and model._meta.managed and model is not User
    }


def staff(name: str, **permissions: object) -> User:
    """Somebody of staff; `permissions`: a filter for theirs, none where there is no filter."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(**permissions) if permissions else [])
    return user


def forms_for(address: str) -> Iterator[dict[str, str]]:
    """What somebody might send there: nothing, a confirmation, each action of a list with the first row chosen."""
    yield {}
    yield {
        "post": "yes",
        "confirm": "yes",
        "state": "applied",
        "do": "approve",
        "answer": "x",
        "reason": "x",
        "_save": "1",
    }
    for model, model_admin in admin.site._registry.items():
        if address.endswith(f"/{model._meta.app_label}/{model._meta.model_name}/"):
            row = model.objects.first()
            for action in {"delete_selected", *(getattr(each, "__name__", each) for each in model_admin.actions or ())}:
                yield {"action": action, "_selected_action": str(row.pk if row else 1), "post": "yes", "reason": "x"}


@pytest.mark.parametrize(
    "make_user",
    [lambda: staff("vera", codename__startswith="view_"), lambda: staff("nora")],
    ids=["may look", "may nothing"],
)
def test_whoever_may_only_look_changes_nothing(client, rows, make_user):
    client.force_login(make_user())
    addresses = list(admin_addresses())
    assert len(addresses) > ADDRESSES_AT_LEAST
    before = everything()
    for address in addresses:
        assert client.get(address).status_code < 500, address
        if re.search(r"/(logout|password_change)/$", address):
            continue
        for form in forms_for(address):
            answer = client.post(address, form)
            assert answer.status_code < 500, (address, form)
    after = everything()
    assert {label for label in before if before[label] != after[label]} == set()


def test_who_is_not_staff_is_sent_to_the_login(client, rows):
    client.force_login(User.objects.create_user("eve"))
    for address in admin_addresses():
        if re.search(r"/(login|logout|password_change|jsi18n)", address):
            continue
        answer = client.get(address)
        assert (answer.status_code, answer.headers.get("Location", "")[:14]) in (
            (302, "/admin/login/?"),
            (302, "/login/?next=/"),
            (403, ""),
            (404, ""),
        ), address


def test_the_walk_would_notice_somebody_who_may(client, rows):
    client.force_login(User.objects.create_superuser("root"))
    before = everything()
    lab = next(
        address
        for address in admin_addresses()
        if re.search(r"/labs/agentkey/\d+/delete/$", address) or re.search(r"/catalog/alias/\d+/delete/$", address)
    )
    client.post(lab, {"post": "yes"})
    assert {label for label in before if before[label] != everything()[label]} != set()
