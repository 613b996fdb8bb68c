"""Curation counts for the admin's index page."""

from typing import Any

from django import template
from django.urls import reverse

from stackviz.catalog.models import Proposal

register = template.Library()


@register.inclusion_tag("curation/desk.html", takes_context=True)
def curation_desk(context: dict[str, Any]) -> dict[str, Any]:
    """The number of waiting proposals, for people who can propose or decide. One query."""
    user = context["request"].user
    may_propose, may_approve = user.has_perm("catalog.propose"), user.has_perm("catalog.approve")
    if not (may_propose or may_approve):
        return {}
    return {
        "is_shown": True,
        "may_propose": may_propose,
        "waiting": Proposal.objects.filter(state=Proposal.State.REVIEW).count(),
        "queue": reverse("admin:catalog_proposal_changelist"),
        "import": reverse("admin:catalog_specvalue_import"),
    }
