"""What readers say is wrong with a value."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.conditions import MAX_CONDITION_LENGTH
from stackviz.records.catalog.models import Accelerator


class ReaderCorrection(models.Model):
    """A mistake that a reader reports. It changes nothing: a curator proposes the change, and answers.

    Whoever has its address can follow it; of the address only a digest is stored. `shown` is what the page showed then.
    `contact` is for curators alone, and is deleted with the answer; `name` is thanked where it is accepted.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        DECLINED = "declined", _("declined")

    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    accelerator = models.ForeignKey(
        Accelerator, models.CASCADE, related_name="reader_corrections", verbose_name=_("accelerator")
    )
    field = models.CharField(_("field"), max_length=40, blank=True)
    condition = models.CharField(_("condition"), max_length=MAX_CONDITION_LENGTH, blank=True)
    shown = models.CharField(_("shown then"), max_length=400, blank=True)
    wrong = models.TextField(_("what is wrong"), max_length=1000)
    right = models.CharField(_("what would be right"), max_length=120, blank=True)
    source_url = models.URLField(_("where it stands"), max_length=500, blank=True)
    name = models.CharField(_("name for the thanks"), max_length=80, blank=True)
    contact = models.CharField(_("who may be asked"), max_length=200, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    answer = models.CharField(_("answer"), max_length=300, blank=True)
    reported_at = models.DateTimeField(_("reported"), auto_now_add=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)

    class Meta:
        verbose_name = _("reader's correction")
        verbose_name_plural = _("readers' corrections")
        ordering = ("-reported_at", "-pk")
        indexes = (models.Index(fields=("state", "-reported_at"), name="reader_correction_queue"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at__isnull=True)
                | (~Q(state="waiting") & Q(decided_at__isnull=False) & ~Q(answer="")),
                name="reader_correction_decided_is_answered",
            ),
        )

    def __str__(self) -> str:
        return f"{self.accelerator}: {self.wrong[:60]}"
