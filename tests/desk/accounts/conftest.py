"""People with accounts, and the codes that their phones would show."""

import base64

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def own_counts(settings, tmp_path):
    """Attempts of other tests do not count here."""
    settings.VAR_DIR = tmp_path
    cache.clear()


@pytest.fixture
def member(db) -> User:
    return User.objects.create_user("mina", "mina@example.org", PASSWORD)


@pytest.fixture
def approver(db) -> User:
    user = User.objects.create_user("ada", "ada@example.org", PASSWORD, is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="approve", content_type__app_label="catalog"))
    return user


def code_of(device: TOTPDevice, step: int = 0) -> str:
    """What the app shows now, or `step` half minutes later."""
    totp = TOTP(device.bin_key, drift=step)
    return f"{totp.token():06d}"


def log_in(client, name: str, **more: str):
    return client.post("/login/", {"username": name, "password": PASSWORD, **more})


def set_up(client, name: str) -> tuple[TOTPDevice, list[str]]:
    """Log in, set up the app -> its device and the recovery codes that were shown."""
    log_in(client, name)
    page = client.get("/account/second-factor/")
    page = client.post("/account/second-factor/", {"code": code_of(shown_app(page))})
    device = TOTPDevice.objects.get(user__username=name)
    assert device.confirmed, page.content.decode()
    return device, page.context["codes"]


def shown_app(page) -> TOTPDevice:
    """What an app becomes that reads the secret of the page."""
    secret = base64.b32decode(page.context["secret"].replace(" ", ""))
    return TOTPDevice(key=secret.hex())
