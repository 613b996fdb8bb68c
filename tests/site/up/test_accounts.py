"""The key that `make run` makes for its own machine: it ends, and a start before that makes the next one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import AgentKey, Lab
from stackviz.site.up.this_machine import KEY_LASTS, RENEWED_BEFORE, ensure_admin, ensure_lab, ensure_lab_key, key_row


@pytest.fixture
def lab(db):
    return Lab.objects.create(slug="local", name="Local lab", is_public=True)


def test_a_new_key_has_an_end(lab, tmp_path):
    key = ensure_lab_key(lab, tmp_path / "lab_key")
    assert key.is_new
    assert (tmp_path / "lab_key").read_text().strip() == key.text
    assert key_row(key.text).expires_at == key.expires_at
    assert abs(key.expires_at - timezone.now() - KEY_LASTS) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("left", "is_new"),
    [(RENEWED_BEFORE + timedelta(days=1), False), (RENEWED_BEFORE - timedelta(days=1), True), (None, False)],
)
def test_key_is_renewed_in_its_last_month(lab, tmp_path, left, is_new):
    ends = None if left is None else timezone.now() + left
    row, text = create_key(lab=lab, name="before", expires_at=ends)
    (tmp_path / "lab_key").write_text(text)
    key = ensure_lab_key(lab, tmp_path / "lab_key")
    assert key.is_new is is_new
    assert (key.text == text) is not is_new
    row.refresh_from_db()
    assert (row.expires_at, row.revoked_at) == (ends, None)
    assert AgentKey.objects.count() == 1 + is_new


def test_a_revoked_key_is_replaced(lab, tmp_path):
    first = ensure_lab_key(lab, tmp_path / "lab_key")
    AgentKey.objects.update(revoked_at=timezone.now())
    assert ensure_lab_key(lab, tmp_path / "lab_key").text != first.text


@pytest.mark.parametrize("is_public", [True, False])
def test_a_lab_that_is_there_stays_as_public_as_it_is(db, is_public):
    owner = ensure_admin().name
    made = ensure_lab(owner, is_public=is_public)
    assert (made.is_public, ensure_lab(owner, is_public=not is_public).is_public) == (is_public, is_public)
    assert made.memberships.get().role == "owner"
