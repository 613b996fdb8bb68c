"""Old reports lose their bodies, and nothing else; run by test_drop_bodies.py and tests/postgres on their databases."""

import gzip
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from stackviz.intake.ingest.accept import ReportConflict, accept_report
from stackviz.intake.ingest.body import drop_old_bodies
from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.ingest.reread import put_back
from stackviz.intake.ingest.tasks import drop_old_raw_reports
from stackviz.records.labs.keys import authenticate, create_key
from stackviz.records.labs.models import Lab, Report, Snapshot
from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import stale_series
from tests.report.format.reports import report_body


class DropBodies:
    @pytest.fixture(autouse=True)
    def days(self, settings):
        settings.RAW_REPORT_DAYS = 30

    @pytest.fixture
    def sender(self):
        lab, _made = Lab.objects.get_or_create(slug="north", defaults={"name": "North", "is_public": True})
        return authenticate(f"Bearer {create_key(lab=lab, name='k')[1]}")

    @pytest.fixture
    def send(self, sender):
        def send(body: dict, *, days: float = 0, read: bool = True) -> Report:
            """The report, arrived so many days ago."""
            accept_report(sender, json.dumps(body).encode(), "")
            Report.objects.filter(pk=body["id"]).update(received_at=timezone.now() - timedelta(days=days))
            if read:
                interpret(body["id"])
            return Report.objects.get(pk=body["id"])

        return send

    def test_only_bodies_of_old_reports_that_were_read_are_dropped(self, send):
        old, new = send(report_body(), days=31), send(report_body(), days=29)
        waiting, failed = send(report_body(), days=31, read=False), send(report_body(), days=31)
        Report.objects.filter(pk=failed.pk).update(status="failed", error="a reason")
        before = self.all_but_reports()
        assert drop_old_bodies() == 1
        assert {report.pk for report in Report.objects.all() if not report.is_body_stored} == {old.pk}
        assert {bytes(report.body) for report in Report.objects.filter(pk=old.pk)} == {b""}
        for report in (new, waiting, failed):
            assert bytes(Report.objects.get(pk=report.pk).body) == bytes(report.body)
        assert self.all_but_reports() == before
        assert not any(stale_series())
        assert drop_old_bodies() == 0

    def all_but_reports(self):
        return [list(model.objects.order_by("pk").values()) for model in (Snapshot, Series, Result)]

    def test_by_default_everything_stays(self, send, settings):
        settings.RAW_REPORT_DAYS = 0
        send(report_body(), days=10_000)
        assert drop_old_raw_reports() == "0 dropped"
        assert all(report.is_body_stored for report in Report.objects.all())

    def test_more_than_fit_into_one_transaction(self, send, monkeypatch):
        monkeypatch.setattr("stackviz.intake.ingest.body.BODIES_TOGETHER", 2)
        for _number in range(5):
            send(report_body(), days=40)
        Report.objects.update(received_at=Report.objects.earliest("received_at").received_at)
        assert drop_old_raw_reports() == "5 dropped"

    def test_the_same_report_sent_again_is_recognised_and_counts_once(self, send, sender):
        body = report_body()
        send(body, days=40)
        drop_old_bodies()
        results = Result.objects.count()
        reordered = dict(reversed(list(body.items())))
        for sent, encoding in (
            (json.dumps(body).encode(), ""),
            (gzip.compress(json.dumps(reordered, indent=1).encode()), "gzip"),
        ):
            assert not accept_report(sender, sent, encoding).is_new
        report = Report.objects.get()
        assert (report.status, report.is_body_stored, Result.objects.count()) == ("read", False, results)

    def test_another_report_under_its_id_is_refused(self, send, sender):
        body = report_body()
        send(body, days=40)
        drop_old_bodies()
        with pytest.raises(ReportConflict):
            accept_report(sender, json.dumps(body | {"facts": {"os.name": "other"}}).encode(), "")

    def test_it_cannot_be_read_again_and_says_so(self, send, client):
        old, new = send(report_body(), days=40), send(report_body())
        drop_old_bodies()
        with pytest.raises(CommandError, match="no longer stored"):
            call_command("reread_reports", "--id", str(old.pk))
        out = StringIO()
        call_command("reread_reports", "--all", stdout=out, stderr=StringIO())
        assert "1 of 2 reports read, 0 failed" in out.getvalue()
        assert "1 left as they are: the raw report is no longer stored" in out.getvalue()
        assert put_back([old.pk, new.pk]) == [new.pk]
        client.force_login(User.objects.create_superuser("root"))
        form = {"action": "have_read_again", "_selected_action": [str(old.pk)]}
        page = client.post("/admin/labs/report/", form, follow=True).content.decode()
        assert "1 report cannot be read again" in page
        assert "queued to be read again" not in page
        assert Report.objects.get(pk=old.pk).status == "read"

    def test_pages_say_that_it_is_no_longer_stored(self, send, client):
        report = send(report_body(), days=40)
        words = "the raw report is no longer stored"
        addresses = [report.get_absolute_url(), f"/api/v1/reports/{report.pk}/"]
        client.force_login(User.objects.create_superuser("root"))
        addresses.append(f"/admin/labs/report/{report.pk}/change/")
        assert not any(words in client.get(address).content.decode() for address in addresses)
        drop_old_bodies()
        assert all(words in client.get(address).content.decode() for address in addresses)

    def test_a_report_put_back_since_we_looked_keeps_its_body(self, send, monkeypatch):
        report = send(report_body(), days=40)
        from stackviz.intake.ingest import body as drop_bodies

        look = drop_bodies._old_reports

        def look_and_put_back(*arguments):
            rows = look(*arguments)
            put_back([report.pk])
            return rows

        monkeypatch.setattr(drop_bodies, "_old_reports", look_and_put_back)
        assert drop_bodies._drop(drop_bodies._old_reports(None, timezone.now())) == 0
        assert interpret(report.pk) == "read"
