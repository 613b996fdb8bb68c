"""Who changed or checked something, as the public may read it."""

from typing import Any

from django.utils.translation import gettext as _


def public_name(user: Any) -> str:  # noqa: ANN401 - a user of whatever model
    """The full name a person has given, else a number: the name somebody logs in by is nobody else's business."""
    return str(user.get_full_name()) or _("curator %(number)d") % {"number": user.pk}
