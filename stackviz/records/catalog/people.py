"""Who changed or checked something, as the public may read it."""

from typing import Any

from django.utils.translation import gettext as _


def public_name(user: Any) -> str:  # noqa: ANN401 - a user of whatever model
    """The person's full name, or else a number; login names are private."""
    return str(user.get_full_name()) or _("curator %(number)d") % {"number": user.pk}
