"""Admin of public hosts: list, filter, correct, publish and withdraw with a reason; cards and software with their host.

It is here and not with the hosts, because what is decided of a host is decided of its results too.

Rows of the curated files that are changed here keep their changes when the files are loaded again.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.curated_admin import HistoryAdmin, OriginFilter, WhyForm
from stackviz.records.cited.decide_host import PublishRefused, publish_host, withdraw_host
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.hosts.privacy import private_part_of, problem_of_address
from stackviz.records.hosts.software import is_software_name
from stackviz.web.relation_admin import RelationAdmin

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _PublicHostForm = forms.ModelForm[Host]
    _ComponentForm = forms.ModelForm[HostComponent]
    _AnyAdmin = admin.ModelAdmin[Any]
    _HostCardInline = admin.TabularInline[HostCard, Host]
    _HostComponentInline = admin.TabularInline[HostComponent, Host]
else:
    _AnyAdmin = admin.ModelAdmin
    _PublicHostForm = _ComponentForm = forms.ModelForm
    _HostCardInline = _HostComponentInline = admin.TabularInline


class PublicHostForm(_PublicHostForm):
    """A public host, and why it changes."""

    why = forms.CharField(max_length=300, label=_("reason of this change"), help_text=_("stored in the history"))

    class Meta:
        model = Host
        fields = "__all__"

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        address = self.cleaned_data.get("source_url", "")
        for name in ("title", "note", "teaches"):
            if private := private_part_of(self.cleaned_data.get(name, ""), address):
                self.add_error(name, gettext("Remove %(what)s: nothing may say whose it is.") % {"what": private})
        if address and (problem := problem_of_address(address)):
            self.add_error("source_url", problem)
        self.instance.set_change_reason(self.cleaned_data.get("why", ""))
        return cleaned


class ComponentForm(_ComponentForm):
    """A component or fact of a host."""

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_software_name(name):
            raise ValidationError(gettext("No component or fact of a report has this name."))
        return name


class HostCardInline(RelationAdmin, _HostCardInline):
    model = HostCard
    extra = 0
    autocomplete_fields = ["accelerator"]


class HostComponentInline(_HostComponentInline):
    model = HostComponent
    form = ComponentForm
    extra = 0


class HostAdmin(HistoryAdmin):
    form = PublicHostForm
    action_form = WhyForm
    actions = ["publish", "withdraw"]
    inlines = [HostCardInline, HostComponentInline]
    list_display = ["title", "vendor", "form_name", "system", "seen_on", "state", "source_link"]
    list_filter = ["state", "vendor", "form", "source_kind", OriginFilter]
    list_select_related = ["vendor"]
    search_fields = ["title", "slug", "cpu", "note", "teaches", "cards__reported_name"]
    readonly_fields = ["state", "reason", "data_key", "changed_at"]
    fields = [
        "slug", "title", "vendor", "form", "system", "kernel", ("cpu", "cpu_cores"), "memory_bytes", "virtualisation",
        ("seen_on", "is_month_only"), "source_url", "source_kind", "note", "teaches", "same_machine_as",
        ("state", "reason"), "why", ("data_key", "changed_at"),
    ]  # fmt: skip
    list_per_page = 50

    @admin.display(description=_("form"), ordering="form")
    def form_name(self, host: Host) -> str:
        return str(host.get_form_display())

    @admin.display(description=_("source"))
    def source_link(self, host: Host) -> SafeString:
        return format_html('<a href="{}" rel="noopener">{}</a>', host.source_url, host.source_url[:60])

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Host, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Save all but the state, which only the actions change; a host that is added here waits to be published."""
        stored = Host.objects.select_for_update().filter(pk=obj.pk).first()
        obj.state, obj.reason = (stored.state, stored.reason) if stored else (Host.State.PROPOSED, "")
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Host) -> None:
        self.delete_queryset(request, Host.objects.filter(pk=obj.pk))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Host]) -> None:
        """Delete the hosts; their results stay, as withdrawn."""
        for host in queryset:
            withdraw_host(host, cast("User", request.user), "Deleted in the admin")
        super().delete_queryset(request, queryset)

    @admin.action(description=_("Publish: show its page and its results, with the reason"), permissions=["change"])
    def publish(self, request: HttpRequest, rows: QuerySet[Host]) -> None:
        decide_hosts(self, request, rows, publish_host)

    @admin.action(description=_("Withdraw: hide its page and its results, with the reason"), permissions=["change"])
    def withdraw(self, request: HttpRequest, rows: QuerySet[Host]) -> None:
        decide_hosts(self, request, rows, withdraw_host)


def decide_hosts(
    model_admin: _AnyAdmin, request: HttpRequest, hosts: Iterable[Host], decide: Callable[[Host, User, str], bool]
) -> None:
    """Publish or withdraw the hosts for the reason in the request; say how many were, and why others were not."""
    why = CONTROLS.sub("", request.POST.get("why", "")).strip()
    if not why:
        problem = gettext("Give a reason. It is stored in the history and shown publicly.")
        model_admin.message_user(request, problem, messages.ERROR)
        return
    decided = 0
    for host in hosts:
        try:
            decided += decide(host, cast("User", request.user), why)
        except PublishRefused as error:
            model_admin.message_user(request, str(error), messages.ERROR)
    text = ngettext("%(n)d host decided.", "%(n)d hosts decided.", decided) % {"n": decided}
    model_admin.message_user(request, text, messages.SUCCESS if decided else messages.WARNING)
