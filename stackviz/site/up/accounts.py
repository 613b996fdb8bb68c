"""Accounts of a fresh installation: an admin, a lab and a key for this machine, each created once."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from stackviz.records.labs.keys import KeyRefused, authenticate, create_key
from stackviz.records.labs.models import AgentKey, Lab, Membership
from stackviz.site.up.var_folder import read_secret, write_secret

ADMIN = "admin"
LAB = "local"
KEY_NAME = "this machine, created by make run"
KEY_LASTS = timedelta(days=365)
RENEWED_BEFORE = timedelta(days=30)  # by the next start


@dataclass(frozen=True)
class Login:
    """An admin's name; `password` only if it was created now, None otherwise: only its hash is stored."""

    name: str
    password: str | None


@dataclass(frozen=True)
class LabKey:
    """The key of this machine's agent, stored in `var/lab_key`.

    `expires_at` None: one that an earlier release made, which never expires.
    """

    text: str
    is_new: bool
    expires_at: datetime | None


def ensure_admin() -> Login:
    """The first active superuser, or a new one with a random password."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is not None:
        return Login(admin.get_username(), None)
    password = secrets.token_urlsafe(12)
    name = ADMIN if not User.objects.filter(username=ADMIN).exists() else f"{ADMIN}-{secrets.token_hex(2)}"
    User.objects.create_superuser(name, password=password)
    return Login(name, password)


def ensure_lab(owner_name: str, *, is_public: bool) -> Lab:
    """The lab of this installation. One that exists stays as public or private as it is."""
    with transaction.atomic():
        lab, is_new = Lab.objects.get_or_create(slug=LAB, defaults={"name": "Local lab", "is_public": is_public})
        if is_new:
            Membership.objects.create(lab=lab, user=User.objects.get(username=owner_name), role=Membership.Role.OWNER)
    return lab


def ensure_lab_key(lab: Lab, file: Path) -> LabKey:
    """The stored key if it is valid for the lab and for RENEWED_BEFORE to come, else a new one for KEY_LASTS.

    One that is replaced ends at its own date: it may be in use on other machines.
    """
    stored = read_secret(file)
    now = timezone.now()
    if stored and _is_valid(stored, lab):
        expires_at = key_row(stored).expires_at
        if expires_at is None or expires_at - now > RENEWED_BEFORE:
            return LabKey(stored, is_new=False, expires_at=expires_at)
    with transaction.atomic():
        key, text = create_key(lab=lab, name=KEY_NAME, expires_at=now + KEY_LASTS)
        write_secret(file, text)
    return LabKey(text, is_new=True, expires_at=key.expires_at)


def _is_valid(text: str, lab: Lab) -> bool:
    try:
        return authenticate(f"Bearer {text}").lab_id == lab.pk
    except KeyRefused:
        return False


def key_row(text: str) -> AgentKey:
    return AgentKey.objects.get(prefix=text.split("_")[1])
