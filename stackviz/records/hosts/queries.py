"""Queries about public hosts."""

from django.db.models import Prefetch, QuerySet

from stackviz.records.hosts.models import Host, HostCard


def public_hosts() -> QuerySet[Host]:
    """Return the public hosts with vendor, cards and components, the newest first. Three queries, however many."""
    cards = HostCard.objects.select_related("accelerator__vendor").order_by("host_id", "index")
    hosts = Host.objects.filter(state=Host.State.PUBLIC).select_related("vendor")
    return hosts.prefetch_related(Prefetch("cards", cards), "components").order_by("-seen_on", "slug")


def host_named(slug: str) -> Host | None:
    """Return the public host with this slug; None if there is none."""
    return public_hosts().filter(slug=slug).first()
