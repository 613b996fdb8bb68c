"""Two accounts withdrawn at once: of the last two owners of a lab, and of the last two superusers, one stays."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection

from stackviz.desk.accounts import withdraw
from stackviz.records.labs.models import Lab, Membership


@pytest.fixture(autouse=True)
def _slow(monkeypatch):
    """Long enough between the question and the deletion for the other one to ask."""
    why_needed = withdraw.why_needed

    def slowly(*users: User) -> list[str]:
        problems = why_needed(*users)
        time.sleep(0.5)
        return problems

    monkeypatch.setattr(withdraw, "why_needed", slowly)


def withdrawn(user: User) -> str:
    try:
        withdraw.withdraw_person(user)
    except ValidationError as problem:
        return problem.messages[0]
    finally:
        connection.close()
    return "withdrawn"


def withdrawn_at_once(users: list[User]) -> list[str]:
    with ThreadPoolExecutor(len(users)) as pool:
        return sorted(pool.map(withdrawn, users))


def test_of_the_last_two_owners_one_stays():
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    owners = [User.objects.create_user(name) for name in ("ada", "mina")]
    for user in owners:
        Membership.objects.create(lab=lab, user=user, role=Membership.Role.OWNER)
    answers = withdrawn_at_once(owners)
    assert answers == ["North has no other owner. Name one, or withdraw the lab first.", "withdrawn"]
    assert lab.memberships.count() == 1


def test_of_the_last_two_superusers_one_stays():
    answers = withdrawn_at_once([User.objects.create_superuser(name) for name in ("root", "toor")])
    assert answers == ["There is no other superuser. Make one first.", "withdrawn"]
    assert User.objects.filter(is_superuser=True).count() == 1
