"""People of a lab, their roles and invitations; and the page on which somebody who was invited joins."""

from collections.abc import Callable, Mapping

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.desk.labs.keys import lab_of_member
from stackviz.intake.notices.mails import ask_for_mails, gets_mails, stop_mails
from stackviz.records.labs.members import (
    CODE_CHARS,
    NO_SUCH_CODE,
    accept_invitation,
    change_role,
    invitation_of,
    invite,
    lab_people,
    open_invitations,
    remove_member,
    withdraw_invitation,
)
from stackviz.records.labs.models import Invitation, Lab, Membership
from stackviz.records.labs.queries import visible_labs
from stackviz.web.http.address import row_key
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait
from stackviz.web.mail import sends_mail

PEOPLE_SHOWN = 500
JOINS = RateLimit("joins", "DIAGNOSES_PER_MINUTE", 60, "too many codes from this address")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people_page(request: HttpRequest, lab: str) -> HttpResponse:
    """Everybody of the lab sees who else is; owners change that. A code of an invitation is in one answer only."""
    of_lab, rights = lab_of_member(request, lab)
    invitation, code, problems = None, "", []
    if request.method == "POST":
        try:
            if request.POST.get("do") == "invite" and rights.may_rule:
                invitation, code = invite(
                    of_lab, request.POST.get("name", ""), request.POST.get("role", ""), row_key(str(request.user.pk))
                )
            else:
                return redirect(_changed(request, of_lab, may_rule=rights.may_rule))
        except ValidationError as error:
            problems = error.messages
    offers_mails = sends_mail()
    context = {
        "lab": of_lab,
        "rights": rights,
        "people": lab_people(of_lab)[:PEOPLE_SHOWN],
        "roles": Membership.Role.choices,
        "invitations": open_invitations(of_lab).select_related("created_by") if rights.may_rule else (),
        "invitation": invitation,
        "code": code,
        "join_url": request.build_absolute_uri(reverse("machines:join")),
        "problems": problems,
        "offers_mails": offers_mails,
        "gets_mails": offers_mails and gets_mails(of_lab, request.user),
        "posted": request.POST if problems else {},
    }
    return render(request, "labs/people.html", context, status=422 if problems else 200)


def _changed(request: HttpRequest, lab: Lab, *, may_rule: bool) -> str:
    """Do what the form asks for -> where to go then. Raises ValidationError, PermissionDenied, Http404."""
    here = reverse("machines:people", args=[lab.slug])
    action = _ACTIONS.get(request.POST.get("do", ""))
    own_id = row_key(str(request.user.pk))
    user_id = row_key(request.POST.get("user", ""))
    if action in _ON_ONESELF:
        user_id = own_id
    elif not may_rule:
        raise PermissionDenied
    if action is None:
        raise Http404
    try:
        action(request, lab, user_id)
    except (Membership.DoesNotExist, Invitation.DoesNotExist) as error:
        raise Http404 from error
    is_still_there = visible_labs(request.user).filter(pk=lab.pk, memberships__user_id=own_id).exists()
    return here if is_still_there else reverse("machines:list")


def _change_role(request: HttpRequest, lab: Lab, user_id: int) -> None:
    change_role(lab, user_id, request.POST.get("role", ""))
    messages.success(request, _("The role was changed."))


def _take_out(request: HttpRequest, lab: Lab, user_id: int) -> None:
    remove_member(lab, user_id)
    messages.success(request, _("Removed. Keys they made still work: revoke those that should not."))


def _leave(request: HttpRequest, lab: Lab, user_id: int) -> None:
    remove_member(lab, user_id)
    messages.success(request, _("You left %(lab)s.") % {"lab": lab.name})


def _withdraw_invitation(request: HttpRequest, lab: Lab, _user_id: int) -> None:
    withdraw_invitation(Invitation.objects.get(pk=row_key(request.POST.get("invitation", "")), lab=lab))
    messages.success(request, _("The invitation was withdrawn; its code no longer works."))


def _ask_for_mails(request: HttpRequest, lab: Lab, user_id: int) -> None:
    """Raises Membership.DoesNotExist, for a superuser who is not of the lab."""
    membership = Membership.objects.get(lab=lab, user_id=user_id)
    if not getattr(request.user, "email", ""):
        raise ValidationError(_("Your account has no mail address. Ask whoever runs this site to add it."))
    ask_for_mails(membership, get_language() or settings.LANGUAGE_CODE)
    messages.success(request, _("What happens from now on is mailed to you, once an hour at most."))


def _stop_mails(request: HttpRequest, lab: Lab, user_id: int) -> None:
    stop_mails(Membership.objects.get(lab=lab, user_id=user_id))
    messages.success(request, _("Nothing more is mailed to you."))


_ON_ONESELF = (_leave, _ask_for_mails, _stop_mails)
_ACTIONS: Mapping[str, Callable[[HttpRequest, Lab, int], None]] = {
    "role": _change_role,
    "remove": _take_out,
    "leave": _leave,
    "mails": _ask_for_mails,
    "no-mails": _stop_mails,
    "withdraw": _withdraw_invitation,
}


# ---- joining --------------------------------------------------------------------------------------------------------


class NewAccountForm(UserCreationForm[User]):
    """An account for somebody who was invited and has none."""

    code = forms.CharField(max_length=CODE_CHARS, widget=forms.HiddenInput)

    class Meta:
        model = User
        fields = ("username",)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_page(request: HttpRequest) -> HttpResponse:
    """The code is typed here and stands in no address. Who has no account makes one with it, in a second step."""
    if request.method != "POST":
        return render(request, "labs/join.html", {})
    try:
        JOINS.count(request)
    except RateLimited as limited:
        return ask_to_wait(render(request, "labs/join.html", {"problems": [str(limited)]}), limited)
    code = request.POST.get("code", "")
    try:
        if request.user.is_authenticated:
            return _joined(request, accept_invitation(code, request.user))
        return _joined_with_new_account(request, code)
    except ValidationError as error:
        return render(request, "labs/join.html", {"problems": error.messages}, status=422)


def _joined(request: HttpRequest, lab: Lab) -> HttpResponse:
    messages.success(request, _("You are of %(lab)s now.") % {"lab": lab.name})
    return redirect(lab.get_absolute_url())


def _joined_with_new_account(request: HttpRequest, code: str) -> HttpResponse:
    """The form for an account; when it is filled in, account and membership together. Raises ValidationError."""
    invitation = invitation_of(code)
    form = NewAccountForm(request.POST if "username" in request.POST else None, initial={"code": code})
    if invitation is None:
        raise ValidationError(NO_SUCH_CODE)
    if not form.is_bound or not form.is_valid():
        context = {"form": form, "invitation": invitation}
        return render(request, "labs/join.html", context, status=422 if form.is_bound else 200)
    with transaction.atomic():
        user = form.save()
        lab = accept_invitation(code, user)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return _joined(request, lab)
