"""Admin of public hosts: list, filter, correct, publish and withdraw with a reason; cards and software with their host.

Rows of the curated files that are changed here keep their changes when the files are loaded again.
"""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.curated_admin import FileLoadAdmin, HistoryAdmin, OriginFilter, WhyForm
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.models import Host, HostCard, HostComponent, HostLoad
from stackviz.records.hosts.privacy import private_part_of, problem_of_address
from stackviz.records.hosts.software import is_software_name
from stackviz.web.relation_admin import RelationAdmin

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _PublicHostForm = forms.ModelForm[Host]
    _ComponentForm = forms.ModelForm[HostComponent]
    _HostCardInline = admin.TabularInline[HostCard, Host]
    _HostComponentInline = admin.TabularInline[HostComponent, Host]
else:
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


@admin.register(Host)
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
        ("seen_on", "is_month_only"), "source_url", "source_kind", "note", "teaches", ("state", "reason"), "why",
        ("data_key", "changed_at"),
    ]  # fmt: skip
    list_per_page = 50

    @admin.display(description=_("form"), ordering="form")
    def form_name(self, host: Host) -> str:
        return str(host.get_form_display())

    @admin.display(description=_("source"))
    def source_link(self, host: Host) -> SafeString:
        return format_html('<a href="{}" rel="noopener">{}</a>', host.source_url, host.source_url[:60])

    def save_model(self, request: HttpRequest, obj: Host, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """A host that is added here waits until somebody publishes it."""
        if not change:
            obj.state = Host.State.PROPOSED
        super().save_model(request, obj, form, change)

    @admin.action(description=_("Publish: show its page, with the reason"), permissions=["change"])
    def publish(self, request: HttpRequest, rows: QuerySet[Host]) -> None:
        self._change_state(request, rows, Host.State.PUBLIC)

    @admin.action(description=_("Withdraw: take its page away, with the reason"), permissions=["change"])
    def withdraw(self, request: HttpRequest, rows: QuerySet[Host]) -> None:
        self._change_state(request, rows, Host.State.WITHDRAWN)

    def _change_state(self, request: HttpRequest, rows: QuerySet[Host], state: Host.State) -> None:
        why = CONTROLS.sub("", request.POST.get("why", "")).strip()
        if not why:
            self.message_user(request, gettext("Give a reason. It is stored in the history."), messages.ERROR)
            return
        by, changed = cast("User", request.user), 0
        for host in rows:
            if state == Host.State.PUBLIC and _was_added_by(host, by):
                text = gettext("%(host)s: you added it, so somebody else publishes it.")
                self.message_user(request, text % {"host": host}, messages.WARNING)
                continue
            host.state = state
            host.reason = why if state == Host.State.WITHDRAWN else ""
            host.set_change_reason(why)
            host._history_user = by  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history reads it
            host.save()
            changed += 1
        text = ngettext("%(n)d host changed.", "%(n)d hosts changed.", changed) % {"n": changed}
        self.message_user(request, text, messages.SUCCESS if changed else messages.WARNING)


def _was_added_by(host: Host, user: User) -> bool:
    """Return whether a second person has to look at it: two are needed here, and this one added it."""
    if settings.CURATION_APPROVALS == 1 or host.state != Host.State.PROPOSED:
        return False
    first = host.history.filter(history_type="+").order_by("history_date").first()
    return first is not None and first.history_user_id == user.pk


admin.site.register(HostLoad, FileLoadAdmin)
