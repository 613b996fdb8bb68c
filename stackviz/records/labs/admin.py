"""Admin of labs, members, machines and keys; read-only views of snapshots and findings."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.records.labs.keys import create_key, revoke
from stackviz.records.labs.models import (
    AgentKey,
    Card,
    Finding,
    Lab,
    Machine,
    MachineMove,
    Membership,
    ReportWithdrawal,
    Snapshot,
)
from stackviz.records.labs.readonly_admin import CascadingDeleteAdmin, ReadOnlyAdmin, ReadOnlyInline, pretty_json
from stackviz.records.labs.withdraw import withdraw_lab, withdraw_machine
from stackviz.web.relation_admin import RelationAdmin

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _MembershipInline = admin.TabularInline[Membership, Lab]
    _LabAdmin = admin.ModelAdmin[Lab]
    _MachineAdmin = admin.ModelAdmin[Machine]
    _AgentKeyAdmin = admin.ModelAdmin[AgentKey]
    _KeyForm = ModelForm[AgentKey]
else:
    _MembershipInline = admin.TabularInline
    _LabAdmin = _MachineAdmin = _AgentKeyAdmin = admin.ModelAdmin
    _KeyForm = ModelForm


class MembershipInline(RelationAdmin, _MembershipInline):
    model = Membership
    autocomplete_fields = ["user"]
    extra = 1


@admin.register(Lab)
class LabAdmin(CascadingDeleteAdmin, _LabAdmin):
    list_display = ["name", "slug", "is_public", "machine_count", "created_at"]
    ordering = ["slug"]  # counting rows of others drops the model's own
    list_filter = ["is_public"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Lab]:
        labs: QuerySet[Lab] = super().get_queryset(request)
        return labs.annotate(machine_count=Count("machines", filter=Q(machines__merged_into__isnull=True)))

    def delete_model(self, request: HttpRequest, obj: Lab) -> None:
        withdraw_lab(obj, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Lab]) -> None:
        for lab in queryset:
            withdraw_lab(lab, request.user)

    @admin.display(description=gettext_lazy("machines"), ordering="machine_count")
    def machine_count(self, lab: Lab) -> int:
        return int(lab.machine_count)  # type: ignore[attr-defined]  # annotated above


@admin.register(Machine)
class MachineAdmin(CascadingDeleteAdmin, RelationAdmin, _MachineAdmin):
    list_display = ["name", "slug", "lab", "short_identity", "latest_taken_at", "now", "created_at"]
    list_filter = ["lab", "latest_taken_at", ("merged_into", admin.EmptyFieldListFilter)]
    list_select_related = ["lab", "merged_into"]
    actions = ["merge_two"]
    change_form_template = "labs/admin/machine.html"
    search_fields = ["name", "slug", "identity", "lab__name"]
    autocomplete_fields = ["lab"]
    readonly_fields = ["latest_taken_at", "created_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Machine | None = None) -> Any:  # noqa: ANN401
        """The lab of an existing machine is read-only, because its keys and reports belong to that lab."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "lab"] if obj else fields

    @admin.display(description=gettext_lazy("state"))
    def now(self, machine: Machine) -> str:
        if machine.merged_into is None:
            return "—"
        return _("merged into %(name)s") % {"name": machine.merged_into.name}

    @admin.action(description=gettext_lazy("Merge two machines that are one computer"), permissions=["change"])
    def merge_two(self, request: HttpRequest, queryset: QuerySet[Machine]) -> HttpResponse | None:
        """Leads to the page that shows both; the machine made first stays unless they are swapped there."""
        chosen = list(queryset.filter(merged_into__isnull=True).select_related("lab").order_by("created_at", "pk")[:3])
        if len(chosen) != 2 or chosen[0].lab_id != chosen[1].lab_id:
            text = _("Select two machines of the same lab that are not merged yet.")
            self.message_user(request, text, messages.ERROR)
            return None
        stays, goes = chosen
        return HttpResponseRedirect(f"{goes.get_absolute_url()}manage/?merge={stays.slug}")

    def delete_model(self, request: HttpRequest, obj: Machine) -> None:
        withdraw_machine(obj, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Those merged into another one that is chosen, too, go with it."""
        for machine in queryset.order_by("-merged_into"):
            if Machine.objects.filter(pk=machine.pk).exists():
                withdraw_machine(machine, request.user)

    @admin.display(description=gettext_lazy("identity"))
    def short_identity(self, machine: Machine) -> str:
        return f"{machine.identity[:12]}…" if machine.identity else _("not reported yet")


KEY_INPUTS = ["lab", "machine", "name", "expires_at"]
KEY_READONLY = ["scope", "prefix", "state", "created_at", "created_by", "last_used_at", "revoked_at"]


class KeyState(admin.SimpleListFilter):
    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ANN401, ARG002
        return [("valid", _("valid")), ("revoked", _("revoked")), ("expired", _("expired"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentKey]) -> QuerySet[AgentKey]:  # noqa: ARG002
        expired = {"expires_at__lte": timezone.now()}
        if self.value() == "revoked":
            return queryset.filter(revoked_at__isnull=False)
        if self.value() == "expired":
            return queryset.filter(revoked_at__isnull=True, **expired)
        if self.value() == "valid":
            return queryset.filter(revoked_at__isnull=True).exclude(**expired)
        return queryset


@admin.register(AgentKey)
class AgentKeyAdmin(RelationAdmin, _AgentKeyAdmin):
    """Creates a key and shows its secret once; later only name and expiry can be changed, or the key revoked."""

    list_display = ["name", "prefix", "lab", "scope", "machine", "state", "created_at", "expires_at", "last_used_at"]
    list_filter = [KeyState, "lab"]
    list_select_related = ["lab", "machine"]
    search_fields = ["name", "prefix", "lab__name", "machine__name"]
    autocomplete_fields = ["lab", "machine"]
    actions = ["revoke_keys"]

    def get_fields(self, request: HttpRequest, obj: AgentKey | None = None) -> Any:  # noqa: ANN401, ARG002
        return [*KEY_INPUTS, *KEY_READONLY] if obj else KEY_INPUTS

    def get_readonly_fields(self, request: HttpRequest, obj: AgentKey | None = None) -> Any:  # noqa: ANN401, ARG002
        return ["lab", "machine", *KEY_READONLY] if obj else []

    @admin.display(description=gettext_lazy("state"))
    def state(self, key: AgentKey) -> str:
        if key.revoked_at is not None:
            return _("revoked")
        return _("expired") if key.is_expired(timezone.now()) else _("valid")

    def save_model(self, request: HttpRequest, obj: AgentKey, form: _KeyForm, change: bool) -> None:  # noqa: FBT001
        if change:
            super().save_model(request, obj, form, change)
            return
        person = request.user if request.user.is_authenticated else None
        made, secret = create_key(
            lab=obj.lab, machine=obj.machine, name=obj.name, expires_at=obj.expires_at, created_by=person
        )
        # The form's object becomes the created row, so that the admin's log and links refer to it.
        obj.__dict__.update(made.__dict__)
        request._agent_key = secret  # type: ignore[attr-defined]  # noqa: SLF001 (read by response_add only)

    def response_add(self, request: HttpRequest, obj: AgentKey, post_url_continue: str | None = None) -> HttpResponse:  # noqa: ARG002
        """The page with the secret, in this response only: a message would store it in a cookie or the session."""
        context = {**self.admin_site.each_context(request), "title": _("Key created"), "key": obj, "opts": self.opts}
        context["secret"] = request._agent_key  # type: ignore[attr-defined]  # noqa: SLF001
        answer = TemplateResponse(request, "labs/admin/key_created.html", context)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @admin.action(description=gettext_lazy("Revoke selected keys"), permissions=["change"])
    def revoke_keys(self, request: HttpRequest, queryset: QuerySet[AgentKey]) -> HttpResponse | None:
        """Asks once: a revoked key never opens anything again."""
        if "confirmed" not in request.POST:
            return self._ask_before_revoking(request, queryset)
        count = 0
        for key in queryset.filter(revoked_at__isnull=True):
            revoke(key)
            count += 1
        text = ngettext("%(count)d key was revoked.", "%(count)d keys were revoked.", count) % {"count": count}
        self.message_user(request, text, messages.SUCCESS)
        return None

    def _ask_before_revoking(self, request: HttpRequest, keys: QuerySet[AgentKey]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Revoke keys"),
            "opts": self.opts,
            "keys": keys.filter(revoked_at__isnull=True).select_related("lab", "machine"),
            "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        }
        return TemplateResponse(request, "labs/admin/revoke.html", context)


class CardInline(ReadOnlyInline):
    model = Card
    fields = ["index", "kind", "vendor", "reported_name", "accelerator", "match_how", "memory_bytes"]


class FindingInline(ReadOnlyInline):
    model = Finding
    fields = ["severity", "rule", "component", "title"]


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ["machine", "taken_at", "agent"]
    list_filter = ["machine__lab", "taken_at"]
    list_select_related = ["machine"]
    search_fields = ["machine__name", "machine__slug", "=report__id"]
    shown = ("machine", "report", "taken_at", "agent", "all_facts", "all_absent", "all_software", "all_probes")
    inlines = [CardInline, FindingInline]

    @admin.display(description=gettext_lazy("facts"))
    def all_facts(self, snapshot: Snapshot) -> SafeString:
        return pretty_json(snapshot.facts)

    @admin.display(description=gettext_lazy("missing facts"))
    def all_absent(self, snapshot: Snapshot) -> SafeString:
        return pretty_json(snapshot.absent)

    @admin.display(description=gettext_lazy("software"))
    def all_software(self, snapshot: Snapshot) -> SafeString:
        return pretty_json(snapshot.software)

    @admin.display(description=gettext_lazy("probes"))
    def all_probes(self, snapshot: Snapshot) -> SafeString:
        return pretty_json(snapshot.probes)


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin):
    list_display = ["title", "severity", "rule", "component", "of_machine"]
    list_filter = ["severity", "rule"]
    list_select_related = ["snapshot__machine"]
    search_fields = ["title", "rule", "snapshot__machine__name"]

    @admin.display(description=gettext_lazy("machine"))
    def of_machine(self, finding: Finding) -> str:
        return finding.snapshot.machine.name


@admin.register(MachineMove)
class MachineMoveAdmin(ReadOnlyAdmin):
    """What was merged and split; undone on the page of the machine."""

    list_display = ["made_at", "action", "source", "target", "report_count", "reason", "made_by", "undone_at"]
    list_filter = ["action", "target__lab"]
    list_select_related = ["source", "target", "made_by"]
    search_fields = ["source__name", "target__name", "reason"]
    shown = (
        "action", "source", "target", "report_count", "reason", "made_by", "made_at", "undone_by", "undone_at",
        "where_to_undo",
    )  # fmt: skip

    @admin.display(description=gettext_lazy("undo"))
    def where_to_undo(self, move: MachineMove) -> SafeString | str:
        if move.undone_at is not None:
            return _("undone")
        return format_html(
            '<a href="{}manage/#moves">{}</a>', move.target.get_absolute_url(), _("on the machine's page")
        )


@admin.register(ReportWithdrawal)
class ReportWithdrawalAdmin(ReadOnlyAdmin):
    """Reports that labs took back; undone on the receipt."""

    list_display = ["made_at", "machine", "reason", "made_by", "undone_at", "receipt"]
    list_filter = ["report__machine__lab"]
    list_select_related = ["report__machine", "made_by"]
    search_fields = ["=report__id", "report__machine__name", "reason"]
    shown = ("machine", "receipt", "reason", "made_by", "made_at", "undone_by", "undone_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReportWithdrawal]:
        rows: QuerySet[ReportWithdrawal] = super().get_queryset(request)
        return rows.defer("report__body")

    @admin.display(description=gettext_lazy("machine"))
    def machine(self, withdrawal: ReportWithdrawal) -> str:
        return withdrawal.report.machine.name

    @admin.display(description=gettext_lazy("receipt"))
    def receipt(self, withdrawal: ReportWithdrawal) -> SafeString:
        return format_html('<a href="{}">{}</a>', withdrawal.report.get_absolute_url(), _("receipt"))
