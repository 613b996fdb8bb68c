"""Events of labs: what is one, that each is stored once, and that none is lost."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.ingest.reread import put_back
from stackviz.intake.notices import note_events
from stackviz.intake.notices.models import LabEvent, PendingReport
from stackviz.intake.notices.note_events import MAX_TRIES, note_pending, note_silence
from stackviz.intake.notices.queries import event_address, event_title, lab_events
from stackviz.intake.notices.tasks import note_lab_events
from stackviz.records.labs.heartbeats import note_heartbeat
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import AgentHeartbeat, Report
from stackviz.records.series.merge_machines import merge_machines
from stackviz.records.series.models import Result
from tests.pages.machines.factories import START, days, gemm, make_lab, make_machine, make_report, warning
from tests.pages.machines.test_history import JITTER
from tests.report.format.reports import report_body, sha256

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine():
    return make_machine(make_lab("north", is_public=False), "dgx-07")


def send(machine, day=0, **fields):
    """A report that was read just now, and is pending."""
    report = make_report(machine, at=START + days(day), **fields)
    PendingReport.objects.create(report=report)
    return report


def noted():
    """The events that one turn writes, oldest first."""
    before = set(LabEvent.objects.values_list("pk", flat=True))
    note_pending(30)
    return list(LabEvent.objects.exclude(pk__in=before).order_by("pk"))


def titles(events):
    return [event.details["title"] for event in events]


# --- findings ---


def test_a_finding_is_new_once(machine):
    first = send(machine, 0, findings=[warning()])
    (event,) = noted()
    assert (event.kind, event.report_id, event.lab_id) == ("finding", first.pk, machine.lab_id)
    assert event.happened_at == START
    assert event_title(event) == "dgx-07: The driver branch is near its end"
    assert event_address(event) == "/machines/north/dgx-07/"
    send(machine, 1, findings=[warning("The driver branch ends in a month")])
    assert noted() == []
    assert not PendingReport.objects.exists()


def test_what_went_and_comes_back_is_new_again(machine):
    for day, findings in enumerate(([warning()], [], [warning()])):
        send(machine, day, findings=findings)
    assert [event.happened_at for event in noted()] == [START, START + days(2)]


def test_worse_is_new_better_is_not_and_notes_never_are(machine):
    for day, severity in enumerate(("note", "warning", "broken", "warning")):
        send(machine, day, findings=[warning(severity=severity)])
    assert [event.details["severity"] for event in noted()] == ["warning", "broken"]


def test_a_second_card_with_the_same_fault_is_new(machine):
    send(machine, 0, findings=[warning("card 1 is hot")])
    send(machine, 1, findings=[warning("card 0 is hot"), warning("card 1 is hot")])
    assert titles(noted()) == ["card 1 is hot", "card 0 is hot"]


def test_reports_are_compared_in_the_order_of_their_time(machine):
    for day, findings in ((2, [warning()]), (1, [warning()]), (3, [])):  # they wait together
        send(machine, day, findings=findings)
    assert [event.happened_at for event in noted()] == [START + days(1)]
    send(machine, 2, findings=[warning("Another", rule="other")])  # behind newer ones
    assert noted() == []
    assert not PendingReport.objects.exists()


def test_a_withdrawn_report_brings_and_shows_no_events(machine):
    withdrawn = send(machine, 0, findings=[warning()])
    shown = send(machine, 1, findings=[warning(), warning("Another", rule="other")])
    Report.objects.filter(pk=withdrawn.pk).update(withdrawal="withdrawn")
    assert {event.report_id for event in noted()} == {shown.pk}
    Report.objects.filter(pk=shown.pk).update(withdrawal="withdrawn")
    assert not lab_events(machine.lab).exists()


# --- change points ---


def measure(machine, day, factor=1.0):
    seconds = 0.0014 * factor * JITTER[day % 10]
    return send(machine, day, results=[gemm("bf16", [seconds * (1 + 0.0001 * n) for n in range(8)])])


def measure_days(machine, count, is_slow, factor=1.0526, *, noting=False):
    """Measure each day, slower on days of which `is_slow` holds."""
    for day in range(count):
        measure(machine, day, factor if is_slow(day) else 1.0)
        if noting:
            note_pending(30)


def test_a_change_point_is_noted_once(machine):
    measure_days(machine, 30, lambda day: day >= 10, noting=True)
    (event,) = LabEvent.objects.all()
    series = machine.series.get()
    assert (event.kind, event.series) == ("change-point", series)
    assert abs((event.happened_at - START).days - 10) <= 2
    assert event_title(event) == "dgx-07: 5 % slower: Matrix product bf16 8192³ · cuda:0"
    assert event_address(event) == f"/machines/north/dgx-07/series/{series.pk}/"


def test_what_changed_before_this_site_looked_is_no_news(machine):
    measure_days(machine, 20, lambda day: day >= 10)
    PendingReport.objects.all().delete()
    measure(machine, 20, 1.0526)
    assert noted() == []


def test_back_to_the_old_level_is_another_change(machine):
    measure_days(machine, 36, lambda day: 12 <= day < 24, noting=True)
    assert [event.details["factor"] > 1 for event in LabEvent.objects.order_by("pk")] == [False, True]


def test_a_short_spell_is_two_changes(machine):
    measure_days(machine, 30, lambda day: 12 <= day < 16, 1.3, noting=True)
    assert [event.details["factor"] > 1 for event in LabEvent.objects.order_by("happened_at")] == [False, True]


def test_results_that_do_not_count_make_no_change(machine):
    measure_days(machine, 20, lambda day: day >= 10)
    Result.objects.filter(measured_at__gte=START + days(10)).update(standing="withdrawn")
    assert noted() == []


def test_events_follow_reports_to_another_machine(machine, django_user_model):
    measure_days(machine, 20, lambda day: day >= 10)
    assert [event.kind for event in noted()] == ["change-point"]  # of a backlog as if each had been looked at
    other = make_machine(machine.lab, "dgx-08")
    merge_machines(machine, other, "one computer", django_user_model.objects.create_superuser("root"))
    event = lab_events(machine.lab).get()
    assert event_title(event).startswith("dgx-08: 5 % slower")
    assert event_address(event) == "/machines/north/dgx-08/"


# --- silence ---


def silence(machine, hours):
    key, _secret = create_key(lab=machine.lab, name="cron")
    note_heartbeat(machine.pk, key.pk, 3600)
    AgentHeartbeat.objects.update(heard_at=timezone.now() - timedelta(hours=hours))


def test_silence_is_noted_once_and_again_after_a_sign_of_life(machine):
    silence(machine, 2.9)
    assert note_silence() == 0
    silence(machine, 3.1)
    assert [note_silence(), note_silence()] == [1, 0]
    event = LabEvent.objects.get()
    assert event_title(event).startswith("dgx-07: silent; last heard of on 20")
    assert event.report_id is None
    silence(machine, 0)
    assert note_silence() == 0
    assert note_silence(timezone.now() + timedelta(hours=4)) == 1
    assert LabEvent.objects.count() == 2


def test_machines_silent_long_before_or_merged_are_no_news(machine):
    silence(machine, 24 * 30)
    assert note_silence() == 0
    AgentHeartbeat.objects.all().delete()
    silence(machine, 5)
    type(machine).objects.filter(pk=machine.pk).update(merged_into=make_machine(machine.lab, "dgx-08"))
    assert note_silence() == 0


def test_silence_of_many_machines_costs_two_statements(machine, django_assert_max_num_queries):
    key, _secret = create_key(lab=machine.lab, name="cron")
    for number in range(20):
        note_heartbeat(make_machine(machine.lab, f"n{number}").pk, key.pk, 3600)
    AgentHeartbeat.objects.update(heard_at=timezone.now() - timedelta(hours=5))
    with django_assert_max_num_queries(4):  # with those around a bulk insert
        assert note_silence() == 20


# --- none lost, none twice ---


def test_only_the_first_reading_leaves_a_report_pending(machine):
    body = report_body()
    type(machine).objects.filter(pk=machine.pk).update(identity=sha256("x"))
    report = Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
    assert interpret(report.pk) == "read"
    assert str(PendingReport.objects.get()) == report.pk
    note_lab_events()
    assert not PendingReport.objects.exists()
    put_back([report.pk])
    assert interpret(report.pk) == "read"
    assert not PendingReport.objects.exists()


def test_a_worker_that_dies_leaves_and_loses_nothing(machine, monkeypatch):
    send(machine, findings=[warning()])
    monkeypatch.setattr(PendingReport.objects.all().__class__, "delete", lambda _rows: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        note_events._note_reports_of(machine)
    assert not LabEvent.objects.exists()
    monkeypatch.undo()
    assert len(noted()) == 1


def test_two_workers_at_once_write_one_event(machine, monkeypatch):
    """The second finds the same while the first writes it."""
    send(machine, findings=[warning()])
    found = note_events._finding_events

    def overtaken(of_machine, pending):
        events = list(found(of_machine, pending))
        monkeypatch.setattr(note_events, "_finding_events", found)
        note_events._note_reports_of(of_machine)
        return events

    monkeypatch.setattr(note_events, "_finding_events", overtaken)
    assert note_events._note_reports_of(machine) == 0
    assert LabEvent.objects.count() == 1


def test_a_machine_that_fails_keeps_nobody_waiting(machine, monkeypatch, caplog):
    good = make_machine(machine.lab, "good")
    send(machine, findings=[warning()])
    send(good, findings=[warning()])
    found = note_events._finding_events
    monkeypatch.setattr(
        note_events,
        "_finding_events",
        lambda of_machine, pending: 1 / 0 if of_machine == machine else found(of_machine, pending),
    )
    assert note_pending(30) == 1
    assert PendingReport.objects.get().tries == 1
    for _turn in range(MAX_TRIES - 1):
        note_pending(30)
    assert not PendingReport.objects.exists()
    assert "given up after 5 attempts" in caplog.text


def test_the_cost_does_not_grow_with_the_reports(machine, django_assert_max_num_queries):
    for day in range(40):
        measure(machine, day)
    with django_assert_max_num_queries(20):
        assert note_pending(30) == 40
