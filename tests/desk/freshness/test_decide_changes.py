"""What a person does with a proposed change, in the admin; and who may."""

import dataclasses
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from stackviz.desk.freshness.decide_changes import CannotApply, apply_change, decline_change
from stackviz.desk.freshness.models import ProposedChange
from stackviz.records.catalog.models import Source
from stackviz.records.stacks import load
from stackviz.records.stacks.models import Release

pytestmark = pytest.mark.django_db


@pytest.fixture
def approver(stacks) -> User:
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="approve"))
    return user


def new_release(version: str = "2.99.0", **changes: str) -> ProposedChange:
    named = {"kind": "release", "feed": "github-mlx", "component": "mlx", "version": version, "released": "2026-11-20"}
    return ProposedChange.objects.create(key=f"release/{version}/{changes}", **{**named, **changes})


def address_of(change: ProposedChange) -> str:
    return reverse("admin:watch_proposedchange_change", args=[change.pk])


def test_a_release_that_is_applied_is_in_the_table_with_source_and_history(approver):
    apply_change(new_release(), approver)
    release = Release.objects.get(component__slug="mlx", version="2.99.0")
    assert (release.released, release.source.title) == ("2026-11-20", "MLX: releases on GitHub")
    assert release.source.url == "https://github.com/ml-explore/mlx/releases"
    assert "proposed by the watcher" in release.history.get().history_change_reason
    change = ProposedChange.objects.get()
    assert (change.state, change.decided_by) == ("applied", approver)


def test_files_that_ship_an_applied_release_later_leave_it_as_applied(approver, monkeypatch):
    apply_change(new_release(), approver)
    files = load.read_stack_files()
    like_it = next(line for line in files.releases if line["component"] == "mlx")
    shipped = {**like_it, "version": "2.99.0", "variant": "", "released": "2026-11-21"}
    files = dataclasses.replace(files, releases=[*files.releases, shipped])
    monkeypatch.setattr(load, "read_stack_files", lambda _folder: files)
    for _load in range(2):
        assert load.load_stacks(force=True).tables["releases"].protected == 1
        release = Release.objects.get(component__slug="mlx", version="2.99.0")
        assert (release.data_key, release.released) == ("mlx/2.99.0/", "2026-11-20")


def test_it_is_applied_once(approver):
    change = new_release()
    apply_change(change, approver)
    with pytest.raises(CannotApply, match="decided already"):
        apply_change(change, approver)
    with pytest.raises(CannotApply, match="decided already"):
        decline_change(change, approver, "too late")


def test_a_release_that_somebody_added_meanwhile_is_not_added_twice(approver):
    known = Release.objects.filter(component__slug="mlx", variant="").first()
    change = new_release(known.version)
    with pytest.raises(CannotApply, match="has this release already"):
        apply_change(change, approver)
    change.refresh_from_db()
    assert change.state == "waiting"


def test_a_date_is_corrected_unless_the_table_has_changed(approver):
    named = {"kind": "support-ends", "feed": "endoflife-python", "component": "python"}
    before = Release.objects.get(component__slug="python", version="3.14").support_ends
    first = new_release("3.14", **named, support_ends="2031-01-01", before=before)
    apply_change(first, approver)
    assert Release.objects.get(component__slug="python", version="3.14").support_ends == "2031-01-01"
    second = new_release("3.14", **named, support_ends="2032-01-01", before=before)
    with pytest.raises(CannotApply, match="has changed since"):
        apply_change(second, approver)


def test_an_address_that_moved_is_changed_in_every_source_and_keeps_its_place(approver):
    for number, place in enumerate(("", "#table-2")):
        Source.objects.create(key=f"old-{number}", title=f"Old {number}", url=f"https://example.org/old{place}")
    Source.objects.create(key="older", title="Older", url="https://example.org/older")
    moved = {"kind": "moved", "url": "https://example.org/old", "new_url": "https://example.org/new"}
    apply_change(new_release("", **moved), approver)
    urls = set(Source.objects.filter(url__startswith="https://example.org/").values_list("url", flat=True))
    assert urls == {"https://example.org/new", "https://example.org/new#table-2", "https://example.org/older"}


def test_a_dead_link_needs_a_new_address(approver):
    dead = new_release("", kind="dead", url="https://example.org/gone")
    with pytest.raises(CannotApply, match="Enter the new address"):
        apply_change(dead, approver)
    dead.new_url = "javascript:alert(1)"
    with pytest.raises(CannotApply, match="Enter the new address"):
        apply_change(dead, approver)


def test_an_approver_applies_it_in_the_admin(client, approver):
    change = new_release()
    client.force_login(approver)
    assert "2.99.0" in client.get(reverse("admin:watch_proposedchange_changelist")).content.decode()
    answer = client.post(address_of(change), {"state": "applied", "answer": "read on their page"}, follow=True)
    assert answer.status_code == 200
    change.refresh_from_db()
    assert (change.state, change.answer, change.decided_by) == ("applied", "read on their page", approver)


def test_declining_needs_a_reason(client, approver):
    change = new_release()
    client.force_login(approver)
    page = client.post(address_of(change), {"state": "declined", "answer": " "}).content.decode()
    assert "Say why it is declined." in page
    client.post(address_of(change), {"state": "declined", "answer": "a nightly"})
    change.refresh_from_db()
    assert (change.state, change.answer) == ("declined", "a nightly")
    decided = client.get(address_of(change)).content.decode()
    assert 'name="state"' not in decided  # what is decided stays


def test_what_cannot_be_applied_is_explained(client, approver):
    change = new_release(component="nothing-like-it")
    client.force_login(approver)
    page = client.post(address_of(change), {"state": "applied", "answer": ""}, follow=True).content.decode()
    assert "There is no component nothing-like-it." in page
    change.refresh_from_db()
    assert change.state == "waiting"


def test_a_wrong_value_is_explained_and_does_not_end_the_bulk_action(client, approver):
    wrong, right = new_release("2.97.0", released="soon"), new_release("2.98.0")
    client.force_login(approver)
    page = client.post(address_of(wrong), {"state": "applied", "answer": ""}, follow=True).content.decode()
    assert "Released: a day such as" in page
    data = {"action": "apply_selected", "_selected_action": [wrong.pk, right.pk]}
    page = client.post(reverse("admin:watch_proposedchange_changelist"), data, follow=True).content.decode()
    assert "Mlx 2.97.0: released: a day such as" in page
    assert "1 change applied" in page
    assert dict(ProposedChange.objects.values_list("version", "state")) == {"2.97.0": "waiting", "2.98.0": "applied"}


def test_doubtful_ones_and_links_are_not_applied_in_bulk(client, approver):
    rows = [
        new_release("2.97.0"),
        new_release("99.0", doubt="far above"),
        new_release("", kind="dead", url="https://a.org/"),
    ]
    client.force_login(approver)
    data = {"action": "apply_selected", "_selected_action": [row.pk for row in rows]}
    page = client.post(reverse("admin:watch_proposedchange_changelist"), data, follow=True).content.decode()
    assert "1 change applied" in page
    assert list(ProposedChange.objects.filter(state="applied").values_list("version", flat=True)) == ["2.97.0"]


@pytest.mark.parametrize(("permission", "status"), [("propose", 200), ("view_specvalue", 403), ("", 403)])
def test_who_sees_the_queue(client, stacks, permission, status):
    user = User.objects.create_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename=permission))
    client.force_login(user)
    change = new_release()
    assert client.get(address_of(change)).status_code == status
    assert client.post(address_of(change), {"state": "applied", "answer": "x"}).status_code == 403
    change.refresh_from_db()
    assert change.state == "waiting"


def test_what_is_decided_has_its_moment():
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        new_release(state="applied")
    with pytest.raises(IntegrityError), transaction.atomic():
        ProposedChange.objects.create(key="x", kind="release", state="declined", decided_at=datetime.now(UTC))
