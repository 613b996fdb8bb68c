"""The second factor: who has to have it, that a password alone opens nothing then, and that codes count once."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.desk.accounts.conftest import code_of, log_in, set_up, shown_app

pytestmark = pytest.mark.django_db
PAGE = "/account/second-factor/"


@pytest.fixture
def required(settings):
    settings.SECOND_FACTOR = True


def later(minutes: int = 2, *, stands: bool = False):
    """The clock so much later; `stands`: it does not go on, however long requests take."""
    return time_machine.travel(timezone.now() + timedelta(minutes=minutes), tick=not stands)


def log_in_anew(client, name: str = "ada", **more: str):
    """Log out, and in again with the password alone."""
    client.post("/logout/")
    return log_in(client, name, **more)


@pytest.fixture
def ada(client, approver, required):
    """Ada has set a second factor up, and logged in again with the password alone. -> her device and recovery codes."""
    device, codes = set_up(client, "ada")
    log_in_anew(client)
    return device, codes


def test_whoever_may_approve_sets_one_up_at_the_first_login(client, approver, required):
    answer = log_in(client, "ada", next="/admin/")
    assert answer["Location"] == f"{PAGE}?next=%2Fadmin%2F"
    assert client.get("/admin/")["Location"].startswith(PAGE)
    page = client.get(PAGE)
    assert page.context["is_required"] is True
    answer = client.post(PAGE, {"code": code_of(shown_app(page)), "next": "/admin/"})
    assert len(set(answer.context["codes"])) == 10
    assert 'href="/admin/"' in answer.content.decode()
    assert client.get("/admin/").status_code == 200


def test_a_password_alone_opens_nothing(client, ada):
    for path in ("/", "/admin/", "/machines/add/", "/zh-hans/accelerators/", "/account/password/"):
        answer = client.get(path)
        assert (answer.status_code, "second-factor" in answer["Location"]) == (302, True), path
    answer = client.get("/api/v1/machines/")
    assert (answer.status_code, answer.json()) == (403, {"error": "this session has not shown its second factor"})
    device, codes = ada
    for path in ("recovery-codes/", "remove/"):
        assert client.post(PAGE + path)["Location"].startswith(PAGE)
    assert TOTPDevice.objects.filter(pk=device.pk, confirmed=True).exists()
    with later():
        assert client.post(PAGE, {"code": codes[0]}).status_code == 302


@pytest.mark.parametrize("is_recovery", [False, True])
def test_a_code_counts_once(client, ada, is_recovery):
    device, codes = ada
    with later():
        for status in (302, 200):
            log_in_anew(client)
            code = f" {codes[0].upper()} " if is_recovery else code_of(device)
            answer = client.post(PAGE, {"code": code})
            assert answer.status_code == status
    assert answer.context["problem"]


def test_guessing_codes_is_slowed(client, ada):
    with later(5, stands=True):
        for _guess in range(6):
            client.post(PAGE, {"code": "000000"})
        assert client.post(PAGE, {"code": code_of(ada[0])}).status_code == 200  # the right one, too soon


def test_session_from_before_the_permission_is_asked(client, member, required):
    member.is_staff = True
    member.save()
    log_in(client, "mina")
    assert client.get("/admin/").status_code == 200
    member.user_permissions.add(Permission.objects.get(codename="approve", content_type__app_label="catalog"))
    assert client.get("/admin/")["Location"].startswith(PAGE)


def test_any_account_may_have_one_and_give_it_up(client, member, capsys):
    _device, codes = set_up(client, "mina")
    newer = client.post(f"{PAGE}recovery-codes/").context["codes"]
    assert not set(codes) & set(newer)
    assert log_in_anew(client, "mina", next="/machines/")["Location"] == f"{PAGE}?next=%2Fmachines%2F"
    assert client.get("/machines/")["Location"].startswith(PAGE)
    call_command("remove_second_factor", "mina")  # of a lost phone
    assert "mina: 2 removed" in capsys.readouterr().out
    assert log_in_anew(client, "mina")["Location"] == "/"
    set_up(client, "mina")
    client.post(f"{PAGE}remove/")
    assert client.get("/account/").context["has_second_factor"] is False
    assert log_in_anew(client, "mina")["Location"] == "/"


def test_confirmed_app_replaces_the_present_one(client, approver, required):
    first, codes = set_up(client, "ada")
    page = f"{PAGE}?replace=1"
    assert f'href="{page}"' in client.get("/account/").content.decode()
    shown = client.get(page)
    assert shown.context["is_replacing"] is True
    second = shown_app(shown)
    client.post(page, {"code": "000000"})
    assert TOTPDevice.objects.get(confirmed=True) == first
    with later():
        answer = client.post(page, {"code": code_of(second)})
    assert not set(codes) & set(answer.context["codes"])
    assert TOTPDevice.objects.get().key == second.key
    assert client.get("/admin/").status_code == 200


def test_a_password_alone_replaces_no_app(client, ada):
    first, codes = ada
    page = f"{PAGE}?replace=1"
    assert "secret" not in client.get(page).context
    assert client.post(page, {"code": codes[0]})["Location"] == page
    assert client.get(page).context["secret"]
    assert TOTPDevice.objects.get(confirmed=True) == first


def test_whoever_must_have_one_cannot_give_it_up(client, approver, required):
    device, _codes = set_up(client, "ada")
    assert "Turn it off" not in client.get("/account/").content.decode()
    answer = client.post(f"{PAGE}remove/")
    assert (answer.status_code, bool(answer.context["problem"])) == (403, True)
    assert TOTPDevice.objects.get(confirmed=True) == device


def test_secret_is_shown_until_confirmed_only(client, approver, required):
    log_in(client, "ada")
    first, second = (client.get(PAGE).content.decode() for _visit in range(2))
    secrets = [re.search(r"<code>([A-Z2-7 ]{32,})</code>", page)[1] for page in (first, second)]
    assert secrets[0] == secrets[1]
    client.force_login(User.objects.create_superuser("root"))
    assert client.get("/admin/otp_totp/totpdevice/").status_code in (302, 404)


def test_visitors_pay_nothing_for_it(client, db, required, django_assert_num_queries):
    client.get("/login/")
    with django_assert_num_queries(0):
        answer = client.get("/login/")
    assert "second" not in answer.content.decode().lower()


def test_the_secret_belongs_to_the_session_that_sets_it_up(client, approver, required):
    """Whoever knows the password alone sees another secret, and is logged out when the owner confirms."""
    other = Client()
    for each in (client, other):
        log_in(each, "ada")
    pages = [each.get(PAGE) for each in (client, other)]
    assert pages[0].context["secret"] != pages[1].context["secret"]
    assert client.get(PAGE).context["secret"] == pages[0].context["secret"]
    assert not TOTPDevice.objects.exists()
    client.post(PAGE, {"code": code_of(shown_app(pages[0]))})
    assert other.get("/account/")["Location"].startswith("/login/")
    assert client.get("/account/").status_code == 200
    log_in(other, "ada")
    assert other.post(PAGE, {"code": code_of(shown_app(pages[1]))}).status_code == 200
    assert other.get("/account/")["Location"].startswith(PAGE)


def test_a_wrong_code_sets_up_nothing(client, member):
    log_in(client, "mina")
    page = client.get(PAGE)
    for code in ("000000", "²²²²²²", "abcdef", "1" * 40):
        assert client.post(PAGE, {"code": code}).context["problem"]
        assert not TOTPDevice.objects.exists()
    answer = client.post(PAGE, {"code": code_of(shown_app(page)), "next": "//evil.example/"})
    assert answer.context["next"] == "/account/"
