"""Admin of proposed hosts: a curator looks at what a visitor proposes, publishes or refuses it with a reason."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.curated_admin import WhyForm
from stackviz.records.cited.decide_host import publish_host, withdraw_host
from stackviz.records.cited.host_admin import decide_hosts
from stackviz.records.cited.models import HostProposal
from stackviz.records.hosts.describe import stated_fields
from stackviz.records.hosts.models import Host
from stackviz.web.readonly_admin import ShownOnlyAdmin


class HostProposalAdmin(ShownOnlyAdmin):
    action_form = WhyForm
    actions = ["publish", "refuse"]
    list_display = ["host", "state", "source", "results_count", "created_at", "decided_at"]
    list_filter = ["host__state", "created_at"]
    list_select_related = ["host"]
    search_fields = ["host__title", "host__slug", "host__source_url"]
    fields = ("host", "state", "source", "machine", "shown_results", "created_at", "decided_at")
    readonly_fields = fields

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401, ARG002
        """Actions need it; no field can be written."""
        return bool(request.user.has_perm("cited.change_hostproposal"))

    @admin.display(description=_("state"))
    def state(self, proposal: HostProposal) -> str:
        return str(proposal.host.get_state_display())

    @admin.display(description=_("source"))
    def source(self, proposal: HostProposal) -> SafeString:
        address = proposal.host.source_url
        return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', address, address[:80])

    @admin.display(description=_("results"))
    def results_count(self, proposal: HostProposal) -> int:
        return len(proposal.results)

    @admin.display(description=_("machine"))
    def machine(self, proposal: HostProposal) -> SafeString:
        host = proposal.host
        rows = stated_fields(host, host.cards.all(), host.components.all())
        return format_html_join("", "<div>{}: {}</div>", rows)

    @admin.display(description=_("results"))
    def shown_results(self, proposal: HostProposal) -> SafeString:
        lines = [(row["benchmark"], row["params"], row["value"], row["unit"]) for row in proposal.results]
        return format_html_join("", "<div>{} {}: {} {}</div>", lines)

    @admin.action(description=_("Publish the host and its results, with the reason"), permissions=["change"])
    def publish(self, request: HttpRequest, rows: QuerySet[HostProposal]) -> None:
        self._decide(request, rows, publish_host)

    @admin.action(description=_("Refuse, with the reason that its proposer reads"), permissions=["change"])
    def refuse(self, request: HttpRequest, rows: QuerySet[HostProposal]) -> None:
        self._decide(request, rows, withdraw_host)

    def _decide(
        self, request: HttpRequest, rows: QuerySet[HostProposal], decide: Callable[[Host, User, str], bool]
    ) -> None:
        hosts = [proposal.host for proposal in rows.filter(decided_at=None).select_related("host")]
        decide_hosts(self, request, hosts, decide)
