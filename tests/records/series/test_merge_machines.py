"""Two machine rows that are one computer become one, a split takes reports out again, and both can be undone exactly."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command

from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import AgentKey, Card, Finding, Lab, Machine, MachineMove, Report, Snapshot
from stackviz.records.series.merge_machines import merge_machines, split_machine, undo_move
from stackviz.records.series.models import ChangeDecision, Result, Series
from stackviz.records.series.public_runs import measured_edition
from tests.pages.machines.factories import (
    START,
    copy,
    days,
    gemm,
    h100,
    make_lab,
    make_machine,
    make_report,
    make_waiting_report,
    warning,
)

pytestmark = pytest.mark.django_db
MODELS = (Machine, AgentKey, Report, Snapshot, Card, Finding, Series, Result, ChangeDecision)
MOVING = {"times_read"}  # grows with every change, on purpose


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


@pytest.fixture
def lab():
    return make_lab("north")


@pytest.fixture
def two(lab):
    """(what the agent made, what an admin named): each with reports, one setting in common, keys and a finding."""
    new = make_machine(lab, "machine-290190d8", identity="a" * 64)
    old = make_machine(lab, "dgx-07", identity="b" * 64)
    make_report(old, at=START, cards=[h100()], results=[gemm("bf16", [0.0014] * 3), copy([0.002, 0.0021])])
    make_report(new, at=START + days(1), cards=[h100()], findings=[warning()], results=[gemm("bf16", [0.0012] * 3)])
    make_report(new, at=START + days(2), cards=[h100()], results=[gemm("fp16", [0.0011] * 3)])
    for machine in (new, old):
        create_key(lab=lab, machine=machine, name=f"of {machine.name}")
    return new, old


def everything() -> dict[str, dict[object, dict[str, object]]]:
    """All rows that a move may touch."""
    rows = {}
    for model in MODELS:
        fields = [field.attname for field in model._meta.concrete_fields if field.attname not in MOVING]
        rows[model.__name__] = {row["id"]: row for row in model.objects.order_by("pk").values(*fields)}
    return rows


def check_counts():
    """Every series keeps what its results come to; `check_series` fails otherwise."""
    call_command("check_series")


def test_all_that_one_machine_had_is_with_the_other(two, ada):
    new, old = two
    counted = {model: model.objects.count() for model in (Report, Snapshot, Card, Finding, Result)}
    move = merge_machines(new, old, "one computer, the agent's id changed", ada)
    assert {model: model.objects.count() for model in counted} == counted
    for rows in (Report.objects.all(), Snapshot.objects.all(), AgentKey.objects.all()):
        assert set(rows.values_list("machine", flat=True)) == {old.pk}
    assert set(Result.objects.values_list("series__machine", flat=True)) == {old.pk}
    bf16 = Series.objects.get(machine=old, params__dtype="bf16")
    assert (bf16.result_count, bf16.results.count(), bf16.latest_at) == (2, 2, START + days(1))
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.latest_taken_at, old.latest_snapshot.facts != {}) == (START + days(2), True)
    assert (new.merged_into, new.latest_snapshot, new.identity) == (old, None, "a" * 64)
    assert (move.report_count, move.action, move.made_by) == (2, "merge", ada)
    check_counts()


def test_an_undone_merge_leaves_every_row_as_it_was(two, ada):
    new, old = two
    bf16 = Series.objects.get(machine=new, params__dtype="bf16")
    report = Report.objects.filter(machine=new).order_by("received_at").first()
    ChangeDecision.objects.create(series=bf16, report=report, since=START, factor=1.2, answer="confirmed")
    before = everything()
    move = merge_machines(new, old, "one computer", ada)
    assert everything() != before
    assert ChangeDecision.objects.get().series.machine == old
    undo_move(move, ada)
    assert everything() == before
    move.refresh_from_db()
    assert (move.undone_by, move.undone_at is not None) == (ada, True)
    check_counts()


def test_the_newest_snapshot_is_right_whichever_machine_is_kept(two, ada):
    new, old = two
    merge_machines(old, new, "the agent's name is better", ada)
    new.refresh_from_db()
    assert new.latest_taken_at == START + days(2)
    old.refresh_from_db()
    assert old.merged_into == new


def test_an_announced_machine_takes_the_identity(lab, two, ada):
    new, _old = two
    announced = make_machine(lab, "dgx-08")
    before = everything()
    move = merge_machines(new, announced, "it was announced under this name", ada)
    announced.refresh_from_db()
    new.refresh_from_db()
    assert (announced.identity, new.identity) == ("a" * 64, None)
    undo_move(move, ada)
    assert everything() == before


def test_a_chain_of_merges_is_undone_from_its_end(lab, two, ada):
    new, old = two
    third = make_machine(lab, "rack-3", identity="c" * 64)
    before = everything()
    first = merge_machines(new, old, "one computer", ada)
    between = everything()
    second = merge_machines(old, third, "and this", ada)
    new.refresh_from_db()
    assert new.merged_into == third
    with pytest.raises(ValidationError, match="Undo that first"):
        undo_move(first, ada)
    undo_move(second, ada)
    assert everything() == between
    undo_move(first, ada)
    assert everything() == before


def test_what_was_sent_since_stays_and_is_counted(two, ada):
    new, old = two
    move = merge_machines(new, old, "one computer", ada)
    later = make_report(old, at=move.made_at + days(1), results=[gemm("bf16", [0.0013] * 3)])
    assert undo_move(move, ada) == 1
    later.refresh_from_db()
    assert later.machine == old
    check_counts()


def test_a_report_that_waits_is_read_for_the_other_machine(two, ada):
    new, old = two
    waiting = make_waiting_report(new, START + days(3))
    Report.objects.filter(pk=waiting.pk).update(queued_at=START)
    merge_machines(new, old, "one computer", ada)
    waiting.refresh_from_db()
    assert (waiting.machine, waiting.queued_at) == (old, None)  # the periodic task queues it at its next turn


def test_a_merge_and_its_undoing_renew_answers(two, ada):
    editions = [measured_edition()]
    move = merge_machines(*two, "one computer", ada)
    editions.append(measured_edition())
    undo_move(move, ada)
    editions.append(measured_edition())
    assert len(set(editions)) == 3


@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_a_merge_needs_a_reason_of_a_sentence(two, ada, reason):
    with pytest.raises(ValidationError, match="reason"):
        merge_machines(*two, reason, ada)
    assert not MachineMove.objects.exists()


def test_a_machine_is_merged_once_with_another_of_its_lab(two, ada):
    new, old = two
    with pytest.raises(ValidationError, match="another machine than this one"):
        merge_machines(new, new, "why", ada)
    with pytest.raises(ValidationError, match="same lab"):
        merge_machines(new, make_machine(make_lab("south"), "far"), "why", ada)
    move = merge_machines(new, old, "one computer", ada)
    for pair in ((new, old), (old, new)):
        with pytest.raises(ValidationError, match="merged into another machine meanwhile"):
            merge_machines(*pair, "again", ada)
    undo_move(move, ada)
    with pytest.raises(ValidationError, match="undone already"):
        undo_move(move, ada)
    assert MachineMove.objects.count() == 1


def test_chosen_reports_move_to_a_new_machine_and_back(two, ada):
    _new, old = two
    stray = make_report(old, at=START + days(5), cards=[h100()], results=[gemm("bf16", [0.01] * 3)])
    before = everything()
    move = split_machine(old, [stray.pk], "DGX 08", "it was another computer", ada)
    made = move.target
    assert (made.slug, made.name, made.lab_id) == ("dgx-08", "DGX 08", old.lab_id)
    old.refresh_from_db()
    made.refresh_from_db()
    assert (old.latest_taken_at, made.latest_taken_at) == (START, START + days(5))
    assert Series.objects.get(machine=made).result_count == 1
    check_counts()
    undo_move(move, ada)
    after = everything()
    made.refresh_from_db()
    assert made.merged_into == old  # its address leads back
    after["Machine"].pop(made.pk)
    left = [key for key, row in after["Series"].items() if row["machine_id"] == made.pk]
    assert [after["Series"].pop(key)["result_count"] for key in left] == [0]
    assert after == before


@pytest.mark.parametrize(
    ("chosen", "name", "problem"),
    [("none", "x", "Choose reports"), ("all", "x", "Leave at least one"), ("one", " ", "a name"), ("many", "x", "500")],
)
def test_a_split_that_makes_no_sense_is_refused(two, ada, chosen, name, problem):
    new, _old = two
    own = list(Report.objects.filter(machine=new).values_list("pk", flat=True))
    picked = {"none": [uuid.uuid4()], "all": own, "one": own[:1], "many": [uuid.uuid4() for _ in range(501)]}[chosen]
    with pytest.raises(ValidationError, match=problem):
        split_machine(new, picked, name, "why", ada)
    assert Machine.objects.count() == 2


def test_the_cost_of_a_merge_does_not_grow_with_reports(two, ada, django_assert_max_num_queries):
    new, old = two
    for day in range(3, 23):
        make_report(new, at=START + days(day), results=[gemm("bf16", [0.0012] * 3), gemm("fp16", [0.0011] * 3)])
    with django_assert_max_num_queries(45) as counted:
        merge_machines(new, old, "one computer", ada)
    assert len(counted) <= 45
    assert Lab.objects.get().machines.filter(merged_into=None).count() == 1
