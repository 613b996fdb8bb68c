"""`make dev` starts with machines whose reports were read."""

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.db.models import F

from stackviz.records.labs.models import Machine
from stackviz.site.up import database
from tools.dev.__main__ import NAME, load_reports, prepare


@pytest.fixture
def eager():
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


@pytest.mark.django_db
def test_recorded_machines_are_loaded_once(eager, django_capture_on_commit_callbacks):
    User.objects.create_superuser(NAME, password=NAME)
    with django_capture_on_commit_callbacks(execute=True):
        assert load_reports() == 3
    read = Machine.objects.filter(latest_taken_at__isnull=False).order_by("slug").values_list("slug", F("lab__slug"))
    assert list(read) == [("cpu-linux", "samples"), ("h100-linux", "samples"), ("m3-max-macos", "samples")]
    assert load_reports() == 0


@pytest.mark.django_db
def test_curated_data_come_before_the_machines_that_need_them(eager, monkeypatch, capsys):
    monkeypatch.setattr(database, "migrate", lambda: "up to date")
    monkeypatch.setattr(database, "run_loader", lambda command: f"by {command}")
    prepare()
    printed = capsys.readouterr().out
    steps = ["up to date", "by load_catalogue", "by load_stacks", "by load_hosts", "by load_cited", "3 new"]
    places = [printed.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)
    assert User.objects.get(username=NAME).is_superuser
