"""Where a lab's events are sent: set, tested, begun again and removed by its owners."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.intake.notices.models import Webhook
from stackviz.intake.notices.post import URL_CHARS, PostFailed
from stackviz.intake.notices.webhooks import DISABLED_AFTER, enable_webhook, send_test, set_webhook
from stackviz.pages.machines.lab_keys import lab_of_member
from stackviz.web.rate_limit import RateLimit, RateLimited, ask_to_wait

TESTS = RateLimit("webhook-tests", "WEBHOOK_TESTS_PER_HOUR", 3600, "too many tests of this account")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_page(request: HttpRequest, lab: str) -> HttpResponse:
    """A POST that sets the address answers with the secret, which is shown nowhere else."""
    of_lab, rights = lab_of_member(request, lab)
    if not rights.may_rule:
        raise PermissionDenied
    webhook = Webhook.objects.filter(lab=of_lab).first()
    secret, problem, limited = "", "", None
    action = request.POST.get("do", "")
    if action == "set":
        try:
            webhook, secret = set_webhook(of_lab, request.POST.get("url", ""), request.build_absolute_uri("/"))
        except ValidationError as error:
            problem = " ".join(error.messages)
    elif request.method == "POST":
        if webhook is None or action not in _ACTIONS:
            raise Http404
        try:
            _ACTIONS[action](request, webhook)
        except RateLimited as error:
            problem, limited = str(error), error
        except PostFailed as failed:
            problem = _("The test was not accepted: %(problem)s.") % {"problem": failed}
        if not problem:
            return redirect("machines:webhook", of_lab.slug)
    context = {
        "lab": of_lab,
        "rights": rights,
        "webhook": webhook,
        "secret": secret,
        "problem": problem,
        "typed": request.POST.get("url", "") if problem else "",
        "longest": URL_CHARS,
        "disabled_after": DISABLED_AFTER,
    }
    answer = render(request, "machines/lab_webhook.html", context, status=422 if problem else 200)
    return ask_to_wait(answer, limited) if limited else answer


def _test(request: HttpRequest, webhook: Webhook) -> None:
    """Raises RateLimited, PostFailed."""
    TESTS.count_for(str(request.user.pk))
    status = send_test(webhook)
    messages.success(request, _("The test was accepted (%(status)d).") % {"status": status})


def _enable(request: HttpRequest, webhook: Webhook) -> None:
    enable_webhook(webhook)
    messages.success(request, _("What happens from now on is sent again."))


def _remove(request: HttpRequest, webhook: Webhook) -> None:
    webhook.delete()
    messages.success(request, _("The webhook was removed; nothing more is sent."))


_ACTIONS: Mapping[str, Callable[[HttpRequest, Webhook], None]] = {
    "test": _test,
    "enable": _enable,
    "remove": _remove,
}
