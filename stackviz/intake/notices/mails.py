"""Mails to people of a lab who ask for them: what happened, together, once an hour at most."""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from stackviz.intake.notices.models import EventMail
from stackviz.intake.notices.queries import event_address, event_text, event_title, lab_events
from stackviz.records.labs.models import Lab, Membership
from stackviz.records.labs.queries import Visitor
from stackviz.web.mail import sends_mail

LISTED = 50  # events in one mail; how many more there are is said
EVERY = timedelta(hours=1)
# Events are numbered and dated before their transaction ends: those of the last minutes wait for the next mail.
SETTLED_AFTER = timedelta(minutes=6)
MAILS_A_RUN = 100
BUSY_FOR = timedelta(minutes=10)  # longer than the limit of the task
_SALT = "stackviz.notices.mails"

log = logging.getLogger(__name__)


def ask_for_mails(membership: Membership, language: str) -> None:
    """Mail this person what happens in the lab from now on."""
    EventMail.objects.update_or_create(
        membership=membership, defaults={"language": language, "noted_until": timezone.now()}
    )


def stop_mails(membership: Membership) -> None:
    EventMail.objects.filter(membership=membership).delete()


def gets_mails(lab: Lab, user: Visitor) -> bool:
    """One query."""
    return user.pk is not None and EventMail.objects.filter(membership__lab=lab, membership__user_id=user.pk).exists()


def unsubscribe_token(mail: EventMail) -> str:
    """What the link in a mail holds: good for this subscription alone, for as long as it lasts."""
    return signing.dumps([mail.pk, mail.membership_id], salt=_SALT)


def mail_of_token(token: str) -> EventMail | None:
    """The subscription that a link names; None where it was ended, or the link is not ours."""
    try:
        pk, membership = signing.loads(token, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return EventMail.objects.filter(pk=pk, membership=membership).select_related("membership__lab").first()


def send_mails() -> int:
    """Send those that are due -> how many. What cannot be sent now is tried in the next run."""
    if not sends_mail():
        return 0
    due = EventMail.objects.filter(noted_until__lte=timezone.now() - EVERY, membership__user__is_active=True)
    keys = due.exclude(membership__user__email="").order_by("noted_until").values_list("pk", flat=True)
    return sum(_send(pk) for pk in list(keys[:MAILS_A_RUN]))


def _send(pk: int) -> bool:
    """Send one, claimed meanwhile: two workers do not send the same. No transaction waits for a mail server."""
    now = timezone.now()
    claimed = EventMail.objects.filter(Q(busy_until__isnull=True) | Q(busy_until__lte=now), pk=pk)
    if not claimed.update(busy_until=now + BUSY_FOR):
        return False
    mail = EventMail.objects.select_related("membership__lab", "membership__user").filter(pk=pk).first()
    if mail is None:
        return False
    until = now - SETTLED_AFTER
    message = _message(mail, until)
    try:
        if message is not None:
            message.send()
    except (SMTPException, OSError) as error:
        log.warning("mail about lab %s not sent (%s); next attempt in the next run", mail.membership.lab_id, error)
        EventMail.objects.filter(pk=pk).update(busy_until=None)
        return False
    EventMail.objects.filter(pk=pk).update(busy_until=None, noted_until=until)
    return message is not None


def _message(mail: EventMail, until: datetime) -> EmailMessage | None:
    """The events since the last mail, in the language in which they were asked for; None where nothing happened."""
    membership = mail.membership
    lab, user, site = membership.lab, membership.user, settings.SITE_URL
    news = lab_events(lab).filter(noted_at__gt=mail.noted_until, noted_at__lte=until)
    count = news.count()
    if not count:
        return None
    with override(mail.language):
        stop = site + reverse("notices:unsubscribe", args=[unsubscribe_token(mail)])
        context = {
            "lab": lab.name,
            "address": site + lab.get_absolute_url(),
            "events": [
                {"title": event_title(event), "text": event_text(event), "address": site + event_address(event)}
                for event in news[:LISTED]
            ],
            "more": max(0, count - LISTED),
            "stop": stop,
        }
        words = ngettext("%(lab)s: %(n)d event", "%(lab)s: %(n)d events", count) % {"lab": lab.name, "n": count}
        text = render_to_string("notices/mail.txt", context)
    headers = {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    return EmailMessage(" ".join(words.split()), text, to=[user.email], headers=headers)


# --- unsubscribing ---


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
