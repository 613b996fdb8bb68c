"""`/account/second-factor/`: show a code to go on, or set up the app that makes them."""

import logging
from http import HTTPStatus

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_otp import login as otp_login
from django_otp import match_token

from stackviz.desk.accounts.second_factor import (
    app_with,
    confirm_app,
    end_other_sessions,
    has_device,
    is_code_of,
    is_verified,
    mark_shown,
    must_have_second_factor,
    new_recovery_codes,
    new_secret,
    picture_of,
    recovery_codes_left,
    remove_devices,
    second_factor_address,
    secret_of,
)

log = logging.getLogger(__name__)
_PENDING = "second_factor_secret"  # of the app that this session is setting up; no other session sees it


class CodeForm(forms.Form):
    """Six digits of the app, or a recovery code; blanks in it do not count."""

    code = forms.CharField(max_length=40)

    def clean_code(self) -> str:
        return "".join(str(self.cleaned_data["code"]).split()).lower()


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """`?next=`: where to go with it, on this site only. A session that has shown it is sent on.

    `?replace=1`: it sets up another app first, and the present one counts until that is confirmed.
    """
    user = account_of(request)
    if not has_device(user):
        return _set_up(request, user)
    if not is_verified(request):
        return _ask_for_code(request, user)
    if _is_replacing(request):
        return _set_up(request, user)
    return HttpResponseRedirect(_next_address(request))


def _is_replacing(request: HttpRequest) -> bool:
    return request.GET.get("replace") == "1"


def _ask_for_code(request: HttpRequest, user: User) -> HttpResponse:
    problem = ""
    if request.method == "POST":
        form = CodeForm(request.POST)
        device = match_token(user, form.cleaned_data["code"]) if form.is_valid() else None
        if device is not None:
            otp_login(request, device)
            mark_shown(request)
            return HttpResponseRedirect(request.get_full_path() if _is_replacing(request) else _next_address(request))
        log.warning("second factor of account %s: a wrong code", user.pk)
        problem = _("This code is not valid now. Each code counts once; after several wrong ones, wait a minute.")
    return render(request, "accounts/second_factor.html", {"problem": problem, "next": _next_address(request)})


def _set_up(request: HttpRequest, user: User) -> HttpResponse:
    """Show a secret, the same until its code confirms it, and store the app then. Other sessions end with that."""
    device = app_with(user, request.session.setdefault(_PENDING, new_secret()))
    problem = ""
    if request.method == "POST":
        form = CodeForm(request.POST)
        if form.is_valid() and is_code_of(device, form.cleaned_data["code"]):
            codes = confirm_app(device)
            del request.session[_PENDING]
            otp_login(request, device)
            mark_shown(request)
            end_other_sessions(user, request.session.session_key)
            log.info("second factor of account %s: set up", user.pk)
            return render(request, "accounts/recovery_codes.html", {"codes": codes, "next": _next_address(request)})
        problem = _("This code is not valid. Check that the clock of the phone is right, then enter the next code.")
    context = {
        "problem": problem,
        "next": _next_address(request),
        "picture": picture_of(device),
        "secret": secret_of(device),
        "is_required": must_have_second_factor(user),
        "is_replacing": has_device(user),
    }
    return render(request, "accounts/set_up_second_factor.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD"])
def account(request: HttpRequest) -> HttpResponse:
    """Show what an account can do about itself."""
    return _account_page(request)


def _account_page(request: HttpRequest, problem: str = "", status: int = HTTPStatus.OK) -> HttpResponse:
    user = account_of(request)
    context = {
        "problem": problem,
        "has_second_factor": has_device(user),
        "is_required": must_have_second_factor(user),
        "recovery_codes": recovery_codes_left(user),
    }
    return render(request, "accounts/account.html", context, status=status)


@login_required
@never_cache
@require_POST
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """New recovery codes, for a session that has shown the second factor."""
    user = account_of(request)
    if not is_verified(request):
        return HttpResponseRedirect(second_factor_address(reverse("accounts:account")))
    return render(request, "accounts/recovery_codes.html", {"codes": new_recovery_codes(user)})


@login_required
@never_cache
@require_POST
def remove_second_factor(request: HttpRequest) -> HttpResponse:
    """Give it up, for a session that has shown it. Whoever must have one may only replace it (`?replace=1`)."""
    user = account_of(request)
    if not is_verified(request):
        return HttpResponseRedirect(second_factor_address(reverse("accounts:account")))
    if must_have_second_factor(user):
        problem = _("Your account must have a second factor. Set up another app instead; it replaces the present one.")
        return _account_page(request, problem, HTTPStatus.FORBIDDEN)
    remove_devices(user)
    log.info("second factor of account %s: removed by itself", user.pk)
    return HttpResponseRedirect(reverse("accounts:account"))


def account_of(request: HttpRequest) -> User:
    """`login_required` has seen to it that there is one."""
    if not isinstance(request.user, User):
        raise TypeError("an account of another kind than Django's")
    return request.user


def _next_address(request: HttpRequest) -> str:
    """The address to go on to, if it is of this site; the account's page otherwise."""
    target = request.POST.get("next", request.GET.get("next", ""))
    is_here = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_here else resolve_url("accounts:account")


urlpatterns = [
    path("account/", account, name="account"),
    path("account/second-factor/", second_factor, name="second-factor"),
    path("account/second-factor/recovery-codes/", recovery_codes, name="recovery-codes"),
    path("account/second-factor/remove/", remove_second_factor, name="remove-second-factor"),
]
