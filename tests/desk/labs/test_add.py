"""Adding a machine: keys for members, the agent's file, and what arrives."""

import hashlib
import re
import subprocess
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from stackviz.agent.bundle import WHEEL_NAME
from stackviz.desk.labs.agent_file import agent_commands
from stackviz.records.labs.keys import authenticate
from stackviz.records.labs.models import AgentKey, Membership
from tests.pages.machines.factories import days, make_lab, make_machine, make_report, make_waiting_report

pytestmark = pytest.mark.django_db

ADD = "/machines/add/"


@pytest.fixture
def lab():
    return make_lab("north")


@pytest.fixture
def member(client, django_user_model, lab):
    """A member of the lab north, logged in."""
    user = django_user_model.objects.create_user("mei")
    lab.memberships.create(user=user)
    client.force_login(user)
    return user


def make_key(client, lab, **changes):
    return client.post(ADD, {"name": "dgx-07, cron", "scope": f"lab:{lab.pk}", "lifetime": "90", **changes})


@pytest.fixture
def key(client, member, lab):
    """A key that the member made."""
    make_key(client, lab)
    return AgentKey.objects.get()


@pytest.mark.parametrize(
    ("host", "is_told"), [("127.0.0.1:8000", True), ("localhost", True), ("[::1]:8000", True), ("testserver", False)]
)
def test_a_stranger_is_told_the_line_and_whom_to_ask(client, lab, settings, host, is_told):
    """And that no other machine reaches an address of this one alone."""
    settings.ALLOWED_HOSTS = ["*"]
    text = client.get(ADD, headers={"host": host}).content.decode()
    for words in (f"http://{host}/agent/accelweb-agent.pyz", "ask the administrator", "--attach FILE", "--attach -"):
        assert words in text
    assert ("make run HOST=0.0.0.0" in text) is is_told
    assert (make_key(client, lab).status_code, AgentKey.objects.exists()) == (403, False)


def test_a_member_gets_a_key_that_works_shown_this_once(client, member, lab):
    response = make_key(client, lab)
    secret = re.search(r"aw_[a-z0-9]{8}_[\w-]{32,}", response.content.decode()).group()
    sender = authenticate(f"Bearer {secret}")
    assert (sender.lab_id, sender.machine_id) == (lab.pk, None)
    assert "no-store" in response["Cache-Control"]
    assert secret not in client.get(ADD).content.decode()
    key = AgentKey.objects.get()
    assert (key.name, key.created_by) == ("dgx-07, cron", member)
    assert days(89) < key.expires_at - timezone.now() <= days(90)


def test_a_key_may_be_for_one_machine_only_and_without_an_end(client, member, lab):
    machine = make_machine(lab, "dgx-07")
    make_key(client, lab, scope=f"machine:{machine.pk}", lifetime="")
    key = AgentKey.objects.get()
    assert (key.machine, key.expires_at) == (machine, None)


def test_a_key_that_makes_no_sense_is_refused_beside_its_field(client, member, lab):
    other = make_lab("secret", is_public=False)
    assert "Secret lab" not in client.get(ADD).content.decode()
    for changes in ({"name": ""}, {"name": "x" * 101}, {"scope": "lab:0"}, {"lifetime": "forever"}, {"scope": f"lab:{other.pk}"}):  # fmt: skip
        response = make_key(client, lab, **changes)
        assert (response.status_code, "errorlist" in response.content.decode()) == (422, True), changes
    assert not AgentKey.objects.exists()


def test_creator_and_owners_can_revoke_a_key(client, key, lab, django_user_model):
    url = f"{ADD}{key.prefix}/revoke/"
    colleague, owner = (django_user_model.objects.create_user(name) for name in ("sam", "ada"))
    lab.memberships.create(user=colleague)
    client.force_login(colleague)
    assert (client.get(url).status_code, client.post(url).status_code) == (404, 404)
    lab.memberships.create(user=owner, role=Membership.Role.OWNER)
    client.force_login(owner)
    assert client.post(url).status_code == 302
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_revoking_asks_first_and_says_what_stops(client, member, lab, django_assert_num_queries):
    machine = make_machine(lab, "dgx-07")
    make_key(client, lab, scope=f"machine:{machine.pk}")
    url = f"{ADD}{AgentKey.objects.get().prefix}/revoke/"
    assert f'href="{url}"' in client.get(ADD).content.decode()
    with django_assert_num_queries(3):
        text = client.get(url).content.decode()
    assert "dgx-07 can no longer upload with this key" in text
    assert "It was never used." in text
    assert AgentKey.objects.get().revoked_at is None
    assert client.post(url).url == f"{ADD}#keys"
    revoked_at = AgentKey.objects.get().revoked_at
    assert client.post(url).url == client.get(url).url == f"{ADD}#keys"  # twice, or an old page: nothing more happens
    assert AgentKey.objects.get().revoked_at == revoked_at is not None


def test_a_key_is_not_revoked_from_another_site(key, member):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    assert strict.post(f"{ADD}{key.prefix}/revoke/").status_code == 403
    key.refresh_from_db()
    assert key.revoked_at is None


def test_revoking_after_the_session_ended_asks_again(client, member, key):
    member.set_password("x")
    member.save()
    client.logout()
    url = f"{ADD}{key.prefix}/revoke/"
    login = client.post(url).url
    answer = client.post(login, {"username": "mei", "password": "x"}, follow=True)
    assert (answer.status_code, answer.redirect_chain[-1][0]) == (200, url)
    assert AgentKey.objects.get().revoked_at is None


def test_what_arrived_with_a_key_is_for_its_people_only(client, key, lab, django_user_model):
    lab.memberships.all().delete()
    assert "dgx-07, cron" not in client.get(ADD).content.decode()
    url = f"{ADD}{key.prefix}/"
    client.logout()
    assert client.get(url).status_code == 302
    client.force_login(django_user_model.objects.create_user("sam"))
    assert client.get(url).status_code == 404


def test_page_fills_in_on_first_report(client, key, lab):
    url = f"{ADD}{key.prefix}/"
    htmx = {"HX-Request": "true"}
    assert "waiting for the first report" in client.get(url, headers=htmx).content.decode()
    machine = make_machine(lab, "dgx-07")
    waiting = make_waiting_report(machine, timezone.now())
    waiting.key = key
    waiting.save()
    assert "being read" in client.get(url, headers=htmx).content.decode()
    waiting.delete()
    make_report(machine, key=key)
    text = client.get(url, headers=htmx).content.decode()
    assert ('href="/machines/north/dgx-07/"' in text, "<html" in text) == (True, False)
    assert "<html" in client.get(url).content.decode()


@pytest.mark.parametrize(("name", "start"), [("accelweb-agent.pyz", b"#!"), (WHEEL_NAME, b"PK")])
def test_the_agent_is_one_file_that_python_runs_or_pip_installs(client, name, start):
    response = client.get(f"/agent/{name}")
    assert response.status_code == 200
    assert response.content.startswith(start)
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    again = client.get(f"/agent/{name}", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_line_runs_only_the_file_that_the_page_names(client, tmp_path):
    text = unescape(client.get(ADD).content.decode())
    body = client.get("/agent/accelweb-agent.pyz").content
    digest = hashlib.sha256(body).hexdigest()
    assert f"<code>{digest}</code>" in text
    line = agent_commands("http://testserver", "aw_x").unix
    download, check, run = line.split(" && ")
    assert download == "curl -fsSLO http://testserver/agent/accelweb-agent.pyz"
    assert run == "ACCELWEB_KEY=aw_x python3 accelweb-agent.pyz run --quick --server http://testserver"
    for content, code in ((body, 0), (body + b"x", 1)):
        (tmp_path / "accelweb-agent.pyz").write_bytes(content)
        done = subprocess.run(["sh", "-c", check], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code
        assert (b"not the file that the page named" in done.stderr) is bool(code)
    assert f'(Get-FileHash accelweb-agent.pyz).Hash -eq "{digest}"' in text


def test_the_line_that_installs_names_the_wheel_and_its_hash(client):
    body = client.get(f"/agent/{WHEEL_NAME}").content
    line = f'pip install "http://testserver/agent/{WHEEL_NAME}#sha256={hashlib.sha256(body).hexdigest()}"'
    assert line in unescape(client.get(ADD).content.decode())
