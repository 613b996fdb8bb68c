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


def test_an_applied_release_is_in_the_table_once(approver):
    change = new_release()
    apply_change(change, approver)
    release = Release.objects.get(component__slug="mlx", version="2.99.0")
    assert (release.released, release.source.title) == ("2026-11-20", "MLX: releases on GitHub")
    assert release.source.url == "https://github.com/ml-explore/mlx/releases"
    assert "proposed by the watcher" in release.history.get().history_change_reason
    with pytest.raises(CannotApply, match="decided already"):
        apply_change(change, approver)
    with pytest.raises(CannotApply, match="decided already"):
        decline_change(change, approver, "too late")
    change.refresh_from_db()
    assert (change.state, change.decided_by) == ("applied", approver)
    again = new_release("2.99.0", released="2026-11-22")
    with pytest.raises(CannotApply, match="has this release already"):
        apply_change(again, approver)
    again.refresh_from_db()
    assert again.state == "waiting"


def test_files_that_ship_an_applied_release_leave_it(approver, monkeypatch):
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


def test_a_date_is_corrected_unless_the_table_has_changed(approver):
    named = {"kind": "support-ends", "feed": "endoflife-python", "component": "python"}
    before = Release.objects.get(component__slug="python", version="3.14").support_ends
    first = new_release("3.14", **named, support_ends="2031-01-01", before=before)
    apply_change(first, approver)
    assert Release.objects.get(component__slug="python", version="3.14").support_ends == "2031-01-01"
    second = new_release("3.14", **named, support_ends="2032-01-01", before=before)
    with pytest.raises(CannotApply, match="has changed since"):
        apply_change(second, approver)


def test_a_moved_address_is_changed_in_every_source(approver):
    for number, place in enumerate(("", "#table-2")):
        Source.objects.create(key=f"old-{number}", title=f"Old {number}", url=f"https://example.org/old{place}")
    Source.objects.create(key="older", title="Older", url="https://example.org/older")
    moved = {"kind": "moved", "url": "https://example.org/old", "new_url": "https://example.org/new"}
    apply_change(new_release("", **moved), approver)
    urls = set(Source.objects.filter(url__startswith="https://example.org/").values_list("url", flat=True))
    assert urls == {"https://example.org/new", "https://example.org/new#table-2", "https://example.org/older"}


def test_a_dead_link_needs_a_new_address(approver):
    dead = new_release("", kind="dead", url="https://example.org/gone")
    for address in ("", "javascript:alert(1)"):
        dead.new_url = address
        with pytest.raises(CannotApply, match="Enter the new address"):
            apply_change(dead, approver)


def decided(client, change: ProposedChange, state: str, answer: str) -> str:
    """The page after this decision was sent from the form of the change."""
    page = client.post(address_of(change), {"state": state, "answer": answer}, follow=True).content.decode()
    change.refresh_from_db()
    return page


def test_an_approver_applies_or_declines_in_the_admin(client, approver):
    change, other = new_release(), new_release("2.98.0")
    client.force_login(approver)
    assert "2.99.0" in client.get(reverse("admin:watch_proposedchange_changelist")).content.decode()
    decided(client, change, "applied", "read on their page")
    assert (change.state, change.answer, change.decided_by) == ("applied", "read on their page", approver)
    assert "Say why it is declined." in decided(client, other, "declined", " ")
    decided(client, other, "declined", "a nightly")
    assert (other.state, other.answer) == ("declined", "a nightly")
    assert 'name="state"' not in client.get(address_of(other)).content.decode()  # what is decided stays
    unknown = new_release(component="nothing-like-it")
    assert "There is no component nothing-like-it." in decided(client, unknown, "applied", "")
    assert unknown.state == "waiting"


def test_bulk_actions_apply_what_is_sound_and_explain_the_rest(client, approver):
    wrong, right = new_release("2.97.0", released="soon"), new_release("2.98.0")
    doubtful = new_release("99.0", doubt="far above")
    link = new_release("", kind="dead", url="https://a.org/")
    client.force_login(approver)
    assert "Released: a day such as" in decided(client, wrong, "applied", "")
    data = {"action": "apply_selected", "_selected_action": [row.pk for row in (wrong, right, doubtful, link)]}
    page = client.post(reverse("admin:watch_proposedchange_changelist"), data, follow=True).content.decode()
    assert "Mlx 2.97.0: released: a day such as" in page
    assert list(ProposedChange.objects.filter(state="applied").values_list("version", flat=True)) == ["2.98.0"]


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
