"""The second factors of an account: who must show one, that nobody gets further without it, and their codes.

A password opens a session that can do nothing but show the second factor, where the account has one, or has to have one
(`SECOND_FACTOR`: whoever may approve values). The codes are those of an app (TOTP, RFC 6238), or recovery codes.
"""

import base64
import io
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import segno
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django_otp import devices_for_user, user_has_device
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

NAME = "app"
RECOVERY = "recovery codes"
RECOVERY_CODES = 10
_SECRET_BYTES = 20  # as RFC 4226 recommends
_RECOVERY_BYTES = 10  # 80 bits each; django-otp slows guesses down as well


def new_secret() -> str:
    """Return the secret of an app to set up, in hexadecimal digits. The session that sets it up stores it."""
    return str(random_hex(_SECRET_BYTES))


def app_with(user: User, secret: str) -> TOTPDevice:
    """Return the app that makes codes of a secret. It is not stored before it is confirmed."""
    return TOTPDevice(user=user, name=NAME, key=secret, confirmed=True)


def is_code_of(device: TOTPDevice, code: str) -> bool:
    """Whether the app of an unstored device shows this code now, or within half a minute before or after."""
    if not code.isascii() or not code.isdigit():
        return False
    codes = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    codes.time = time.time()
    is_right = bool(codes.verify(int(code), device.tolerance))
    if is_right:
        device.last_t, device.drift = codes.t(), codes.drift  # a code counts once
    return is_right


def secret_of(device: TOTPDevice) -> str:
    """Return the secret as people type it where nothing can be scanned: base32, in groups of four letters."""
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
    """Count the recovery codes that were not used. One query."""
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


_DUE = "second_factor_due"
_OPEN = frozenset({"accounts:login", "accounts:logout", "accounts:second-factor", "home:language"})
APPROVE = "catalog.approve"


def must_have_second_factor(user: User) -> bool:
    """Whether this site asks it of the account: it may approve values. Two queries at most."""
    return settings.SECOND_FACTOR and user.is_active and user.has_perm(APPROVE)


def needs_second_factor(user: User) -> bool:
    """Whether its password alone is not enough: it has a second factor, or must have one. Four queries at most."""
    return must_have_second_factor(user) or has_device(user)


def is_verified(request: HttpRequest) -> bool:
    """Whether this session has shown a second factor that still exists. One query at most."""
    return bool(getattr(request.user, "is_verified", lambda: False)())


def mark_due(request: HttpRequest) -> None:
    """Restrict the session to showing the second factor."""
    request.session[_DUE] = True


def mark_shown(request: HttpRequest) -> None:
    """The second factor was shown: under a new session id the session may do what the account may."""
    request.session.pop(_DUE, None)
    request.session.cycle_key()


def second_factor_address(then: str) -> str:
    return f"{reverse('accounts:second-factor')}?{urlencode({'next': then})}"


class SecondFactorFirst:
    """Middleware. Sends a session that still owes the second factor to it; programs get 403.

    In the admin the account is asked too: it may have got the permission, or lost its device, since it logged in.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        _view: Callable[..., HttpResponseBase],
        _arguments: Sequence[Any],
        _named: Mapping[str, Any],
    ) -> HttpResponse | None:
        """Redirect a session that owes the second factor, or answer 403 below /api/. Others pass without a look."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or _is_open(request) or not _owes(request):
            return None
        if request.path_info.startswith("/api/"):
            return JsonResponse({"error": "this session has not shown its second factor"}, status=HTTPStatus.FORBIDDEN)
        return HttpResponseRedirect(second_factor_address(request.get_full_path()))


def _is_open(request: HttpRequest) -> bool:
    """Whether the page leads to the second factor, away from the account, or looks at no session: an embed."""
    name = request.resolver_match.view_name if request.resolver_match is not None else ""
    return name in _OPEN or name.startswith("sharing:embed-")


def _owes(request: HttpRequest) -> bool:
    if request.session.get(_DUE):
        return True
    match = request.resolver_match
    if match is None or "admin" not in match.app_names or not settings.SECOND_FACTOR:
        return False
    return isinstance(request.user, User) and must_have_second_factor(request.user) and not is_verified(request)
