"""Who may do what on a fresh installation: one admin, one lab, one key for this machine. Each is made once."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from stackviz.labs.keys import KeyRefused, authenticate, create_key
from stackviz.labs.models import AgentKey, Lab, Membership
from stackviz.up.var_folder import read_secret, write_secret

ADMIN = "admin"
LAB = "local"
KEY_NAME = "this machine, made by make run"


@dataclass(frozen=True)
class Login:
    """An admin's name; `password` only when it was made just now: it is kept nowhere but hashed."""

    name: str
    password: str | None


@dataclass(frozen=True)
class LabKey:
    """The key this machine's agent sends with, from `var/lab_key`."""

    text: str
    is_new: bool


def ensure_admin() -> Login:
    """The first active superuser, or a new one with a random password."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is not None:
        return Login(admin.get_username(), None)
    password = secrets.token_urlsafe(12)
    name = ADMIN if not User.objects.filter(username=ADMIN).exists() else f"{ADMIN}-{secrets.token_hex(2)}"
    User.objects.create_superuser(name, password=password)
    return Login(name, password)


def ensure_lab(owner_name: str) -> Lab:
    """The lab of this installation: public, for the site is on this machine alone until somebody opens it."""
    with transaction.atomic():
        lab, is_new = Lab.objects.get_or_create(slug=LAB, defaults={"name": "Local lab", "is_public": True})
        if is_new:
            Membership.objects.create(lab=lab, user=User.objects.get(username=owner_name), role=Membership.Role.OWNER)
    return lab


def ensure_lab_key(lab: Lab, file: Path) -> LabKey:
    """The kept key when it still opens the lab; a revoked, foreign or half-written one is replaced."""
    kept = read_secret(file)
    if kept and _opens(kept, lab):
        return LabKey(kept, is_new=False)
    with transaction.atomic():
        _, text = create_key(lab=lab, name=KEY_NAME)
        write_secret(file, text)
    return LabKey(text, is_new=True)


def _opens(text: str, lab: Lab) -> bool:
    try:
        return authenticate(f"Bearer {text}").lab_id == lab.pk
    except KeyRefused:
        return False


def key_row(text: str) -> AgentKey:
    return AgentKey.objects.get(prefix=text.split("_")[1])
