"""What owners decide about their lab as a whole: its name, who sees its machines, where its events are sent."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.desk.labs.keys import lab_of_member
from stackviz.intake.notices.models import Webhook
from stackviz.intake.notices.post import URL_CHARS, PostFailed
from stackviz.intake.notices.webhooks import DISABLED_AFTER, enable_webhook, send_test, set_webhook
from stackviz.records.labs.models import Lab, Machine
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait

TESTS = RateLimit("webhook-tests", "WEBHOOK_TESTS_PER_HOUR", 3600, "too many tests of this account")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings_page(request: HttpRequest, lab: str) -> HttpResponse:
    """The address stays when the name changes. Who sees the lab is changed with a tick that says what follows."""
    of_lab, rights = lab_of_member(request, lab)
    if not rights.may_rule:
        raise PermissionDenied
    problem = ""
    if request.method == "POST":
        problem = _change(request, of_lab)
        if not problem:
            return redirect("machines:settings", of_lab.slug)
        of_lab.refresh_from_db()
    machines = Machine.objects.filter(lab=of_lab, merged_into__isnull=True)
    context = {
        "lab": of_lab,
        "rights": rights,
        "machine_count": machines.count(),
        "problem": problem,
    }
    return render(request, "labs/settings.html", context, status=422 if problem else 200)


def _change(request: HttpRequest, lab: Lab) -> str:
    """Do what the form asks for -> why not; "" if it was done."""
    action = request.POST.get("do", "")
    if action == "rename":
        name = " ".join(request.POST.get("name", "").split())
        if not name or len(name) > 100:
            return _("Write a name of at most 100 characters.")
        lab.name = name
        lab.save(update_fields=["name"])  # saved, not updated: the audit log and the search hear of it
        messages.success(request, _("Renamed to “%(name)s”. The address of the page stays.") % {"name": name})
    elif action in {"publish", "hide"}:
        if not request.POST.get("sure"):
            return _("Tick that you are sure; nothing was changed.")
        lab.is_public = action == "publish"
        lab.save(update_fields=["is_public"])
        shown = _("Everybody sees this lab now.")
        messages.success(request, shown if action == "publish" else _("Only people of the lab see it now."))
    else:
        raise Http404
    return ""


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
        if webhook is None or action not in _WEBHOOK_ACTIONS:
            raise Http404
        try:
            _WEBHOOK_ACTIONS[action](request, webhook)
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
    answer = render(request, "labs/webhook.html", context, status=422 if problem else 200)
    return ask_to_wait(answer, limited) if limited else answer


def _test_webhook(request: HttpRequest, webhook: Webhook) -> None:
    """Raises RateLimited, PostFailed."""
    TESTS.count_for(str(request.user.pk))
    status = send_test(webhook)
    messages.success(request, _("The test was accepted (%(status)d).") % {"status": status})


def _enable_webhook(request: HttpRequest, webhook: Webhook) -> None:
    enable_webhook(webhook)
    messages.success(request, _("What happens from now on is sent again."))


def _remove_webhook(request: HttpRequest, webhook: Webhook) -> None:
    webhook.delete()
    messages.success(request, _("The webhook was removed; nothing more is sent."))


_WEBHOOK_ACTIONS: Mapping[str, Callable[[HttpRequest, Webhook], None]] = {
    "test": _test_webhook,
    "enable": _enable_webhook,
    "remove": _remove_webhook,
}
