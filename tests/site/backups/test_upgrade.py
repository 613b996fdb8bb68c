"""Filled databases of earlier releases, recorded with their own code (`record.py`), become databases of this one.

Files of before 0.1.0 are named for the day of the commit that wrote them: 8695c0f7, the last with all migrations.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.live import ROOT, Site
from tests.report.format.reports import report_body

RELEASES = sorted((ROOT / "tests/fixtures/releases").glob("*.backup"))
# What `record.py` sent: two labs, six reports each, of which the first was never read.
STATUSES = {"read": 10, "received": 2}
PAGES = """
import json
from django.contrib.auth.models import User
from django.test import Client
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.intake.ingest.interpret import interpret_all
interpret_all([str(pk) for pk in Report.objects.values_list("pk", flat=True)])
stranger, member = Client(), Client()
member.force_login(User.objects.get(username="ada"))
answers = {}
for machine in Machine.objects.select_related("lab"):
    path = f"/machines/{machine.lab.slug}/{machine.slug}/"
    answers[path] = [client.get(path, HTTP_HOST="127.0.0.1").status_code for client in (stranger, member)]
for path in ("/", "/machines/", "/accelerators/nvidia-h100-sxm5-80gb/", "/benchmarks/", "/api/v1/machines/"):
    answers[path] = [client.get(path, HTTP_HOST="127.0.0.1").status_code for client in (stranger, member)]
_row, key = create_key(lab=Lab.objects.get(slug="north"), name="new")
sent = stranger.post("/api/v1/reports/", BODY, content_type="application/json", headers={"Authorization": f"Bearer {key}"}, HTTP_HOST="127.0.0.1")
answers["upload"] = [sent.status_code, interpret_all([json.loads(BODY)["id"]])]
print(json.dumps(answers))
"""
# In the process that answered before: each of its own would cost a start.
CHECKS = """
from django.core.management import call_command
call_command("makemigrations", "--check", "--dry-run")
call_command("check_series")
"""


# As if the database had last been migrated by a commit of the middle of November.
MADE_OLDER = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("DELETE FROM django_migrations WHERE app = 'labs' AND name != '0001_initial'")
"""


def test_the_last_release_is_recorded_on_both_databases():
    kinds = Counter(file.name.split(".")[-2] for file in RELEASES)
    assert kinds["sqlite"] == kinds["postgresql"] >= 1


@pytest.fixture
def upgraded(request, tmp_path):
    """A site with the release's database, brought up to this release."""
    file: Path = request.param
    url = request.getfixturevalue("postgres_url") if ".postgresql." in file.name else ""
    site = Site(tmp_path, database_url=url)
    site.manage("restore", str(file))
    yield site
    site.stop()


@pytest.mark.parametrize("upgraded", RELEASES, ids=lambda file: file.name, indirect=True)
def test_filled_database_of_an_earlier_release_is_upgraded(upgraded):
    assert dict(upgraded.rows("SELECT status, count(*) FROM labs_report GROUP BY status")) == STATUSES
    for table, rows in {"labs_machine": 4, "labs_snapshot": 10, "labs_card": 10, "benchmarks_result": 20, "catalog_accelerator": 2, "search_machineword": 30}.items():  # fmt: skip
        assert upgraded.rows(f"SELECT count(*) FROM {table}") == [(rows,)], table
    answers = json.loads(upgraded.shell(f"BODY = {json.dumps(report_body())!r}\n{PAGES}").splitlines()[-1])
    statuses = Counter(
        map(tuple, (pair for path, pair in answers.items() if path.startswith("/machines/") and path.count("/") > 2))
    )
    assert statuses == {(200, 200): 2, (404, 200): 2}
    assert answers["/accelerators/nvidia-h100-sxm5-80gb/"] == [200, 200]
    assert answers["/benchmarks/"] == answers["/"] == answers["/api/v1/machines/"] == [200, 200]
    assert answers["upload"] == [202, ["read"]]
    # What each series keeps of its results is what its results say.
    assert "every series is what its results come to" in upgraded.shell(CHECKS)


def test_database_from_before_the_squash_is_refused(tmp_path):
    site = Site(tmp_path)
    site.manage("restore", str(next(file for file in RELEASES if ".sqlite." in file.name)))
    site.shell(MADE_OLDER)
    site.stop()
    site.manage("backup", str(tmp_path / "old.backup"))
    with pytest.raises(AssertionError, match=r"made before 0.1.0: labs lacks 0002_namedecision(?s:.*)8695c0f7"):
        site.manage("migrate")
    with pytest.raises(AssertionError, match=r"taken before 0.1.0: labs lacks (?s:.*)8695c0f7"):
        site.manage("restore", "--replace", str(tmp_path / "old.backup"))
