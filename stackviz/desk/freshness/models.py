"""What feeds and links answered last, and the changes that are proposed from it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class FeedCheck(models.Model):
    """The last request to one feed. `answered_at`: when it was last read whole; `newest`: the highest version then.

    `compared_with`: the digest of the rows that the answer with this `etag` was compared with.
    """

    class Outcome(models.TextChoices):
        READ = "read", _("read")
        UNCHANGED = "unchanged", _("unchanged")
        FAILED = "failed", _("no usable answer")
        OFFLINE = "offline", _("no connection")

    feed = models.CharField(max_length=60, unique=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    problem = models.CharField(max_length=200, blank=True)
    checked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    etag = models.CharField(max_length=200, blank=True)
    compared_with = models.CharField(max_length=32, blank=True)
    releases = models.PositiveIntegerField(default=0)
    newest = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ("feed",)
        default_permissions = ("view",)
        verbose_name = _("feed")

    def __str__(self) -> str:
        return self.feed


class LinkCheck(models.Model):
    """The last request to the address of a source. `failing_since`: when requests began to fail; null: they do not."""

    class Outcome(models.TextChoices):
        ALIVE = "alive", _("answers")
        MOVED = "moved", _("has moved")
        LOGIN = "login", _("asks for a login")
        DEAD = "dead", _("not found")
        REFUSED = "refused", _("refuses programs")
        UNREACHABLE = "unreachable", _("no answer")

    url = models.CharField(max_length=600, unique=True)
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=200, blank=True)
    checked_at = models.DateTimeField(db_index=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("-failing_since", "url")
        default_permissions = ("view",)
        verbose_name = _("link")

    def __str__(self) -> str:
        return self.url


class ProposedChange(models.Model):
    """A difference between a table and what others publish; nothing changes until a person applies it.

    `key` names the difference: one that was declined is not proposed again. `doubt`: why it looks odd, or "".
    """

    class Kind(models.TextChoices):
        RELEASE = "release", _("new release")
        RELEASED = "released", _("day of release")
        SUPPORT_ENDS = "support-ends", _("end of support")
        MOVED = "moved", _("address has moved")
        DEAD = "dead", _("link is dead")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        APPLIED = "applied", _("applied")
        DECLINED = "declined", _("declined")

    OF_LINKS = (Kind.MOVED, Kind.DEAD)

    key = models.CharField(max_length=200, unique=True, editable=False)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    feed = models.CharField(_("feed"), max_length=60, blank=True)
    component = models.CharField(_("component"), max_length=60, blank=True)
    version = models.CharField(_("version"), max_length=40, blank=True)
    variant = models.CharField(_("variant"), max_length=40, blank=True)
    released = models.CharField(_("released"), max_length=10, blank=True)
    support_ends = models.CharField(_("support ends"), max_length=10, blank=True)
    url = models.CharField(_("address"), max_length=600, blank=True)
    new_url = models.CharField(_("new address"), max_length=600, blank=True)
    before = models.CharField(_("in the table"), max_length=200, blank=True)
    doubt = models.CharField(_("doubt"), max_length=200, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    answer = models.CharField(_("answer"), max_length=300, blank=True)
    proposed_at = models.DateTimeField(_("proposed"), auto_now_add=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)

    class Meta:
        ordering = ("-proposed_at", "-pk")
        default_permissions = ("view",)
        verbose_name = _("proposed change")
        verbose_name_plural = _("proposed changes")
        indexes = (models.Index(fields=("state", "-proposed_at"), name="proposed_change_queue"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at__isnull=True)
                | (~Q(state="waiting") & Q(decided_at__isnull=False)),
                name="proposed_change_decided_has_a_moment",
            ),
            models.CheckConstraint(
                condition=~Q(state="declined") | ~Q(answer=""), name="proposed_change_declined_says_why"
            ),
        )

    def __str__(self) -> str:
        return (
            self.url
            if self.kind in self.OF_LINKS
            else " ".join(filter(None, (self.component, self.version, self.variant)))
        )
