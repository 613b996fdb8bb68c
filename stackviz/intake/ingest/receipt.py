"""What became of an upload, for its page and its JSON: the stages it went through and all that was not understood."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.core.signing import Signer
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.records.labs.keys import Sender
from stackviz.records.labs.models import Card, Report
from stackviz.records.labs.queries import Visitor, visible_reports
from stackviz.records.series.models import Result
from stackviz.web.http.addresses import address_by_id

TOKEN = "t"  # noqa: S105 (the name in the query string, no password)
_signer = Signer(salt="stackviz.ingest.receipt")


def token(report_id: UUID) -> str:
    return _signer.signature(str(report_id))


def receipt_path(report_id: UUID, *, is_public: bool) -> str:
    return _path("ingest:receipt", report_id, is_public=is_public)


def status_path(report_id: UUID, *, is_public: bool) -> str:
    return _path("api:report_status", report_id, is_public=is_public)


def _path(name: str, report_id: UUID, *, is_public: bool) -> str:
    signature = "" if is_public else f"?{TOKEN}={token(report_id)}"
    return f"{address_by_id(name, report_id)}{signature}"


def readable_report(request: HttpRequest, report_id: UUID, sender: Sender | None = None) -> Report | None:
    """The report, if this request may see it: a public lab's, a member's, with a signed link, or its lab's own key.

    None otherwise, the same as for a report that does not exist. The body is left in the database.
    """
    report = Report.objects.select_related("machine__lab").defer("body").filter(pk=report_id).first()
    if report is None or report.machine.lab.is_public or _is_signed(request, report_id):
        return report
    if sender is not None and sender.speaks_for(report.machine):
        return report
    user: Visitor = request.user
    return report if visible_reports(user).filter(pk=report_id).exists() else None


def _is_signed(request: HttpRequest, report_id: UUID) -> bool:
    given = request.GET.get(TOKEN, "")
    return bool(given) and constant_time_compare(given, token(report_id))


Warning_ = dict[str, str]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step on the way. `state`: done, active, waiting or failed; `at` None: not there yet."""

    name: str
    title: str
    state: str
    at: datetime | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning in words. `where`: the path in the report it is about."""

    code: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """`results`: how many runs ended in which state; `unmatched`: reported names that no accelerator of ours has."""

    report: Report
    stages: tuple[Stage, ...]
    notices: tuple[Notice, ...]
    unmatched: tuple[str, ...]
    results: dict[str, int]

    @property
    def is_put_off(self) -> bool:
        """Whether it waits because of a fault of the site, until `report.retry_at`."""
        return self.report.status == Report.Status.RECEIVED and self.report.retry_at is not None

    @property
    def is_final(self) -> bool:
        return self.report.status != Report.Status.RECEIVED

    @property
    def is_all_understood(self) -> bool:
        return not (self.notices or self.unmatched or self.report.unknown_fields)

    @property
    def summary(self) -> str:
        """The state in one sentence, for the head of the page and for screen readers."""
        if self.report.withdrawal:
            return _("Withdrawn; its results do not count")
        if self.is_put_off:
            return _("Stored safely; the site had a fault and reads it again later")
        return {
            Report.Status.RECEIVED.value: _("Stored safely; waiting to be read"),
            Report.Status.READ.value: _("Read, and shown on the machine's page"),
            Report.Status.FAILED.value: _("Stored, but it could not be read"),
        }[self.report.status]


def receipt_of(report: Report) -> Receipt:
    """The receipt of a report whose machine and lab are loaded. Two queries once it is read, none before."""
    if report.status != Report.Status.READ:
        return Receipt(report, _stages(report, {}), (), (), {})
    unmatched = Card.objects.filter(snapshot__report=report.pk, accelerator=None).order_by("index")
    results = dict(Counter(Result.objects.filter(report=report.pk).values_list("state", flat=True)))
    return Receipt(
        report=report,
        stages=_stages(report, results),
        notices=tuple(Notice(w["code"], w["where"], warning_text(w)) for w in report.warnings),
        unmatched=tuple(dict.fromkeys(unmatched.values_list("reported_name", flat=True))),
        results=results,
    )


def _stages(report: Report, results: dict[str, int]) -> tuple[Stage, ...]:
    state = {"received": "active", "read": "done", "failed": "failed"}[report.status]
    after = "done" if report.status == Report.Status.READ else "waiting"
    read_at = report.read_at if report.status != Report.Status.RECEIVED else None
    charted_at = read_at if report.status == Report.Status.READ else None
    return (
        Stage("received", _("Received"), "done", report.received_at, _("complete and well-formed")),
        Stage("stored", _("Stored"), "done", report.received_at, _stored_detail(report)),
        Stage("read", _("Read"), state, read_at, _reading_detail(report)),
        Stage("charted", _("Charted"), after, charted_at, _results_text(results) if charted_at else ""),
    )


def _stored_detail(report: Report) -> str:
    if report.is_body_stored:
        return _("as it was sent")
    return _("the raw report is no longer stored; what was read from it is")


def _reading_detail(report: Report) -> str:
    if report.status == Report.Status.FAILED:
        return report.error
    if report.status == Report.Status.RECEIVED and report.retry_at is not None:
        return _put_off_detail(report, report.retry_at)
    if report.status == Report.Status.RECEIVED:
        return _("queued for processing; it is retried automatically if no worker picks it up")
    return _("cards, software, findings and results")


def _put_off_detail(report: Report, retry_at: datetime) -> str:
    """What the site lacked, and when the report is tried again; an hour that is over is not shown."""
    text = _("not the report's fault: %(fault)s. It is tried again at %(time)s UTC (fault %(count)d).")
    if retry_at <= timezone.now():
        text = _("not the report's fault: %(fault)s. It is tried again now (fault %(count)d).")
    moment = retry_at.astimezone(UTC)
    return text % {"fault": report.get_fault_display(), "time": f"{moment:%H:%M:%S}", "count": report.faults}


def _results_text(results: dict[str, int]) -> str:
    total = sum(results.values())
    if not total:
        return _("no results in this report; findings are on the machine's page")
    text = ngettext("%(count)d result", "%(count)d results", total) % {"count": total}
    odd = [
        (results.get("failed", 0), _("%(count)d failed")),
        (results.get("skipped", 0), _("%(count)d skipped")),
    ]
    return ", ".join([text, *(words % {"count": count} for count, words in odd if count)])


def warning_text(warning: Warning_) -> str:
    """A stored warning in words; one of a kind this version no longer writes is shown as it is."""
    known = {
        "clock-ahead": _("The machine's clock is ahead by %(detail)s; the time the report arrived is used."),
        "clock-was-ahead": _(
            "The machine's clock is ahead by %(detail)s; the times in this report are corrected by that."
        ),
        "clock-was-behind": _(
            "The machine's clock is behind by %(detail)s; the times in this report are corrected by that."
        ),
        "benchmark-unknown": _("Unknown benchmark %(detail)s; its samples are stored as seconds."),
        "probe-failed": _("A probe failed: %(detail)s"),
        "probe-timeout": _("A probe timed out: %(detail)s"),
    }
    return known.get(warning["code"], "%(detail)s") % {"detail": warning["detail"]}
