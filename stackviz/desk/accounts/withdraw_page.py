"""Withdrawing one's own account: what goes and what stays, and the password to confirm it."""

from http import HTTPStatus

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.desk.accounts.attempts import count_login, too_many_attempts
from stackviz.desk.accounts.devices import has_device
from stackviz.desk.accounts.second_factor import is_verified, second_factor_address
from stackviz.desk.accounts.second_factor_page import account_of
from stackviz.desk.accounts.withdraw import why_needed, withdraw_person
from stackviz.web.rate_limit import RateLimited, ask_to_wait


class PasswordForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "required": True}),
    )


@sensitive_post_parameters()
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw_own(request: HttpRequest) -> HttpResponse:
    """Whoever is a lab's only owner, or the only superuser, is told what to do first. Attempts count as logins do."""
    user = account_of(request)
    if has_device(user) and not is_verified(request):
        return HttpResponseRedirect(second_factor_address(reverse("accounts:withdraw")))
    if request.method != "POST":
        return _page(request, why_needed(user))
    try:
        count_login(request, user.get_username())
    except RateLimited as limited:
        return ask_to_wait(_page(request, why_needed(user), too_many_attempts(limited)), limited)
    form = PasswordForm(request.POST)
    if not form.is_valid() or not user.check_password(form.cleaned_data["password"]):
        return _page(request, why_needed(user), _("This is not the password of the account."))
    try:
        withdraw_person(user, user)
    except ValidationError as error:
        return _page(request, error.messages)
    logout(request)
    messages.success(request, _("The account was withdrawn."))
    return HttpResponseRedirect(reverse("home:home"))


def _page(request: HttpRequest, needed: list[str], problem: str = "") -> HttpResponse:
    is_refused = request.method == "POST"
    return render(
        request,
        "accounts/withdraw.html",
        {"needed": needed, "problem": problem, "form": PasswordForm()},
        status=HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK,
    )


urlpatterns = [path("account/withdraw/", withdraw_own, name="withdraw")]
