"""Whether this site sends mails, for the pages that offer them and the tasks that send them."""

import logging

from django.conf import settings

log = logging.getLogger(__name__)


def sends_mail() -> bool:
    """Whether there is a mail server, and an address of the site for the links in mails.

    The Host of a request is no such address: whoever sends the request can write any port of ours there.
    """
    if settings.EMAIL_HOST and not settings.SITE_URL:
        log.warning("no mail is sent: EMAIL_HOST is set, but SITE_URL, the address for links in mails, is not")
    return bool(settings.EMAIL_HOST and settings.SITE_URL)
