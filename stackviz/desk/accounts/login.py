"""Logging in and forgotten passwords, for the site and its admin. Whoever must shows a second factor first.

How often a password may be tried, and a mail asked for, is counted per client, and per account from all clients
together. Every attempt counts, so that guesses sent at once are counted before the first is answered.
"""

import logging
import unicodedata
from http import HTTPStatus
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse, reverse_lazy
from django.utils.crypto import salted_hmac
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from kombu.exceptions import OperationalError

from stackviz.desk.accounts.second_factor import mark_due, needs_second_factor, second_factor_address
from stackviz.desk.accounts.tasks import mail_reset_link
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait
from stackviz.web.mail import sends_mail

log = logging.getLogger(__name__)

LOGIN_WINDOW_S = 15 * 60
RESET_WINDOW_S = 60 * 60
LOGINS_OF_CLIENT = RateLimit("logins-of-client", "LOGINS_PER_CLIENT", LOGIN_WINDOW_S)
LOGINS_OF_ACCOUNT = RateLimit("logins-of-account", "LOGINS_PER_ACCOUNT", LOGIN_WINDOW_S)
RESETS_OF_CLIENT = RateLimit("resets-of-client", "LOGINS_PER_CLIENT", RESET_WINDOW_S)
RESETS_OF_ADDRESS = RateLimit("resets-of-address", "RESET_MAILS_PER_HOUR", RESET_WINDOW_S)


def count_login(request: HttpRequest, name: str) -> None:
    """Count an attempt to log in as `name`, whether there is such an account or not. Raises RateLimited."""
    LOGINS_OF_CLIENT.count(request)
    LOGINS_OF_ACCOUNT.count_for(_digest_of_name(name))


def count_reset(request: HttpRequest, address: str) -> None:
    """Count a request for a mail to `address`. Raises RateLimited."""
    RESETS_OF_CLIENT.count(request)
    RESETS_OF_ADDRESS.count_for(_digest_of_name(address))


def too_many_attempts(limited: RateLimited) -> str:
    """Return the text that a form shows instead of looking at the password."""
    text = _("Too many attempts. Wait %(minutes)d minutes, then try again.")
    return text % {"minutes": limited.retry_after_s // 60 + 1}


def _digest_of_name(name: str) -> str:
    """Return 32 hex digits that are the same however the name is spelled."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return str(salted_hmac("stackviz.accounts.attempts", folded, algorithm="sha256").hexdigest())[:32]


class LoginForm(AuthenticationForm):
    """Django's, which counts the attempt before it looks at the password. `limited`: set where it did not look."""

    limited: RateLimited | None = None

    def clean(self) -> dict[str, Any]:
        try:
            if self.request is not None:
                count_login(self.request, self.cleaned_data.get("username") or "")
        except RateLimited as limited:
            self.limited = limited
            raise ValidationError(too_many_attempts(limited)) from None
        cleaned: dict[str, Any] = super().clean()
        return cleaned


class LogIn(LoginView):
    """`?next=`: where to go then, on this site only. An account with a second factor is asked for it first."""

    template_name = "accounts/login.html"
    authentication_form = LoginForm

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_valid(form)
        user = form.get_user()
        if user.is_staff:
            self.request.session.set_expiry(settings.STAFF_SESSION_HOURS * 3600)
        if isinstance(user, User) and needs_second_factor(user):
            mark_due(self.request)
            return HttpResponseRedirect(second_factor_address(self.get_success_url()))
        return answer

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_invalid(form)
        limited = getattr(form, "limited", None)
        return ask_to_wait(answer, limited) if limited else answer


def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin has no form of its own: what holds for a login holds for its login too."""
    return HttpResponseRedirect(
        f"{reverse('accounts:login')}?{urlencode({'next': request.GET.get('next', '/admin/')})}"
    )


class AskForReset(views.PasswordResetView):
    """The address is looked up in the background: how long this takes tells nobody who has an account."""

    template_name = "accounts/forgotten.html"
    success_url = reverse_lazy("accounts:reset-sent")

    def dispatch(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:  # noqa: ANN401 - Django's
        if not sends_mail():
            return render(request, "accounts/no_mail.html")
        return super().dispatch(request, *arguments, **named)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        address = form.cleaned_data["email"]
        try:
            count_reset(self.request, address)
            mail_reset_link.delay(address, get_language())
        except RateLimited as limited:
            form.add_error(None, _("Too many requests. Wait an hour, then try again."))
            return ask_to_wait(self.form_invalid(form), limited)
        except (OperationalError, OSError) as error:
            log.warning("no mail about a password: the broker is unreachable (%s)", type(error).__name__)
            form.add_error(None, _("No mail can be sent at the moment. Try again in a few minutes."))
            answer = self.form_invalid(form)
            answer.status_code = HTTPStatus.SERVICE_UNAVAILABLE
            return answer
        return HttpResponseRedirect(str(self.success_url))


class ChangePassword(views.PasswordChangeView):
    """Attempts count as those to log in do, before the old password is looked at."""

    template_name = "accounts/new_password.html"
    success_url = reverse_lazy("accounts:account")

    def post(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:  # noqa: ANN401 - Django's
        try:
            count_login(request, request.user.get_username())
        except RateLimited as limited:
            form = self.form_class(user=cast("User", request.user))  # the view lets nobody else in
            return ask_to_wait(self.render_to_response({"form": form, "problem": too_many_attempts(limited)}), limited)
        return super().post(request, *arguments, **named)


_RESET = views.PasswordResetConfirmView.as_view(
    template_name="accounts/new_password.html", success_url=reverse_lazy("accounts:reset-done")
)

urlpatterns = [
    path("login/", LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", AskForReset.as_view(), name="forgotten"),
    path(
        "password/sent/",
        views.PasswordResetDoneView.as_view(template_name="accounts/reset_sent.html"),
        name="reset-sent",
    ),
    path(
        "password/done/",
        views.PasswordResetCompleteView.as_view(template_name="accounts/reset_done.html"),
        name="reset-done",
    ),
    path("password/<uidb64>/<token>/", never_cache(_RESET), name="reset"),
    path("account/password/", ChangePassword.as_view(), name="change-password"),
]
