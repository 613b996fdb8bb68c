"""What waits at the desk, for the admin's index page; the tabs of an accelerator."""

from typing import Any

from django import template
from django.urls import reverse

from stackviz.desk.curation.accelerator_tabs import accelerator_tabs
from stackviz.desk.curation.desk_counts import desk_counts, last_imports

register = template.Library()


@register.inclusion_tag("curation/desk.html", takes_context=True)
def curation_desk(context: dict[str, Any]) -> dict[str, Any]:
    """Counts with links, and the last imports. Six queries at most."""
    user = context["request"].user
    return {
        "counts": desk_counts(user),
        "imports": last_imports(user),
        "may_propose": user.has_perm("catalog.propose"),
        "import": reverse("admin:catalog_specvalue_import"),
    }


@register.inclusion_tag("curation/tabs.html", takes_context=True)
def tabs_of_accelerator(context: dict[str, Any], accelerator_id: object, current: str) -> dict[str, Any]:
    """One query; none where no accelerator is chosen."""
    text = str(accelerator_id or "")
    pk = int(text) if text.isdecimal() and len(text) < 18 else None
    return {"tabs": accelerator_tabs(context["request"].user, pk, current) if pk is not None else None}
