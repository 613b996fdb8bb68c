"""The admin: keys shown once, reports to look at, names to give."""

import json
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.catalog.models import Accelerator, Alias, Vendor
from stackviz.records.labs.keys import authenticate
from stackviz.records.labs.models import AgentKey, Card, Finding, Lab, Machine, Report, Snapshot
from stackviz.records.series.models import Result, Series
from tests.report.format.reports import h100_card, report_body

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def read_report(lab, machine) -> Report:
    body = report_body(
        facts={"os.name": EVIL},
        cards=[h100_card(reported_name="NVIDIA Z9000"), h100_card(index=1, reported_name=EVIL)],
    )
    report = Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
    assert interpret(report.pk) == "read"
    Finding.objects.create(snapshot=report.snapshot, rule="r", severity="warning", title=EVIL)
    return report


MODELS = [Lab, Machine, AgentKey, Report, Snapshot, Card, Finding, Series, Result]


def page_of(model, page: str) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_list_and_page_opens_and_runs_nothing(desk, read_report, lab, model):
    AgentKey.objects.create(lab=lab, name=EVIL, prefix="abcdefgh", digest="0" * 64)
    rows = reverse(page_of(model, "changelist"))
    page = reverse(page_of(model, "change"), args=[model.objects.first().pk])
    for address in (rows, page, f"{rows}?q=nothing", f"{rows}?q=00000000-0000-4000-8000-000000000000"):
        response = desk.get(address)
        assert response.status_code == 200, address
        assert EVIL not in response.content.decode()


@pytest.mark.parametrize("box", [{}, {"is_public": "on"}], ids=["left alone", "ticked"])
def test_a_new_lab_is_private_unless_the_box_is_ticked(desk, box):
    address = reverse("admin:labs_lab_add")
    shown = re.search(r'<input type="checkbox" name="is_public"[^>]*>', desk.get(address).content.decode())[0]
    assert "checked" not in shown
    form = {"name": "East lab", "slug": "east", "memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0, **box}
    assert desk.post(address, form).status_code == 302
    assert Lab.objects.get(slug="east").is_public is bool(box)


@pytest.mark.parametrize("model", [Report, Snapshot, Card, Finding, Series, Result], ids=lambda model: model.__name__)
def test_what_machines_sent_is_not_edited_or_deleted(desk, read_report, model):
    pk = model.objects.first().pk
    assert desk.get(reverse(page_of(model, "add"))).status_code == 403
    assert desk.post(reverse(page_of(model, "change"), args=[pk]), {"status": "read"}).status_code == 403
    if model is not Report:
        assert desk.post(reverse(page_of(model, "delete"), args=[pk]), {"post": "yes"}).status_code == 403
    assert model.objects.filter(pk=pk).exists()


def test_a_list_costs_as_many_queries_for_many_rows_as_for_few(desk, read_report, lab, django_assert_max_num_queries):
    for number in range(12):
        Machine.objects.create(lab=lab, slug=f"m{number}", name="m")
        AgentKey.objects.create(lab=lab, name="k", prefix=f"{number:08}", digest="0" * 64)
        body = report_body()
        Report.objects.create(id=body["id"], machine=read_report.machine, body=json.dumps(body).encode())
        interpret(body["id"])
    for model in MODELS:
        with django_assert_max_num_queries(12) as captured:
            desk.get(reverse(page_of(model, "changelist")))
        assert not any('"labs_report"."body"' in query["sql"] for query in captured)


def test_a_report_is_shown_as_it_was_sent(desk, read_report):
    page = desk.get(f"/admin/labs/report/{read_report.pk}/change/").content.decode()
    assert "NVIDIA Z9000" in page
    assert "Intel" not in page
    assert "&lt;script&gt;" in page


def test_a_body_that_cannot_be_shown_says_so(desk, machine):
    Report.objects.create(id=report_body()["id"], machine=machine, body=b"\x1f\x8b", encoding="gzip")
    page = desk.get(f"/admin/labs/report/{Report.objects.get().pk}/change/").content.decode()
    assert "cannot be shown" in page


def test_deleting_a_report_shows_the_machines_report_before(desk, read_report, machine):
    machine.refresh_from_db()
    assert machine.latest_snapshot is not None
    desk.post(f"/admin/labs/report/{read_report.pk}/delete/", {"post": "yes"})
    machine.refresh_from_db()
    assert (Report.objects.count(), machine.latest_snapshot, machine.latest_taken_at) == (0, None, None)


def test_a_machine_goes_with_all_it_reported(desk, read_report, machine):
    desk.post(f"/admin/labs/machine/{machine.pk}/delete/", {"post": "yes"})
    assert Report.objects.count() == 0


def test_a_machine_stays_in_its_lab(desk, machine):
    page = desk.get(f"/admin/labs/machine/{machine.pk}/change/").content.decode()
    assert 'name="slug"' in page
    assert 'name="lab"' not in page


def test_deleting_a_lab_lists_what_goes_with_it(desk, read_report, lab):
    page = desk.get(f"/admin/labs/lab/{lab.pk}/delete/").content.decode()
    for line in ("machines: 1", "reports: 1", "cards: 2", "results: 2", "series: 2"):
        assert line in page
    assert "NVIDIA Z9000" not in page
    desk.post(f"/admin/labs/lab/{lab.pk}/delete/", {"post": "yes"})
    assert [model.objects.count() for model in MODELS] == [0] * len(MODELS)


def test_of_very_many_rows_only_so_many_are_counted(desk, read_report, lab, monkeypatch):
    monkeypatch.setattr("stackviz.records.labs.readonly_admin.COUNTED", 1)
    page = desk.get(f"/admin/labs/lab/{lab.pk}/delete/").content.decode()
    assert "results: more than 1" in page
    for path in ("/admin/labs/report/", "/admin/benchmarks/result/", "/admin/labs/snapshot/?q=dgx"):
        with CaptureQueriesContext(connection) as captured:
            assert desk.get(path).status_code == 200
        counts = [query["sql"] for query in captured.captured_queries if "COUNT(" in query["sql"]]
        assert counts
        assert all("LIMIT 1)" in sql for sql in counts), counts


# --- keys ---


def make_key(desk, lab, **fields):
    form = {"lab": lab.pk, "machine": "", "name": "cron", "expires_at_0": "", "expires_at_1": "", **fields}
    return desk.post("/admin/labs/agentkey/add/", form)


def secret_in(response) -> str:
    return re.search(r"aw_[a-z0-9]{8}_[A-Za-z0-9_-]{43}", response.content.decode())[0]


def test_a_new_keys_secret_is_shown_once_and_works(desk, lab):
    response = make_key(desk, lab)
    key = AgentKey.objects.get()
    assert authenticate(f"Bearer {secret_in(response)}").key_id == key.pk
    assert "no-store" in response.headers["Cache-Control"]
    assert key.created_by.username == "admin"
    for page in ("/admin/labs/agentkey/", f"/admin/labs/agentkey/{key.pk}/change/", "/admin/"):
        assert secret_in(response) not in desk.get(page).content.decode()


def test_the_secret_is_in_no_cookie_session_or_log(desk, lab, caplog):
    response = make_key(desk, lab)
    secret = secret_in(response)
    kept = " ".join(
        [response.cookies.output(), caplog.text, *(str(session.get_decoded()) for session in Session.objects.all())]
    )
    assert secret not in kept


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"machine": "of another lab"}, "another lab"),
        ({"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}, "expiry date must be after"),
    ],
)
def test_a_key_is_of_its_lab_and_ends_later(desk, dark, machine, fields, problem):
    sent = {name: machine.pk if name == "machine" else value for name, value in fields.items()}
    assert problem in make_key(desk, dark, **sent).content.decode()
    assert not AgentKey.objects.exists()


def test_saving_a_key_keeps_its_secret(desk, lab):
    secret = secret_in(make_key(desk, lab))
    key = AgentKey.objects.get()
    form = {"name": "another name", "expires_at_0": "", "expires_at_1": ""}
    assert desk.post(f"/admin/labs/agentkey/{key.pk}/change/", form).status_code == 302
    key.refresh_from_db()
    assert key.name == "another name"
    assert authenticate(f"Bearer {secret}").key_id == key.pk


def test_chosen_keys_are_revoked_once_confirmed(desk, lab):
    make_key(desk, lab)
    key = AgentKey.objects.get()
    chosen = {"action": "revoke_keys", "_selected_action": [key.pk]}
    asked = desk.post("/admin/labs/agentkey/", chosen).content.decode()
    assert "can no longer upload" in asked
    assert f'name="_selected_action" value="{key.pk}"' in asked
    key.refresh_from_db()
    assert key.revoked_at is None
    desk.post("/admin/labs/agentkey/", {**chosen, "confirmed": "1"})
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert "cron" in desk.get("/admin/labs/agentkey/?state=revoked").content.decode()
    assert "0 agent keys" in desk.get("/admin/labs/agentkey/?state=valid").content.decode()


# --- names without a sheet ---


@pytest.fixture
def z9000(db) -> Accelerator:
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    return Accelerator.objects.create(slug="z9000", name="Z9000", vendor=vendor, kind="gpu")


def test_names_without_a_sheet_are_counted(desk, read_report):
    page = desk.get("/admin/labs/card/names/").content.decode()
    assert "NVIDIA Z9000" in page
    assert EVIL not in page
    assert "/admin/labs/card/names/" in desk.get("/admin/labs/card/").content.decode()


def test_assigned_name_links_waiting_cards(desk, read_report, z9000):
    form = {"reported_name": "NVIDIA Z9000", "vendor": "nvidia", "accelerator": z9000.pk, "seen": 0}
    desk.post("/admin/labs/card/names/", form)
    assert Card.objects.get(index=0).accelerator == z9000
    assert Card.objects.get(index=1).accelerator is None
    alias = Alias.objects.get()
    assert (alias.accelerator, alias.name) == (z9000, "NVIDIA Z9000")
    queue = desk.get("/admin/labs/card/names/").content.decode().partition("<h2>")[0]
    assert "NVIDIA Z9000" not in re.findall(r"<code>(.*?)</code>", queue)


def test_a_name_that_says_nothing_is_refused(desk, read_report, z9000):
    Card.objects.update(reported_name="(TM)", vendor="nvidia")
    form = {"reported_name": "(TM)", "vendor": "nvidia", "accelerator": z9000.pk, "seen": 0}
    response = desk.post("/admin/labs/card/names/", form, follow=True)
    assert "This name consists only of the vendor" in response.content.decode()
    assert not Alias.objects.exists()


def test_names_are_seen_by_some_and_given_by_fewer(client, read_report, z9000):
    staff = User.objects.create_user("staff", is_staff=True)
    client.force_login(staff)
    assert client.get("/admin/labs/card/names/").status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_card"))
    assert client.get("/admin/labs/card/names/").status_code == 200
    form = {"reported_name": "NVIDIA Z9000", "accelerator": z9000.pk, "seen": 0}
    assert client.post("/admin/labs/card/names/", form).status_code == 403
    assert not Alias.objects.exists()


def test_chosen_cards_are_matched_again(desk, read_report, z9000):
    Alias.objects.create(accelerator=z9000, name="NVIDIA Z9000")
    chosen = list(Card.objects.values_list("pk", flat=True))
    desk.post("/admin/labs/card/", {"action": "match_again", "_selected_action": chosen})
    assert Card.objects.filter(accelerator=z9000).count() == 1
    assert list(Card.objects.order_by("index").values_list("match_how", flat=True)) == ["name", "unknown"]


def test_the_unmatched_filter_shows_cards_without_a_sheet(desk, read_report, z9000):
    Card.objects.filter(index=1).update(accelerator=z9000)
    assert "1 card" in desk.get("/admin/labs/card/?sheet=none").content.decode()
