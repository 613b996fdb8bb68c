"""Labs, people and machines that tests of several files need."""

import pytest
from django.contrib.auth.models import AnonymousUser, User

from stackviz.records.labs import keys
from stackviz.records.labs.models import Lab, Machine, Membership


@pytest.fixture(autouse=True)
def _no_memory():
    keys._recognised.clear()
    keys._noted.clear()


@pytest.fixture
def lab(db) -> Lab:
    return Lab.objects.create(slug="north", name="North lab", is_public=True)


@pytest.fixture
def dark(db) -> Lab:
    """A private lab."""
    return Lab.objects.create(slug="dark", name="Dark lab", is_public=False)


@pytest.fixture
def machine(lab) -> Machine:
    return Machine.objects.create(lab=lab, slug="m", name="m")


@pytest.fixture
def people(dark) -> dict[str, User | AnonymousUser]:
    """A visitor, somebody with an account, a member of the private lab, a superuser."""
    member = User.objects.create_user("member")
    Membership.objects.create(lab=dark, user=member)
    return {
        "visitor": AnonymousUser(),
        "stranger": User.objects.create_user("stranger"),
        "member": member,
        "superuser": User.objects.create_superuser("root"),
    }


@pytest.fixture
def desk(client, db):
    """An admin's browser."""
    client.force_login(User.objects.create_superuser("admin"))
    return client
