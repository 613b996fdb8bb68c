"""Races that must end the same way on any database: the tests of PostgreSQL and of SQLite both run them.

Each returns what a test asserts; threads have connections of their own, started together by a barrier.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest import mock
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client

from stackviz.intake.ingest import interpret as interpret_module
from stackviz.intake.ingest.interpret import interpret, interpret_all
from stackviz.intake.ingest.reading import ReadReport, read
from stackviz.intake.ingest.reread import put_back
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import Card, Finding, Lab, Machine, MachineMove, Report, Snapshot
from stackviz.records.series import merge_machines as merge_machines_module
from stackviz.records.series.decide_standing import record_decision, withdraw_report
from stackviz.records.series.merge_machines import merge_machines
from stackviz.records.series.models import Result, ResultDecision, Series
from stackviz.records.series.rollup import stale_series
from stackviz.records.series.standing import Standing
from tests.report.format.reports import gemm_result, report_body, sha256

SENDERS = 8
READERS = 4  # of a report put back: fewer than MAX_TRIES, which counts the workers that begin to read it


def together(*works: Callable[[], Any]) -> list[Any]:
    """Runs all of these at once -> what each returned. An exception in one is raised here."""
    barrier = threading.Barrier(len(works))
    answers: list[Any] = [None] * len(works)
    errors: list[BaseException] = []

    def run(place: int, work: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(20)
            answers[place] = work()
        except BaseException as error:  # noqa: BLE001 (handed to the test)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, work)) for place, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    return answers


def new_lab() -> tuple[Lab, str]:
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    return lab, create_key(lab=lab, name="k")[1]


def post(secret: str, body: dict[str, Any]) -> int:
    return (
        Client()
        .post(
            "/api/v1/reports/", json.dumps(body), content_type="application/json", HTTP_AUTHORIZATION=f"Bearer {secret}"
        )
        .status_code
    )


def senders_of_one_report() -> tuple[Counter[int], int, int]:
    """The same report from SENDERS at once, its machine unknown -> (answers, reports, machines)."""
    _lab, secret = new_lab()
    body = report_body()
    answers = together(*[lambda: post(secret, body)] * SENDERS)
    return Counter(answers), Report.objects.count(), Machine.objects.count()


def senders_of_two_contents_under_one_id() -> tuple[Counter[int], int]:
    _lab, secret = new_lab()
    body = report_body()
    bodies = [body, body | {"facts": {}}] * (SENDERS // 2)
    answers = together(*[lambda body=body: post(secret, body) for body in bodies])  # type: ignore[misc]
    return Counter(answers), Report.objects.count()


def first_reports_of_one_machine() -> tuple[Counter[int], int, int]:
    """SENDERS reports of one unknown machine at once -> (answers, reports, machines)."""
    _lab, secret = new_lab()
    answers = together(*[lambda: post(secret, report_body())] * SENDERS)
    return Counter(answers), Report.objects.count(), Machine.objects.count()


def first_reports_of_machines_with_one_name() -> tuple[Counter[int], int]:
    _lab, secret = new_lab()
    machines = [{"identity": sha256(str(number)), "name": "node"} for number in range(SENDERS)]
    answers = together(*[lambda m=machine: post(secret, report_body(machine=m)) for machine in machines])  # type: ignore[misc]
    return Counter(answers), Machine.objects.values("slug").distinct().count()


def announced_machine_with_two_first_reports() -> tuple[Counter[int], set[str | None]]:
    """Two computers use one machine's key for the first time, four times each -> (answers, identities)."""
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    machine = Machine.objects.create(lab=lab, slug="m", name="m")
    secret = create_key(lab=lab, machine=machine, name="k")[1]
    machines = [{"identity": sha256(str(number % 2)), "name": None} for number in range(SENDERS)]
    answers = together(*[lambda m=machine: post(secret, report_body(machine=m)) for machine in machines])  # type: ignore[misc]
    return Counter(answers), set(Machine.objects.values_list("identity", flat=True))


def stored(count: int, **changes: Any) -> list[str]:
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    machine = Machine.objects.create(lab=lab, slug="m", name="m")
    ids = []
    for number in range(count):
        body = report_body(created_at=f"2026-11-20T12:{number:02}:00Z", **changes)
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
        ids.append(body["id"])
    return ids


def rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in (Snapshot, Card, Series, Result)}


def readers_of_one_report() -> tuple[Counter[str], dict[str, int], bool]:
    """SENDERS workers read one report at once -> (what each said, rows, whether findings are there once)."""
    (report_id,) = stored(1)
    answers = together(*[lambda: interpret(report_id)] * SENDERS)
    rules = list(Finding.objects.values_list("rule", "title"))
    return Counter(answers), rows(), len(rules) == len(set(rules))


def readers_of_a_report_put_back() -> tuple[Counter[str], dict[str, int], int]:
    """A report that was read is put back and read by READERS workers, all of which have it in hand before one stores it.

    -> (what each said, rows, how many results were written for it).
    """
    (report_id,) = stored(1)
    interpret(report_id)
    put_back([UUID(report_id)])
    before = max(Result.objects.values_list("pk", flat=True))
    in_hand = threading.Barrier(READERS)

    def read_together(*report: Any) -> ReadReport:
        reading = read(*report)
        in_hand.wait(60)
        return reading

    with mock.patch.object(interpret_module, "read", read_together):
        answers = together(*[lambda: interpret(report_id)] * READERS)
    return Counter(answers), rows(), max(Result.objects.values_list("pk", flat=True)) - before


def readers_of_reports_with_the_same_new_series() -> tuple[Counter[str], dict[str, int], bool]:
    """SENDERS reports of one machine, all with the same 40 new settings, each order another, read at once.

    -> (what each said, rows, whether the machine points at the newest).
    """
    settings = [gemm_result(params={"dtype": "fp32", "m": size, "n": size, "k": size}) for size in range(1, 41)]
    ids = stored(SENDERS)
    for number, report_id in enumerate(ids):
        report = Report.objects.get(pk=report_id)
        turned = settings[number * 5 :] + settings[: number * 5]
        report.body = json.dumps(json.loads(bytes(report.body)) | {"results": turned}).encode()
        report.save()
    answers = together(*[lambda i=report_id: interpret(i) for report_id in ids])  # type: ignore[misc]
    newest = Machine.objects.select_related("latest_snapshot").get().latest_snapshot
    return Counter(answers), rows(), newest is not None and str(newest.report_id) == ids[-1]


def readers_beside_deletions() -> tuple[list[str], int, int]:
    """A machine's newest report is deleted while another one of the same series is read, twelve times.

    -> (what the readers said, reports left, results that the series count).
    """
    ids = stored(13)
    interpret_all(ids)
    machine = Machine.objects.get()
    said = []
    for number in range(12):
        body = report_body(created_at=f"2026-11-20T11:{number:02}:00Z")
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
        newest = Report.objects.filter(pk=ids.pop())
        answers = together(lambda it=newest: forget_reports(it), lambda i=body["id"]: interpret(i))  # type: ignore[misc]
        said.append(answers[1])
    return said, Report.objects.count(), sum(Series.objects.values_list("result_count", flat=True))


def withdrawals_of_one_result() -> tuple[list[str], set[str | None]]:
    """SENDERS withdraw the same result for the same reason at once -> (reasons recorded, standings of its rows)."""
    (report_id,) = stored(1)
    interpret(report_id)
    result = Result.objects.get(report=report_id, position=0)
    together(*[lambda: record_decision(result, Standing.WITHDRAWN, "the fan was off", AnonymousUser())] * SENDERS)
    reasons = list(ResultDecision.objects.values_list("reason", flat=True))
    return reasons, set(Result.objects.filter(report=report_id, position=0).values_list("standing", flat=True))


def readers_of_overlapping_batches() -> tuple[set[str], dict[str, int]]:
    """READERS workers read overlapping batches of 12 reports of 4 machines at once, each in another order.

    All make the same new series. -> (what they said, rows).
    """
    ids = stored(12)
    lab = Lab.objects.get()
    machines = [Machine.objects.create(lab=lab, slug=f"m{number}", name="m") for number in range(4)]
    for number, report_id in enumerate(ids):
        Report.objects.filter(pk=report_id).update(machine=machines[number % 4])
    turns = [ids[number * 3 :] + ids[: number * 2] for number in range(READERS)]
    answers = together(*[lambda i=turn: interpret_all(i) for turn in turns])  # type: ignore[misc]
    return {status for answer in answers for status in answer}, rows()


def merges_beside_uploads_and_readers() -> tuple[set[int], dict[str, int], dict[str, set[int | None]], int]:
    """Six times a machine is merged into another while three of its reports come in and two that wait are read.

    Afterwards what still waits is read. -> (answers, rows, machines that reports, snapshots and results are of, by
    table, with None for those merged away; series whose counts are wrong).
    """
    lab, secret = new_lab()
    kept = Machine.objects.create(lab=lab, slug="kept", name="kept", identity=sha256("kept"))
    answers: set[int] = set()
    for number in range(6):
        identity = {"identity": sha256(f"twin {number}"), "name": f"twin-{number}"}
        twin = Machine.objects.create(lab=lab, slug=f"twin-{number}", name="twin", identity=identity["identity"])
        bodies = [report_body(machine=identity, results=[gemm_result()]) for _ in range(5)]
        answers |= {post(secret, body) for body in bodies[:2]}
        uploads = [lambda body=body: post(secret, body) for body in bodies[2:]]  # type: ignore[misc]
        readers = [lambda i=body["id"]: interpret(i) for body in bodies[:2]]  # type: ignore[misc]
        said = together(
            lambda t=twin: merge_machines(t, kept, "one computer", AnonymousUser()),  # type: ignore[misc]
            *uploads,
            *readers,
        )
        answers |= set(said[1:4])
        interpret_all([body["id"] for body in bodies])
    merged = set(Machine.objects.filter(merged_into__isnull=False).values_list("pk", flat=True))
    places = {
        "Report": Report.objects.values_list("machine", flat=True),
        "Snapshot": Snapshot.objects.values_list("machine", flat=True),
        "Result": Result.objects.values_list("series__machine", flat=True),
    }
    at = {name: {None if pk in merged else pk - kept.pk for pk in pks} for name, pks in places.items()}
    return answers, rows() | {"Report": Report.objects.count()}, at, sum(len(batch) for batch in stale_series())


def one_merge_sent_by_eight_at_once() -> tuple[int, int, set[str]]:
    """-> (merges recorded, reports of the machine that stays, what those who came too late were told)."""
    stored(4)
    twin = Machine.objects.get()
    kept = Machine.objects.create(lab_id=twin.lab_id, slug="kept", name="kept")

    def merge() -> str:
        try:
            merge_machines(twin, kept, "one computer", AnonymousUser())
        except ValidationError as error:
            return " ".join(error.messages)
        return ""

    said = set(together(*[merge] * SENDERS)) - {""}
    return MachineMove.objects.count(), kept.reports.count(), said


def split_beside_an_upload_of_its_slug() -> tuple[int, list[str]]:
    """A machine is split; once a free address for the new one is found, the first report of a machine of that name
    comes in -> (its answer, addresses of both). SQLite has one writer: there it is stored after the split.
    """
    ids = stored(2)
    machine = Machine.objects.get()
    secret = create_key(lab=machine.lab, name="k")[1]
    found, taken = threading.Event(), threading.Event()
    free_slug = merge_machines_module.free_slug

    def find_and_wait(lab_id: int, name: str) -> str:
        slug = free_slug(lab_id, name)
        found.set()
        taken.wait(20 if connection.vendor == "postgresql" else 1)
        return slug

    def upload() -> int:
        found.wait(20)
        status = post(secret, report_body(machine={"identity": sha256("new"), "name": "box"}))
        taken.set()
        return status

    with mock.patch.object(merge_machines_module, "free_slug", find_and_wait):
        move, status = together(
            lambda: merge_machines_module.split_machine(
                machine, [UUID(ids[0])], "box", "another computer", AnonymousUser()
            ),
            upload,
        )
    slugs = Machine.objects.exclude(pk=machine.pk).order_by("pk").values_list("slug", flat=True)
    assert move.target.slug in slugs
    return status, sorted(slugs)


def withdrawal_beside_a_reader() -> list[tuple[str | None, set[str | None], bool]]:
    """A report is withdrawn while it is read again, six times -> (its state, its results', whether it is shown)."""
    ids = stored(6)
    interpret_all(ids)
    put_back([UUID(pk) for pk in ids])
    outcomes = []
    for pk in ids:
        report = Report.objects.get(pk=pk)
        together(
            lambda r=report: withdraw_report(r, "the fan was off", AnonymousUser()),  # type: ignore[misc]
            lambda i=pk: interpret(i),  # type: ignore[misc]
        )
        report.refresh_from_db()
        standings = set(Result.objects.filter(report=pk).values_list("standing", flat=True))
        outcomes.append((report.withdrawal, standings, Machine.objects.filter(latest_snapshot__report=pk).exists()))
    return outcomes
