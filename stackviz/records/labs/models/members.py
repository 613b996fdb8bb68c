"""Labs, their members, and invitations to join."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.web.http.addresses import address_by_name


class Lab(models.Model):
    """Who owns machines: a group of people, or one. A private lab's machines are seen by its members only."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    is_public = models.BooleanField(default=False, help_text=_("Anyone can see this lab's machines and reports."))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="labs")

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=~Q(slug="add"),
                name="lab_slug_is_no_page",
                violation_error_message=_("This name is reserved: /machines/add/ is a page of this site."),
            ),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return address_by_name("machines:lab", self.slug)


class Membership(models.Model):
    """One person's place in a lab: a viewer sees it though it is private, a member also works in it, an owner rules it.

    What each may do: `labs.queries.LabRights`.
    """

    class Role(models.TextChoices):
        VIEWER = "viewer", _("viewer")
        MEMBER = "member", _("member")
        OWNER = "owner", _("owner")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("lab", "user"), name="membership_once_per_lab_and_user"),
            models.CheckConstraint(
                condition=Q(role__in=("viewer", "member", "owner")), name="membership_role_is_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"


class Invitation(models.Model):
    """Lets one person join a lab, once. The code itself is nowhere: only its SHA-256, as of an agent key.

    Open until it is accepted, withdrawn, or `expires_at` has passed.
    """

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role, default=Membership.Role.MEMBER)
    name = models.CharField(max_length=100, help_text=_("Who is invited, in words of the lab."))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True, editable=False)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(role__in=("viewer", "member", "owner")), name="invitation_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
                name="invitation_accepted_or_withdrawn",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.role}"
