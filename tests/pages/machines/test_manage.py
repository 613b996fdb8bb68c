"""Owners of a lab and staff rename, merge and split machines on their pages; nobody else does."""

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from stackviz.records.labs.models import Machine, MachineMove, Membership
from stackviz.records.series.merge_machines import merge_machines
from stackviz.records.series.models import Series
from tests.pages.machines.factories import START, days, gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
PAGE = "/machines/north/dgx-07/"
MANAGE = f"{PAGE}manage/"


@pytest.fixture
def lab():
    return make_lab("north")


@pytest.fixture
def machine(lab):
    machine = make_machine(lab, "dgx-07", identity="a" * 64)
    make_report(machine, at=START, cards=[h100()], results=[gemm("bf16", [0.0014] * 3)])
    return machine


@pytest.fixture
def twin(lab):
    twin = make_machine(lab, "machine-2901", identity="b" * 64)
    make_report(twin, at=START + days(1), cards=[h100()], results=[gemm("bf16", [0.0013] * 3)])
    return twin


@pytest.fixture
def people(lab, django_user_model):
    made = {name: django_user_model.objects.create_user(name) for name in ("owner", "member", "stranger")}
    lab.memberships.create(user=made["owner"], role=Membership.Role.OWNER)
    lab.memberships.create(user=made["member"])
    for name, codename in (("viewer", "view_machine"), ("curator", "propose"), ("staff", "change_machine")):
        made[name] = django_user_model.objects.create_user(name, is_staff=True)
        made[name].user_permissions.add(*Permission.objects.filter(codename=codename))
    return made


@pytest.fixture
def owner(client, people):
    client.force_login(people["owner"])
    return people["owner"]


@pytest.mark.parametrize(
    ("name", "status"),
    [("owner", 200), ("staff", 200), ("member", 403), ("stranger", 403), ("viewer", 403), ("curator", 403)],
)
def test_only_owners_and_staff_manage_a_machine(client, machine, people, name, status):
    client.force_login(people[name])
    assert client.get(MANAGE).status_code == status
    assert client.post(MANAGE, {"do": "rename", "name": "x"}).status_code == (302 if status == 200 else 403)
    assert Machine.objects.get().name == ("x" if status == 200 else "dgx-07")
    assert (f'href="{MANAGE}"' in client.get(PAGE).content.decode()) == (status == 200)


def test_managing_needs_a_login_and_a_form_of_this_site(client, machine, people):
    assert client.get(MANAGE).url.startswith("/login/")
    assert client.post(MANAGE, {"do": "rename", "name": "x"}).status_code == 302
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["owner"])
    for action in ("rename", "merge", "split", "undo"):
        assert strict.post(MANAGE, {"do": action, "name": "x"}).status_code == 403
    assert Machine.objects.get().name == "dgx-07"


def test_a_private_machine_does_not_exist_for_others(client, machine, twin, people, lab):
    lab.is_public = False
    lab.save()
    for name, status in {"stranger": 404, "viewer": 404, "member": 403, "owner": 200, "staff": 200}.items():
        client.force_login(people[name])
        assert client.get(MANAGE).status_code == status
    stray = make_report(machine, at=START + days(2))
    for posted in (  # staff of no lab are led to a page that they may see
        {"do": "rename", "name": "Rack seven"},
        {"do": "split", "report": str(stray.pk), "name": "dgx-08", "reason": "two computers"},
        {"do": "merge", "target": "machine-2901", "reason": "one computer"},
    ):
        answer = client.post(MANAGE, posted, follow=True)
        assert answer.redirect_chain
        assert answer.status_code == 200, posted


def test_forms_to_a_merged_machine_tell_strangers_nothing(client, machine, twin, people):
    merge_machines(twin, machine, "one computer", people["owner"])
    for name in ("stranger", "member", "viewer"):
        client.force_login(people[name])
        answer = client.post("/machines/north/machine-2901/manage/", {"do": "merge", "target": "dgx-07", "reason": "x"})
        assert answer.status_code == 404
    assert MachineMove.objects.count() == 1


def test_a_renamed_machine_keeps_its_address(client, machine, owner):
    client.get(PAGE)  # its body is cached now
    for name in ("", "   ", "x" * 201, "\x00\x01"):
        answer = client.post(MANAGE, {"do": "rename", "name": name})
        assert answer.status_code == 422, name
        assert Machine.objects.get().name == "dgx-07"
    assert client.post(MANAGE, {"do": "rename", "name": "  Rack   seven "}).url == PAGE
    text = client.get(PAGE).content.decode()
    assert "<h1>Rack seven</h1>" in text
    assert ">dgx-07<" not in text


def test_a_merge_is_shown_before_and_recorded_after(client, machine, twin, owner, django_assert_max_num_queries):
    url = "/machines/north/machine-2901/manage/?merge=dgx-07"
    with django_assert_max_num_queries(18):
        text = client.get(url).content.decode()
    assert "Merge machine-2901 into dgx-07?" in text
    assert not MachineMove.objects.exists()
    posted = {"do": "merge", "target": "dgx-07", "reason": "the agent's id changed"}
    answer = client.post("/machines/north/machine-2901/manage/", posted, follow=True)
    assert answer.redirect_chain[-1][0] == PAGE
    assert "1 report is now with dgx-07" in answer.content.decode()
    twin.refresh_from_db()
    assert twin.merged_into == machine
    again = client.post("/machines/north/machine-2901/manage/", posted)  # the button pressed twice
    assert (again.status_code, again.url) == (302, PAGE)
    assert MachineMove.objects.count() == 1


def test_a_merge_without_a_reason_or_with_a_stranger_is_refused(client, machine, twin, owner):
    make_machine(make_lab("south"), "far")
    url = "/machines/north/machine-2901/manage/"
    for posted in ({"target": "dgx-07", "reason": ""}, {"target": "far", "reason": "x"}, {"reason": "x"}):
        assert client.post(url, {"do": "merge", **posted}).status_code == 422
    assert not MachineMove.objects.exists()


def test_an_undone_merge_is_undone_once(client, machine, twin, owner):
    move = merge_machines(twin, machine, "one computer", owner)
    assert "one computer" in client.get(MANAGE).content.decode()
    undo = {"do": "undo", "move": move.pk}
    assert client.post(MANAGE, undo).status_code == 302
    assert client.post(MANAGE, undo).status_code == 422
    twin.refresh_from_db()
    assert twin.merged_into is None
    for nonsense in ("0", "x", "9" * 30, ""):
        assert client.post(MANAGE, {"do": "undo", "move": nonsense}).status_code == 404


def test_chosen_reports_become_a_machine_of_their_own(client, machine, owner):
    stray = make_report(machine, at=START + days(2))
    assert str(stray.pk) in client.get(f"{MANAGE}?split").content.decode()
    posted = {"do": "split", "report": [str(stray.pk)], "name": "DGX 08", "reason": "another computer"}
    assert client.post(MANAGE, posted).url == "/machines/north/dgx-08/"
    assert client.post(MANAGE, {**posted, "report": ["x"]}).status_code == 422
    stray.refresh_from_db()
    assert stray.machine.name == "DGX 08"


@pytest.mark.parametrize("more", ["", "life/", "history/", "against/?date=2026-11-21", "?format=words"])
def test_the_old_address_leads_to_the_machine_that_stays(client, machine, twin, owner, more):
    merge_machines(twin, machine, "one computer", owner)
    client.logout()
    answer = client.get(f"/machines/north/machine-2901/{more}")
    assert (answer.status_code, answer.url) == (302, f"/machines/north/dgx-07/{more}")
    assert client.get(answer.url).status_code == 200


def test_a_merged_machine_is_in_no_list_and_its_series_move(client, machine, twin, owner):
    old, new = Series.objects.get(machine=twin), Series.objects.get(machine=machine)
    merge_machines(twin, machine, "one computer", owner)
    assert client.get(f"/machines/north/machine-2901/series/{old.pk}/").url == f"{PAGE}series/{new.pk}/"
    assert client.get("/machines/north/machine-2901/series/999999/").url == PAGE
    pages = ("/machines/", "/machines/north/", "/machines/add/", "/search/?q=machine-2901", "/api/v1/machines/", "/")
    for page in pages:
        assert "north/machine-2901" not in client.get(page).content.decode()
    assert "only machine-2901" not in client.get("/machines/add/").content.decode()  # nor can it have keys of its own


def test_a_private_old_address_leads_strangers_nowhere(client, machine, twin, people, lab):
    merge_machines(twin, machine, "one computer", people["owner"])
    lab.is_public = False
    lab.save()
    assert client.get("/machines/north/machine-2901/").status_code == 404
    client.force_login(people["stranger"])
    assert client.get("/machines/north/machine-2901/").status_code == 404
    client.force_login(people["member"])
    assert client.get("/machines/north/machine-2901/").status_code == 302
