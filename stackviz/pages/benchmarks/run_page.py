"""`/benchmarks/runs/<report>/<position>/`: one measured result at an address that stays, and its decisions."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from stackviz.base.units import quantity_label
from stackviz.intake.report_parts.facts import shown_facts
from stackviz.pages.benchmarks.priced import PricedRate, is_priced, priced_rate
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address
from stackviz.records.labs.models import Report, Snapshot
from stackviz.records.labs.queries import visible_reports
from stackviz.records.series.decide_standing import REASON_CHARS, may_decide_about, record_decision
from stackviz.records.series.measured_settings import measured_setting_key
from stackviz.records.series.measurement import round_medians
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.queries import StoredRun, stored_run
from stackviz.records.series.reproduce import reproduce_command
from stackviz.records.series.standing import Standing
from stackviz.records.series.words import sample_statistics, sample_text
from stackviz.report.format.facts import CONDITIONS
from stackviz.report.measuring import BENCHMARKS

__all__ = ["run_page", "urlpatterns"]

_BY_OWNER = (Standing.WITHDRAWN, Standing.SUPERSEDED)  # accepting is for staff, in the admin


class DecisionForm(forms.Form):
    """What an owner says of a result of the own lab."""

    standing = forms.ChoiceField(choices=[(value, value.label) for value in _BY_OWNER], label=gettext_lazy("Decision"))
    reason = forms.CharField(max_length=REASON_CHARS, label=gettext_lazy("Reason"))
    replaced_by = forms.UUIDField(required=False, label=gettext_lazy("Id of the later report"))

    def __init__(self, *arguments: object, report: Report, **more: object) -> None:
        super().__init__(*arguments, **more)  # type: ignore[arg-type]
        self.report = report

    def clean(self) -> dict[str, object]:
        """The report that replaces this one must be a later one of the same machine."""
        cleaned = super().clean() or {}
        later = Report.objects.filter(machine=self.report.machine_id, received_at__gt=self.report.received_at)
        wanted = cleaned.get("replaced_by")
        cleaned["later"] = later.defer("body").filter(pk=wanted).first() if isinstance(wanted, UUID) else None
        if cleaned.get("standing") == Standing.SUPERSEDED and cleaned["later"] is None:
            self.add_error("replaced_by", _("Name a later report of the same machine."))
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
def run_page(request: HttpRequest, report: UUID, position: int) -> HttpResponse:
    """A result of any standing, to whoever may see its machine; an owner of the lab or staff can withdraw it.

    A decision of nobody who is logged in leads to the login, and from there to the result.
    """
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.path)
    row = visible_reports(request.user).filter(pk=report).first()
    run = stored_run(report, position) if row is not None else None
    if row is None or run is None:
        raise Http404
    may_decide = may_decide_about(request.user, row.machine.lab)
    form = DecisionForm(request.POST or None, report=row) if may_decide else None
    if request.method == "POST":
        if form is None:
            raise Http404
        if form.is_valid() and _decided(request, form, row, position):
            return redirect("benchmarks:run", report, position)
    context = run_context(run, row) | {"form": form, "may_decide": may_decide}
    return render(request, "benchmarks/run.html", context)


def _decided(request: HttpRequest, form: DecisionForm, report: Report, position: int) -> bool:
    """Record the decision -> whether that went well; if not, the form says why."""
    result = Result.objects.only("pk", "report_id", "position").get(report=report, position=position)
    chosen = form.cleaned_data
    try:
        record_decision(result, Standing(chosen["standing"]), chosen["reason"], request.user, chosen["later"])
    except ValidationError as error:
        form.add_error(None, error)
        return False
    messages.success(request, _("Recorded. The result left the charts and is in the public log."))
    return True


def run_context(run: StoredRun, report: Report) -> dict[str, object]:
    """Return what the page shows of a result. `rate`, `share` and `command` are "" where there is none."""
    measured = run.measured
    rate, peak = measured.rate, measured.peak
    accelerator = public_catalogue().by_pk.get(measured.accelerator_id or 0)
    can_be_priced = rate is not None and accelerator is not None and is_priced(rate.unit)
    return {
        "measured": measured,
        "report": report,
        "machine": report.machine,
        "accelerator": accelerator,
        "url": _benchmark_url(measured.benchmark_key),
        "ladder_url": _ladder_url(run),
        "rate": f"{rate.label} {rate.spread_label}".strip() if rate else "",
        "share": peak.label if peak else "",
        "peak": quantity_label(peak.peak, rate.unit, digits=4) if peak and rate else "",
        "statistics": sample_statistics(
            measured.summary, measured.unit, round_medians(measured.conditions, run.samples)
        ),
        "samples": [sample_text(sample, measured.unit) for sample in run.samples],
        "conditions": shown_facts(measured.conditions, CONDITIONS),
        "software": _software(report),
        "decisions": _decisions(report, measured.position),
        "command": reproduce_command(measured),
        "is_priced": can_be_priced,
        "priced": _priced(run, accelerator) if can_be_priced else (),
    }


def _priced(run: StoredRun, accelerator: Accelerator | None) -> tuple[PricedRate, ...]:
    """The rate of the one card that ran, against each price of the month in which it was measured."""
    rate = run.measured.rate
    if accelerator is None or rate is None:
        return ()
    return priced_rate(accelerator.pk, rate.value, rate.unit, 1, run.measured.measured_at.date())


def _decisions(report: Report, position: int) -> "QuerySet[ResultDecision]":
    """Newest first."""
    return ResultDecision.objects.filter(report=report, position=position).order_by("-pk").select_related("by")


def _benchmark_url(key: str) -> str:
    return benchmark_address(key) if key in BENCHMARKS or key in CITED_BENCHMARKS else reverse("benchmarks:index")


def _ladder_url(run: StoredRun) -> str:
    """Return the address of the ranking of its setting, "" if the result cannot be ranked."""
    measured = run.measured
    is_ranked = measured.benchmark_key in BENCHMARKS and measured.rate is not None
    return (
        f"{_benchmark_url(measured.benchmark_key)}?measured={measured_setting_key(measured)}#measured"
        if is_ranked
        else ""
    )


def _software(report: Report) -> list[tuple[str, str]]:
    """(component, version), as the report lists them."""
    listed = Snapshot.objects.filter(report=report).values_list("software", flat=True).first() or []
    return [(str(item["component"]), str(item["version"] or _("version not reported"))) for item in listed]


urlpatterns = [path("benchmarks/runs/<uuid:report>/<int:position>/", run_page, name="run")]
