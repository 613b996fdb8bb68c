"""`/admin/activity/`: the audit log, curated rows' history and the admin's own log in one order."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from stackviz.records.audit.activity import AUDITED_KINDS, ActivityQuery, activities
from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.models import Lab
from tests.pages.machines.factories import make_lab

PAGE = "/admin/activity/"
ROOT = Path(__file__).resolve().parents[3] / "stackviz"


@pytest.fixture
def root(client, small_catalogue, db):
    """An admin who renamed a group in the admin, a lab by hand, and an accelerator with its history."""
    user = User.objects.create_superuser("root")
    client.force_login(user)
    client.post("/admin/auth/group/add/", {"name": "testers"})
    accelerator = Accelerator.objects.first()
    accelerator._history_user = user
    accelerator._change_reason = "a better name"
    accelerator.save()
    make_lab("secret", is_public=False)
    return user


def actions(response):
    return [row.action for row, _account in response.context["rows"]]


def test_all_records_are_in_one_order(client, root):
    rows = client.get(PAGE).context["rows"]
    assert {"lab.created", "group.created", "accelerator.changed", "account.created"} <= {row.action for row, _ in rows}
    times = [row.at for row, _account in rows]
    assert times == sorted(times, reverse=True)
    assert ("accelerator.changed", "a better name", root) in [(row.action, row.why, account) for row, account in rows]


def test_what_two_records_have_is_listed_once(client, root):
    listed = actions(client.get(f"{PAGE}?person=root"))
    assert [listed.count(action) for action in ("group.created", "accelerator.changed")] == [1, 1]


def test_person_kind_and_day_narrow_it(client, root):
    assert actions(client.get(f"{PAGE}?person=root&kind=accelerator")) == ["accelerator.changed"]
    assert set(actions(client.get(f"{PAGE}?kind=lab"))) == {"lab.created"}
    assert "group.created" in actions(client.get(f"{PAGE}?person=root&day={timezone.now():%Y-%m-%d}"))
    assert actions(client.get(f"{PAGE}?day=2020-01-01")) == actions(client.get(f"{PAGE}?day=9999-12-31")) == []


@pytest.mark.parametrize("query", ["person=nobody", "day=soon"])
def test_an_unknown_person_or_day_is_refused(client, root, query):
    assert client.get(f"{PAGE}?{query}").status_code == 422


def test_pages_lose_and_repeat_nothing(root):
    everything = activities(ActivityQuery(), 0, 50)
    assert len(everything) > 3
    assert [row for at in range(len(everything)) for row in activities(ActivityQuery(), at, at + 1)] == everything


def test_queries_do_not_grow_with_what_is_stored(
    client, root, django_assert_num_queries, django_assert_max_num_queries
):
    with django_assert_max_num_queries(30):
        client.get(PAGE)
    Lab.objects.bulk_create(Lab(slug=f"lab-{number}", name=f"Lab {number}") for number in range(50))
    for lab in Lab.objects.all():
        lab.save()
    with django_assert_max_num_queries(30):
        client.get(PAGE)


def test_only_readers_of_the_audit_log_see_it(client, db):
    staff = User.objects.create_user("staff", is_staff=True)
    client.force_login(staff)
    assert client.get(PAGE).status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_auditentry"))
    assert client.get(PAGE).status_code == 200
    client.force_login(User.objects.create_user("mei"))
    assert client.get(PAGE).status_code == 302


def test_every_kind_that_is_recorded_is_known():
    found = {
        kind
        for path in ROOT.rglob("*.py")
        for kind in re.findall(r'\b(?:record|watch)\(\s*(?:\w+, )?f?"([a-z-]+)[."]', path.read_text(encoding="utf-8"))
    }
    assert found - {"admin"} <= set(AUDITED_KINDS)
    assert len(found) > 10
