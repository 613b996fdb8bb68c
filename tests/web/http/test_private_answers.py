"""What depends on who has logged in is cached by nobody; what everybody sees may be."""

import pytest

from tests.pages.machines.factories import make_lab, make_machine

PAGES = (
    "/machines/",
    "/compare/?a=machine:south/secret",
    "/compare/?a=machine:south/secret&format=json",
    "/api/v1/machines/",
)


@pytest.fixture
def member(db, django_user_model):
    private = make_lab("south", is_public=False)
    make_machine(private, "secret")
    made = django_user_model.objects.create_user("member")
    private.memberships.create(user=made)
    return made


@pytest.mark.parametrize("address", PAGES)
def test_what_a_member_sees_stays_in_no_cache(client, member, address):
    client.force_login(member)
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_what_everybody_sees_may_be_kept(client, member):
    assert "no-store" not in client.get("/machines/").headers.get("Cache-Control", "")
    client.force_login(member)
    assert "no-store" not in client.get("/api/v1/schema/").headers.get("Cache-Control", "")
