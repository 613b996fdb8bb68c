"""A report that is withdrawn leaves machine, charts, bests and baselines; restored, all is as it was."""

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.core.exceptions import ValidationError
from django.core.management import call_command

from stackviz.records.labs.models import Machine, Membership, Report, ReportWithdrawal
from stackviz.records.series.decide_standing import (
    may_decide_about,
    may_undo_withdrawals,
    record_decision,
    restore_report,
    withdraw_report,
)
from stackviz.records.series.models import Result, Series
from stackviz.records.series.standing import Standing
from tests.pages.machines.factories import START, days, gemm, h100, make_lab, make_machine, make_report, warning

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


@pytest.fixture
def machine():
    """A machine with an earlier and a wrong newest report."""
    machine = make_machine(make_lab("north"), "dgx-07")
    make_report(machine, at=START, cards=[h100()], results=[gemm("bf16", [0.0014] * 3)])
    results = [gemm("bf16", [0.0001] * 3), gemm("fp16", [0.0002] * 3, flags="above-bound", standing="flagged")]
    make_report(machine, at=START + days(1), cards=[h100()], findings=[warning()], results=results)
    return machine


def newest(machine: Machine) -> Report:
    return Report.objects.filter(machine=machine).order_by("-received_at").first()


def state() -> tuple[object, ...]:
    fields = ("id", "latest_result", "latest_at", "baseline", "baseline_spread", "baseline_runs", "result_count")
    return (
        list(Machine.objects.values_list("latest_snapshot", "latest_taken_at")),
        list(Result.objects.order_by("pk").values_list("pk", "standing")),
        list(Series.objects.order_by("pk").values_list(*fields)),
        list(Report.objects.order_by("pk").values_list("pk", "withdrawal")),
    )


def test_a_withdrawn_report_is_no_longer_what_the_machine_shows(machine, ada):
    wrong = newest(machine)
    withdraw_report(wrong, "the clock of the machine was wrong", ada)
    machine.refresh_from_db()
    assert machine.latest_taken_at == START
    assert set(Result.objects.filter(report=wrong).values_list("standing", flat=True)) == {"withdrawn"}
    bf16 = Series.objects.get(params__dtype="bf16")
    assert (bf16.baseline, bf16.baseline_runs, bf16.result_count) == (0.0014, 1, 2)
    call_command("check_series")


@pytest.mark.parametrize("is_accepted", [True, False], ids=["accepted", "flagged"])
def test_a_restored_report_counts_exactly_as_it_did(machine, ada, is_accepted):
    wrong = newest(machine)
    if is_accepted:
        record_decision(Result.objects.get(report=wrong, position=1), Standing.ACCEPTED, "the peak was wrong", ada)
    before = state()
    withdraw_report(wrong, "a mistake", ada)
    assert state() != before
    restore_report(wrong, ada)
    assert state() == before
    kept = ReportWithdrawal.objects.get()
    assert (kept.reason, kept.made_by, kept.undone_by, kept.undone_at is not None) == ("a mistake", ada, ada, True)


def test_a_machine_whose_only_report_is_withdrawn_shows_none(ada):
    machine = make_machine(make_lab("south"), "lone")
    report = make_report(machine)
    withdraw_report(report, "sent by mistake", ada)
    machine.refresh_from_db()
    assert (machine.latest_snapshot, machine.latest_taken_at) == (None, None)


def test_a_later_report_may_supersede_it(machine, ada):
    wrong = newest(machine)
    later = make_report(machine, at=START + days(2), results=[gemm("bf16", [0.0013] * 3)])
    made = withdraw_report(wrong, "measured again with the fan on", ada, replaced_by=later)
    wrong.refresh_from_db()
    assert (wrong.withdrawal, made.replaced_by) == ("superseded", later)
    assert set(wrong.results.values_list("standing", flat=True)) == {"superseded"}


def test_only_a_later_report_of_the_same_machine_supersedes(machine, ada):
    wrong = newest(machine)
    elsewhere = make_report(make_machine(machine.lab, "other"), at=START + days(3))
    earlier = Report.objects.filter(machine=machine).order_by("received_at").first()
    for other in (wrong, earlier, elsewhere):
        with pytest.raises(ValidationError):
            withdraw_report(wrong, "why", ada, replaced_by=other)
    assert not ReportWithdrawal.objects.exists()


def test_a_report_is_withdrawn_once_and_restored_once(machine, ada):
    wrong = newest(machine)
    withdraw_report(wrong, "why", ada)
    with pytest.raises(ValidationError, match="withdrawn already"):
        withdraw_report(wrong, "again", ada)
    restore_report(wrong, ada)
    with pytest.raises(ValidationError, match="not withdrawn"):
        restore_report(wrong, ada)
    withdraw_report(wrong, "after all", ada)
    assert list(ReportWithdrawal.objects.values_list("reason", flat=True)) == ["after all", "why"]


def test_results_of_a_withdrawn_report_are_not_decided(machine, ada):
    wrong = newest(machine)
    withdraw_report(wrong, "why", ada)
    with pytest.raises(ValidationError, match="whole report is withdrawn"):
        record_decision(wrong.results.first(), Standing.ACCEPTED, "but it is right", ada)
    assert set(wrong.results.values_list("standing", flat=True)) == {"withdrawn"}


@pytest.mark.parametrize("reason", ["", " \n ", "x" * 301])
def test_a_withdrawal_needs_a_reason(machine, ada, reason):
    with pytest.raises(ValidationError, match="reason"):
        withdraw_report(newest(machine), reason, ada)


def test_owners_and_staff_withdraw_and_only_staff_restores(machine, django_user_model):
    people = {name: django_user_model.objects.create_user(name) for name in ("owner", "member", "stranger", "viewer")}
    machine.lab.memberships.create(user=people["owner"], role=Membership.Role.OWNER)
    machine.lab.memberships.create(user=people["member"])
    staff = django_user_model.objects.create_user("staff", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="change_result"))
    viewer = people["viewer"]
    viewer.is_staff = True
    viewer.save()
    viewer.user_permissions.add(Permission.objects.get(codename="view_result"))
    everybody = {**people, "staff": staff, "nobody": AnonymousUser()}
    assert {name for name, user in everybody.items() if may_decide_about(user, machine.lab)} == {"owner", "staff"}
    assert {name for name, user in everybody.items() if may_undo_withdrawals(user)} == {"staff"}


def test_withdrawing_costs_the_same_for_many_results(ada, django_assert_max_num_queries):
    machine = make_machine(make_lab("south"), "big")
    results = [gemm("bf16", [0.001] * 3, side=side) for side in range(1, 60)]
    report = make_report(machine, results=results)
    with django_assert_max_num_queries(16):
        withdraw_report(report, "why", ada)
    report.refresh_from_db()
    assert report.withdrawal == "withdrawn"
