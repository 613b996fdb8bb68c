"""Who must show a second factor, and that nobody gets further without it.

A password opens a session that can do nothing but show the second factor, where the account has one, or has to have one
(`SECOND_FACTOR`: whoever may approve values). The codes are those of an app (TOTP, RFC 6238), or recovery codes.
"""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.http import urlencode

from stackviz.desk.accounts.devices import has_device

__all__ = [
    "SecondFactorFirst",
    "is_verified",
    "mark_due",
    "mark_shown",
    "must_have_second_factor",
    "needs_second_factor",
    "second_factor_address",
]

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
    """From here on this session may only show the second factor."""
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
        """Without a session there is nothing to owe, and the answer must not depend on one."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or _is_open(request) or not _owes(request):
            return None
        if request.path_info.startswith("/api/"):
            return JsonResponse({"error": "this session has not shown its second factor"}, status=HTTPStatus.FORBIDDEN)
        return HttpResponseRedirect(second_factor_address(request.get_full_path()))


def _is_open(request: HttpRequest) -> bool:
    """What leads to the second factor, or away from the account."""
    return request.resolver_match is not None and request.resolver_match.view_name in _OPEN


def _owes(request: HttpRequest) -> bool:
    if request.session.get(_DUE):
        return True
    match = request.resolver_match
    if match is None or "admin" not in match.app_names or not settings.SECOND_FACTOR:
        return False
    return isinstance(request.user, User) and must_have_second_factor(request.user) and not is_verified(request)
