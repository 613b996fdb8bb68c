"""A lab's fleet and signs of life, on PostgreSQL: groups by a name in JSON, an upsert, an invitation that works once."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.utils import timezone

from stackviz.pages.machines.fleet import FleetQuery, fleet_groups, fleet_machines
from stackviz.records.labs.heartbeats import note_heartbeat, silent_machines
from stackviz.records.labs.keys import create_key, rotate_key
from stackviz.records.labs.members import accept_invitation, change_role, invite, lab_people
from tests.pages.machines.factories import h100, make_lab, make_machine, make_report


@pytest.fixture
def lab(_here):
    lab = make_lab("north")
    for name, torch in (("a", "2.8.0"), ("b", "2.8.0"), ("c", "2.7.1")):
        make_report(make_machine(lab, name), facts={"torch.version": torch}, cards=[h100(0), h100(1)])
    return lab


@pytest.mark.parametrize(
    ("group", "counts"), [("torch", [("2.8.0", 2), ("2.7.1", 1)]), ("card", [("NVIDIA H100 80GB HBM3", 3)])]
)
def test_machines_are_counted_and_found(lab, group, counts):
    query = FleetQuery(group=group)
    groups = fleet_groups(fleet_machines(AnonymousUser(), lab, query), query)
    assert [(value, count) for value, count, _address in groups] == counts
    for value, count in counts:
        assert fleet_machines(AnonymousUser(), lab, FleetQuery(having=((group, value),))).count() == count


def test_a_sign_of_life_takes_the_place_of_the_one_before(lab):
    key, _ = create_key(lab=lab, name="cron")
    machine = lab.machines.get(slug="a")
    note_heartbeat(machine.pk, key.pk, 3600)
    note_heartbeat(machine.pk, key.pk, 7200, "card 0 is at work")
    ((silent, sign),) = silent_machines(lab, timezone.now() + timedelta(days=9))
    assert (silent, sign.every) == (machine, timedelta(hours=2))


def test_people_and_keys_are_changed_under_locks(lab):
    olga, mei = User.objects.create_user("olga"), User.objects.create_user("mei")
    lab.memberships.create(user=olga, role="owner")
    _, code = invite(lab, "Mei", "member", olga.pk)
    accept_invitation(code, mei)
    with pytest.raises(ValidationError):
        accept_invitation(code, mei)
    with pytest.raises(ValidationError):
        change_role(lab, olga.pk, "viewer")
    assert [each.user.username for each in lab_people(lab)] == ["olga", "mei"]
    old, _ = create_key(lab=lab, name="cron")
    new, _ = rotate_key(old, timedelta(days=1))
    old.refresh_from_db()
    assert old.expires_at < timezone.now() + timedelta(days=2)
    assert new.expires_at is None
