"""The state of the site, in words, for staff."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone, translation

from stackviz.site.monitoring import heartbeats
from tests.pages.machines.factories import make_lab, make_machine, make_waiting_report

pytestmark = pytest.mark.django_db
PAGE = "/admin/state/"


@pytest.fixture
def staff(client):
    client.force_login(get_user_model().objects.create_user("ann", password="x", is_staff=True))
    return client


@pytest.fixture(autouse=True)
def folder(settings, tmp_path, monkeypatch):
    (tmp_path / "broker/queue").mkdir(parents=True)
    settings.VAR_DIR = settings.DATA_DIR = tmp_path
    monkeypatch.setattr(heartbeats, "_written", {})
    return tmp_path


def test_only_staff_sees_it(client):
    assert client.get(PAGE).status_code == 302
    for name, is_staff in (("bob", False), ("ann", True)):
        client.force_login(get_user_model().objects.create_user(name, password="x", is_staff=is_staff))
        assert client.get(PAGE).status_code == (200 if is_staff else 302)
    assert f'href="{PAGE}"' in client.get("/admin/").content.decode()


def test_it_says_what_runs_and_what_waits(staff):
    make_waiting_report(make_machine(make_lab(), "dgx-07"), timezone.now())
    heartbeats.record_heartbeat("worker")
    answer = staff.get(PAGE)
    lines = {line.title: line for line in answer.context["lines"]}
    assert answer.context["is_ready"] is False
    assert [title for title, line in lines.items() if line.is_bad] == ["Beat"]
    assert lines["Reports"].text.startswith("1 ")
    assert "WATCH=0" in lines["Watcher"].text
    assert lines["Beat"].text in answer.content.decode()
    heartbeats.record_heartbeat("beat")
    assert staff.get(PAGE).context["is_ready"] is True


def test_it_is_in_chinese_too(staff):
    with translation.override("zh-hans"):
        staff.cookies["django_language"] = "zh-hans"
        page = staff.get(PAGE, HTTP_ACCEPT_LANGUAGE="zh-hans").content.decode()
    assert "站点状态" in page
    assert "最近一天没有发现" in page


def test_its_queries_do_not_grow(staff, settings, django_assert_num_queries):
    settings.WATCH = True
    lab = make_lab()
    for number in range(20):
        make_waiting_report(make_machine(lab, f"m{number}"), timezone.now())
    staff.get(PAGE)
    with django_assert_num_queries(8):
        staff.get(PAGE)
