"""Withdraw a person: the account goes, and what it decided stays without a name. The page for one's own account."""

from http import HTTPStatus

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.desk.accounts.login import count_login, too_many_attempts
from stackviz.desk.accounts.second_factor import has_device, is_verified, second_factor_address
from stackviz.desk.accounts.second_factor_page import account_of
from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Membership
from stackviz.web.http.rate_limit import RateLimited, ask_to_wait


def why_needed(*users: User) -> list[str]:
    """Why these accounts cannot all go yet, in sentences: a lab would have no owner, or the site no superuser.

    Two queries.
    """
    owned = Lab.objects.filter(memberships__user__in=users, memberships__role=Membership.Role.OWNER).distinct()
    others = Membership.objects.filter(role=Membership.Role.OWNER).exclude(user__in=users).values("lab")
    alone = owned.exclude(pk__in=others)
    problems = [
        _("%(lab)s has no other owner. Name one, or withdraw the lab first.") % {"lab": lab.name} for lab in alone
    ]
    pks = [user.pk for user in users]
    if any(user.is_superuser for user in users) and not _superusers().exclude(pk__in=pks).exists():
        problems.append(_("There is no other superuser. Make one first."))
    return problems


def _superusers() -> QuerySet[User]:
    return User.objects.filter(is_superuser=True, is_active=True)


def _lock_account(user: User) -> User:
    """The account, with all that `why_needed` reads about it locked: of two last owners who go at once, one stays.

    In the order of keys, labs first, as the admin saves a lab before its members.
    """
    is_owner = Q(memberships__user=user, memberships__role=Membership.Role.OWNER)
    list(Lab.objects.filter(is_owner).order_by("pk").select_for_update(of=("self",), no_key=True))
    accounts = (_superusers() | User.objects.filter(pk=user.pk)).order_by("pk").select_for_update()
    locked = {account.pk: account for account in accounts}
    if user.pk not in locked:
        raise ValidationError(_("This account is gone already."))
    return locked[user.pk]


@transaction.atomic
def withdraw_person(user: User, by: User | None = None) -> dict[str, int]:
    """Delete the account -> table -> rows. Raises ValidationError where it is needed (`why_needed`).

    Logins end at once. Keys that it made belong to the lab and go on working.
    """
    locked = _lock_account(user)
    if problems := why_needed(locked):
        raise ValidationError(problems)
    number = locked.pk
    _total, gone = locked.delete()
    record("account.withdrawn", f"account {number}", by, rows=gone)
    return gone


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
        return _withdrawal_page(request, why_needed(user))
    try:
        count_login(request, user.get_username())
    except RateLimited as limited:
        return ask_to_wait(_withdrawal_page(request, why_needed(user), too_many_attempts(limited)), limited)
    form = PasswordForm(request.POST)
    if not form.is_valid() or not user.check_password(form.cleaned_data["password"]):
        return _withdrawal_page(request, why_needed(user), _("This is not the password of the account."))
    try:
        withdraw_person(user, user)
    except ValidationError as error:
        return _withdrawal_page(request, error.messages)
    logout(request)
    messages.success(request, _("The account was withdrawn."))
    return HttpResponseRedirect(reverse("home:home"))


def _withdrawal_page(request: HttpRequest, needed: list[str], problem: str = "") -> HttpResponse:
    is_refused = request.method == "POST"
    return render(
        request,
        "accounts/withdraw.html",
        {"needed": needed, "problem": problem, "form": PasswordForm()},
        status=HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK,
    )


urlpatterns = [path("account/withdraw/", withdraw_own, name="withdraw")]
