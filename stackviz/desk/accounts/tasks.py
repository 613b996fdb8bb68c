"""Mails to people who forgot their password."""

from urllib.parse import urlsplit

from celery import shared_task
from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.utils.translation import override

from stackviz.web.mail import sends_mail


@shared_task(ignore_result=True, time_limit=60)
def mail_reset_link(address: str, language: str) -> str:
    """Mail a link to every active account with this address that has a password. Returns a word for the log."""
    if not sends_mail():
        return "no mail"
    form = PasswordResetForm({"email": address})
    site = urlsplit(settings.SITE_URL)
    if not form.is_valid():
        return "no address"
    with override(language):
        form.save(
            domain_override=site.netloc,
            use_https=site.scheme == "https",
            subject_template_name="accounts/reset_subject.txt",
            email_template_name="accounts/reset_mail.txt",
        )
    return "done"
