"""Mails to people who forgot their password."""

from celery import shared_task
from django.contrib.auth.forms import PasswordResetForm
from django.utils.translation import override


@shared_task(ignore_result=True, time_limit=60)
def mail_reset_link(address: str, host: str, is_secure: bool, language: str) -> str:  # noqa: FBT001 - as a broker passes it
    """Mail a link to every active account with this address that has a password. Returns a word for the log."""
    form = PasswordResetForm({"email": address})
    if not form.is_valid():
        return "no address"
    with override(language):
        form.save(
            domain_override=host,
            use_https=is_secure,
            subject_template_name="accounts/reset_subject.txt",
            email_template_name="accounts/reset_mail.txt",
        )
    return "done"
