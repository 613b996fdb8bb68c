"""Logging in, for the site and its admin: attempts are counted, and whoever must shows a second factor first."""

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import urlencode

from stackviz.desk.accounts.attempts import count_login, too_many_attempts
from stackviz.desk.accounts.second_factor import mark_due, needs_second_factor, second_factor_address
from stackviz.web.rate_limit import RateLimited, ask_to_wait


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


urlpatterns = [
    path("login/", LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
]
