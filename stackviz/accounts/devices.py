"""The second factors of an account: one app that makes codes, and recovery codes for the day it is lost."""

import base64
import io
import secrets

import segno
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.safestring import SafeString, mark_safe
from django_otp import devices_for_user, user_has_device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

__all__ = [
    "confirm_app",
    "has_device",
    "picture_of",
    "recovery_codes_left",
    "remove_devices",
    "secret_of",
    "unconfirmed",
]

NAME = "app"
RECOVERY = "recovery codes"
RECOVERY_CODES = 10
_RECOVERY_BYTES = 10  # 80 bits each; django-otp slows guesses down as well


def unconfirmed(user: User) -> TOTPDevice:
    """The app that is being set up: the same secret until it is confirmed, so that a page may be loaded again."""
    device, _is_new = TOTPDevice.objects.get_or_create(user=user, name=NAME, confirmed=False)
    return device


def secret_of(device: TOTPDevice) -> str:
    """As an app takes it where nothing can be scanned: base32, in groups of four letters."""
    letters = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(letters[start : start + 4] for start in range(0, len(letters), 4))


def picture_of(device: TOTPDevice) -> SafeString:
    """The address of the secret as a QR code, an SVG on white, as cameras want it; no other host sees it."""
    stream = io.BytesIO()
    segno.make(device.config_url, error="m").save(
        stream, kind="svg", scale=4, border=4, light="white", xmldecl=False, svgns=False
    )
    return mark_safe(stream.getvalue().decode())  # noqa: S308 - squares; the text is not in it


@transaction.atomic
def confirm_app(device: TOTPDevice) -> list[str]:
    """Make the app the account's only one -> new recovery codes, which are shown once."""
    TOTPDevice.objects.filter(user=device.user, confirmed=True).delete()
    device.confirmed = True
    device.save()
    return new_recovery_codes(device.user)


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """RECOVERY_CODES new ones; older ones no longer count."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name=RECOVERY)
    codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    for code in codes:
        device.token_set.create(token=code)
    return codes


def recovery_codes_left(user: User) -> int:
    """One query."""
    return int(StaticToken.objects.filter(device__user=user).count())


def has_device(user: User) -> bool:
    """Whether the account has a confirmed second factor. Two queries at most."""
    return bool(user_has_device(user))


def remove_devices(user: User) -> int:
    """Remove every second factor of the account -> how many there were."""
    devices = list(devices_for_user(user, confirmed=None))
    for device in devices:
        device.delete()
    return len(devices)
