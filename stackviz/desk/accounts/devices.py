"""The second factors of an account: one app that makes codes, and recovery codes for the day it is lost."""

import base64
import io
import secrets
import time

import segno
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django_otp import devices_for_user, user_has_device
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

__all__ = [
    "app_with",
    "confirm_app",
    "end_other_sessions",
    "has_device",
    "is_code_of",
    "new_secret",
    "picture_of",
    "recovery_codes_left",
    "remove_devices",
    "secret_of",
]

NAME = "app"
RECOVERY = "recovery codes"
RECOVERY_CODES = 10
_SECRET_BYTES = 20  # as RFC 4226 recommends
_RECOVERY_BYTES = 10  # 80 bits each; django-otp slows guesses down as well


def new_secret() -> str:
    """Of an app to set up, in hexadecimal digits. It belongs to the session that sets it up, and is stored with it."""
    return str(random_hex(_SECRET_BYTES))


def app_with(user: User, secret: str) -> TOTPDevice:
    """The app that makes codes of a secret. It is not stored before it is confirmed."""
    return TOTPDevice(user=user, name=NAME, key=secret, confirmed=True)


def is_code_of(device: TOTPDevice, code: str) -> bool:
    """Whether the app of an unstored device shows this code now, or showed it half a minute ago, or will."""
    if not code.isascii() or not code.isdigit():
        return False
    codes = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    codes.time = time.time()
    is_right = bool(codes.verify(int(code), device.tolerance))
    if is_right:
        device.last_t, device.drift = codes.t(), codes.drift  # a code counts once
    return is_right


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
    """Store the app as the account's only one -> new recovery codes, which are shown once."""
    user = User.objects.select_for_update().get(pk=device.user_id)
    TOTPDevice.objects.filter(user=user).delete()
    device.save()
    return new_recovery_codes(user)


def end_other_sessions(user: User, but: str | None) -> int:
    """End the sessions of the account but one (its key) -> how many. Reads every session: for what is done rarely."""
    ended = 0
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.session_key != but and session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
            ended += 1
    return ended


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
