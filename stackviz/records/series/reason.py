"""The reason that a person gives for a decision, a withdrawal or a move: all of them are checked alike."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

REASON_CHARS = 300


def checked_reason(reason: str) -> str:
    """The reason without needless white space. Raises ValidationError."""
    reason = " ".join(reason.replace("\0", "").split())
    if not reason:
        raise ValidationError({"reason": _("Give the reason.")})
    if len(reason) > REASON_CHARS:
        raise ValidationError({"reason": _("The reason is too long: at most %(n)d characters.") % {"n": REASON_CHARS}})
    return reason
