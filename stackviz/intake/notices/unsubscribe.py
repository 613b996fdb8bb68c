"""Ending mails by the link in one of them, without logging in: a GET asks, a POST does it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from stackviz.intake.notices.mails import mail_of_token, stop_mails


@csrf_exempt  # mail programs post it themselves (RFC 8058); whoever has the link may
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponse:
    """A link that is no longer good, or never was, is answered as one that was used."""
    mail = mail_of_token(token)
    is_done = mail is not None and request.method == "POST"
    if mail is not None and is_done:
        stop_mails(mail.membership)
    return render(request, "notices/unsubscribe.html", {"mail": mail, "is_done": is_done})
