"""One row for each thing that somebody did. Rows are added, and go only when they are old (`AUDIT_DAYS`)."""

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class AuditEntryFinal(TypeError):
    """An entry of the audit log was to be changed or deleted."""


class AuditEntries(models.QuerySet["AuditEntry"]):
    def update(self, **_fields: Any) -> NoReturn:  # noqa: ANN401 (Django's)
        raise AuditEntryFinal("entries of the audit log are not changed")

    def delete(self) -> NoReturn:
        raise AuditEntryFinal("entries of the audit log are not deleted; AUDIT_DAYS says how long they stay")


class AuditEntry(models.Model):
    """`by`: the number of an account, no reference and no name, so that nothing of a deleted person is left here; None:
    a command, a task or somebody who was not logged in. `subject`: `lab north`, `account 17`, `key aw_x2f…`.
    """

    at = models.DateTimeField(_("time"), default=timezone.now, editable=False)
    by = models.PositiveBigIntegerField(_("account"), null=True, editable=False)
    action = models.CharField(_("action"), max_length=40, editable=False)
    subject = models.CharField(_("subject"), max_length=300, editable=False)
    details = models.JSONField(_("details"), default=dict, editable=False)
    request_id = models.CharField(_("request"), max_length=64, blank=True, editable=False)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name = _("entry of the audit log")
        verbose_name_plural = _("audit log")
        default_permissions = ("view",)
        constraints = (models.CheckConstraint(condition=~models.Q(action=""), name="auditentry_has_an_action"),)
        indexes = (models.Index(fields=("at",), name="auditentry_oldest"),)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action}: {self.subject}"

    def save(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (Django's)
        if not self._state.adding:
            raise AuditEntryFinal("entries of the audit log are not changed")
        super().save(*arguments, **named)

    def delete(self, *_arguments: Any, **_named: Any) -> NoReturn:  # noqa: ANN401 (Django's)
        raise AuditEntryFinal("entries of the audit log are not deleted; AUDIT_DAYS says how long they stay")
