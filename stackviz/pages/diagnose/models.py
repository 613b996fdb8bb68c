"""Masked texts under a private link, with an expiry date; and which public hosts are machines of labs."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.models import HostProposal
from stackviz.records.labs.models import Machine


class PrivateLink(models.Model):
    """One saved text. Anyone with the link can read it, anyone with the deletion code can delete it; both are stored
    only as SHA-256.

    Each has at least 128 random bits: a plain fast hash is as good as the slow ones that protect guessable passwords.
    """

    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    delete_digest = models.CharField(max_length=64, editable=False)
    text = models.TextField(editable=False)
    kinds = models.CharField(max_length=600, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="privatelink_expires_later"),
        )
        indexes = (models.Index(fields=("expires_at",), name="privatelink_expiry"),)

    def __str__(self) -> str:
        return f"{self.kinds} until {self.expires_at:%Y-%m-%d}"


class PublishedMachine(models.Model):
    """A public host that an owner of a lab made of a machine's report: its lab alone sees that the two are one.

    The host stays when the machine goes, as its private address can still withdraw it.
    """

    machine = models.ForeignKey(Machine, models.CASCADE, related_name="published")
    proposal = models.OneToOneField(HostProposal, models.CASCADE, related_name="+")

    class Meta:
        ordering = ("-pk",)
        verbose_name = _("machine published as a host")
        verbose_name_plural = _("machines published as hosts")

    def __str__(self) -> str:
        return f"{self.machine} as {self.proposal}"
