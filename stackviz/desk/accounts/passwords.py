"""New passwords: for a forgotten one a mail with a link, the same answer whether there is such an account or not."""

import logging
from http import HTTPStatus
from typing import Any, cast

from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse_lazy
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from kombu.exceptions import OperationalError

from stackviz.desk.accounts.attempts import count_login, count_reset, too_many_attempts
from stackviz.desk.accounts.tasks import mail_reset_link
from stackviz.web.mail import sends_mail
from stackviz.web.rate_limit import RateLimited, ask_to_wait

log = logging.getLogger(__name__)


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
