"""The pages of a lab for its people: who may open each, keys, roles and invitations."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.keys import KeyForbidden, authenticate, create_key
from stackviz.records.labs.members import accept_invitation, invite
from stackviz.records.labs.models import AgentKey, Invitation, Membership
from tests.pages.machines.factories import days, make_lab, make_machine

pytestmark = pytest.mark.django_db

KEYS, PEOPLE, JOIN = "/labs/north/keys/", "/labs/north/people/", "/labs/join/"
SETTINGS = "/labs/north/settings/"


@pytest.fixture
def lab():
    return make_lab("north", is_public=False)


@pytest.fixture
def person(client, lab):
    """`person("owner")`: somebody with this role, logged in; "stranger" is of no lab, "other" of another one."""

    def log_in(role):
        user = User.objects.create_user(role, is_staff=role == "curator", is_superuser=role == "superuser")
        if role in Membership.Role.values:
            lab.memberships.create(user=user, role=role)
        elif role == "other":
            make_lab("south", is_public=False).memberships.create(user=user, role="owner")
        elif role == "curator":
            user.user_permissions.set(Permission.objects.filter(content_type__app_label="catalog"))
        client.force_login(user)
        return user

    return log_in


def secret_in(response):
    return re.search(r"aw_[a-z0-9]{8}_[\w-]{32,}", response.content.decode())[0]


def code_in(response):
    return re.search(r"\bin_[\w-]{32}", response.content.decode())[0]


# ---- who may open them ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "keys", "people", "settings", "rotate"),
    [
        ("stranger", 404, 404, 404, 404),
        ("other", 404, 404, 404, 404),
        ("curator", 404, 404, 404, 404),
        ("viewer", 403, 200, 403, 403),
        ("member", 200, 200, 403, 404),
        ("owner", 200, 200, 200, 200),
        ("superuser", 200, 200, 200, 200),
    ],
)
def test_who_may_open_the_pages_of_a_private_lab(client, lab, person, role, keys, people, settings, rotate):
    key, _ = create_key(lab=lab, name="cron")
    pages = [KEYS, PEOPLE, SETTINGS, f"{KEYS}{key.prefix}/rotate/"]
    for page in (*pages[:3], "/labs/nowhere/keys/"):
        assert client.get(page).url == f"/login/?next={page}"  # whether there is such a lab or not
    person(role)
    assert [client.get(page).status_code for page in pages] == [keys, people, settings, rotate]


@pytest.mark.parametrize("role", ["stranger", "other", "curator"])
def test_of_a_public_lab_only_its_people_see_them(client, lab, person, role):
    type(lab).objects.update(is_public=True)
    person(role)
    assert [client.get(page).status_code for page in (KEYS, PEOPLE)] == [403, 403]
    page = client.get("/machines/north/").content.decode()
    assert "/labs/north/" not in page.replace("/labs/north/events.atom", "")


@pytest.mark.parametrize(("role", "pages"), [("viewer", 2), ("member", 3), ("owner", 5)])
def test_the_page_of_the_lab_leads_to_those_that_one_may_open(client, person, role, pages):
    person(role)
    ways = re.search(r'<nav class="chips ways.*?</nav>', client.get("/machines/north/").content.decode(), re.DOTALL)[0]
    assert ways.count("<a ") == pages


@pytest.mark.parametrize("role", ["viewer", "member"])
def test_only_owners_change_people_and_settings(client, lab, person, role):
    person(role)
    other = User.objects.create_user("mei")
    lab.memberships.create(user=other)
    for action in ({"do": "invite", "name": "x", "role": "owner"}, {"do": "role", "user": other.pk, "role": "owner"}, {"do": "remove", "user": other.pk}):  # fmt: skip
        assert client.post(PEOPLE, action).status_code == 403
    assert client.post(SETTINGS, {"do": "publish", "sure": "yes"}).status_code == 403
    lab.refresh_from_db()
    assert (lab.memberships.get(user=other).role, Invitation.objects.count(), lab.is_public) == ("member", 0, False)


def test_a_viewer_makes_no_key_anywhere(client, lab, person):
    person("viewer")
    form = {"name": "k", "scope": f"lab:{lab.pk}", "lifetime": "90"}
    assert [client.post(page, form).status_code for page in (KEYS, "/machines/add/")] == [403, 403]
    assert not AgentKey.objects.exists()


# ---- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_is_made_and_shown_this_once(client, lab, person):
    person("member")
    response = client.post(KEYS, {"name": "", "scope": f"lab:{lab.pk}"})
    assert (response.status_code, AgentKey.objects.count()) == (422, 0)
    response = client.post(KEYS, {"name": "dgx-07, cron", "scope": f"lab:{lab.pk}", "lifetime": "90"})
    secret = secret_in(response)
    assert authenticate(f"Bearer {secret}").lab_id == lab.pk
    assert "no-store" in response["Cache-Control"]
    assert secret not in client.get(KEYS).content.decode()
    assert secret not in str(AgentKey.objects.values())


def test_members_see_their_own_keys_and_owners_all(client, lab, person):
    def listed(query=""):
        text = client.get(KEYS + query).content.decode()
        return {name for name in ("of the member", "of somebody else", "of the past", "ends soon") if name in text}

    create_key(lab=lab, name="of the member", created_by=person("member"))
    create_key(lab=lab, name="of somebody else", expires_at=timezone.now() + timedelta(days=3))
    key, _ = create_key(lab=lab, name="of the past")
    AgentKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    assert listed() == {"of the member"}
    person("owner")
    assert listed() == {"of the member", "of somebody else", "ends soon"}
    assert "of the past" in listed("?all")


def test_lists_cost_the_same_for_any_number(client, lab, person, django_assert_num_queries):
    user = person("owner")
    machine = make_machine(lab, "dgx-07")
    create_key(lab=lab, name="k", machine=machine, created_by=user)
    for count in (0, 40):
        for number in range(count):
            create_key(lab=lab, name=f"k{number}", machine=machine, created_by=user)
            lab.memberships.create(user=User.objects.create_user(f"u{number}"))
        for page in (KEYS, PEOPLE):
            with django_assert_num_queries(6):
                client.get(page)


@pytest.mark.parametrize(("ends", "left"), [("day", timedelta(days=1)), ("week", timedelta(days=7)), ("now", None)])
def test_a_key_is_replaced_and_the_old_one_ends_as_chosen(client, lab, person, ends, left):
    person("owner")
    machine = make_machine(lab, "dgx-07")
    old, old_secret = create_key(lab=lab, name="cron", machine=machine, expires_at=timezone.now() + timedelta(days=90))
    response = client.post(f"{KEYS}{old.prefix}/rotate/", {"ends": ends})
    new = AgentKey.objects.exclude(pk=old.pk).get()
    old.refresh_from_db()
    assert authenticate(f"Bearer {secret_in(response)}").machine_id == machine.pk
    assert (new.name, new.lab, round((new.expires_at - new.created_at) / timedelta(days=1))) == ("cron", lab, 90)
    if left is None:
        with pytest.raises(KeyForbidden):
            authenticate(f"Bearer {old_secret}")
    else:
        assert authenticate(f"Bearer {old_secret}").lab_id == lab.pk
        assert abs(old.expires_at - timezone.now() - left) < timedelta(minutes=1)


def test_no_replacing_lengthens_or_revives_a_key(client, lab, person):
    person("owner")
    soon = timezone.now() + timedelta(hours=1)
    old, _ = create_key(lab=lab, name="cron", expires_at=soon)
    rotate = f"{KEYS}{old.prefix}/rotate/"
    response = client.post(rotate, {"ends": "never"})
    assert (response.status_code, AgentKey.objects.count()) == (422, 1)
    client.post(rotate, {"ends": "week"})
    old.refresh_from_db()
    assert (old.expires_at, AgentKey.objects.count()) == (soon, 2)
    AgentKey.objects.update(revoked_at=timezone.now())
    assert (client.post(rotate, {"ends": "day"}).status_code, AgentKey.objects.count()) == (422, 2)


# ---- people -----------------------------------------------------------------------------------------------------------


def test_an_invitation_works_once_and_is_stored_hashed(client, lab, person):
    person("owner")
    code = code_in(client.post(PEOPLE, {"do": "invite", "name": "Mei <script>", "role": "viewer"}))
    page = client.get(PEOPLE).content.decode()
    assert (code in page, "<script>" in page, "Mei <script>" in unescape(page)) == (False, False, True)
    assert code not in str(Invitation.objects.values())
    mei, eve = User.objects.create_user("mei"), User.objects.create_user("eve")
    client.force_login(mei)
    response = client.post(JOIN, {"code": f" {code} "})
    assert (response.status_code, response.url) == (302, "/machines/north/")
    assert lab.memberships.get(user=mei).role == "viewer"
    client.force_login(eve)
    response = client.post(JOIN, {"code": code})
    assert (response.status_code, lab.memberships.filter(user=eve).exists()) == (422, False)


ACCOUNT = {"username": "mei", "password1": "long-enough-7", "password2": "long-enough-7"}


def test_who_has_no_account_makes_one_with_the_code(client, lab):
    _, code = invite(lab, "Mei", "member", User.objects.create_user("olga").pk)
    assert "North lab" in client.post(JOIN, {"code": code}).content.decode()
    for changes in ({"password2": "another-one-7"}, {"username": "olga"}, {"password1": "1", "password2": "1"}):
        assert client.post(JOIN, {"code": code, **ACCOUNT, **changes}).status_code == 422
    assert (User.objects.count(), Invitation.objects.get().accepted_at) == (1, None)
    assert client.post(JOIN, {"code": code, **ACCOUNT}).url == "/machines/north/"
    assert lab.memberships.get(user__username="mei").role == "member"
    assert client.get(PEOPLE).status_code == 200  # logged in


@pytest.mark.parametrize("code", ["", "x", "in_" + "x" * 32, "y" * 5000])
def test_without_a_code_nobody_gets_in_or_learns_of_a_lab(client, lab, code):
    response = client.post(JOIN, {"code": code, **ACCOUNT})
    assert (response.status_code, User.objects.count()) == (422, 0)
    assert "North" not in response.content.decode()


@pytest.mark.parametrize("change", [{"expires_at": days(-30)}, {"withdrawn_at": days(-1)}])
def test_an_old_or_withdrawn_invitation_does_not_work(lab, change):
    _, code = invite(lab, "Mei", "member", User.objects.create_user("olga").pk)
    now = timezone.now()
    Invitation.objects.update(**{name: now + value for name, value in change.items()})
    with pytest.raises(ValidationError):
        accept_invitation(code, User.objects.create_user("mei"))


def test_an_invitation_takes_no_right_away(lab):
    olga = User.objects.create_user("olga")
    lab.memberships.create(user=olga, role="owner")
    _, code = invite(lab, "herself", "viewer", olga.pk)
    accept_invitation(code, olga)
    assert lab.memberships.get(user=olga).role == "owner"


def test_an_owner_manages_roles_people_and_invitations(client, lab, person):
    owner = person("owner")
    mei = User.objects.create_user("mei")
    lab.memberships.create(user=mei)
    client.post(PEOPLE, {"do": "role", "user": mei.pk, "role": "viewer"})
    assert lab.memberships.get(user=mei).role == "viewer"
    assert client.post(PEOPLE, {"do": "remove", "user": mei.pk}, follow=True).status_code == 200
    assert list(lab.memberships.values_list("user", flat=True)) == [owner.pk]
    invitation, code = invite(lab, "Mei", "member", owner.pk)
    client.post(PEOPLE, {"do": "withdraw", "invitation": invitation.pk})
    with pytest.raises(ValidationError):
        accept_invitation(code, mei)


@pytest.mark.parametrize("action", [{"do": "role", "role": "member"}, {"do": "remove"}, {"do": "leave"}])
def test_a_lab_keeps_an_owner(client, lab, person, action):
    owner = person("owner")
    response = client.post(PEOPLE, {"user": owner.pk, **action})
    assert response.status_code == 422
    assert "A lab needs an owner" in response.content.decode()
    assert lab.memberships.get().role == "owner"


def test_who_leaves_a_private_lab_sees_it_no_more(client, lab, person):
    person("viewer")
    for name, role in (("anna", "member"), ("zoe", "owner"), ("bert", "member")):
        lab.memberships.create(user=User.objects.create_user(name), role=role)
    names = re.findall(r'<th scope="row">\s*([a-z]+)', client.get(PEOPLE).content.decode())
    assert names == ["zoe", "anna", "bert", "viewer"]  # owners first
    assert client.post(PEOPLE, {"do": "leave"}).url == "/machines/"
    assert client.get("/machines/north/").status_code == 404


def test_people_of_another_lab_are_out_of_reach(client, lab, person):
    person("owner")
    other = make_lab("south")
    eve = User.objects.create_user("eve")
    other.memberships.create(user=eve, role="owner")
    invitation, _ = invite(other, "x", "member", eve.pk)
    assert client.post(PEOPLE, {"do": "remove", "user": eve.pk}).status_code == 404
    assert client.post(PEOPLE, {"do": "withdraw", "invitation": invitation.pk}).status_code == 404
    assert client.post(PEOPLE, {"do": "role", "user": "9" * 30, "role": "owner"}).status_code == 404
    assert other.memberships.get().role == "owner"


# ---- settings ---------------------------------------------------------------------------------------------------------


def test_an_owner_shows_the_lab_to_everybody_and_hides_it_again(client, lab, person):
    person("owner")
    make_machine(lab, "dgx-07")
    for action in ({"do": "publish"}, {"do": "rename", "name": " "}, {"do": "rename", "name": "x" * 101}):
        assert client.post(SETTINGS, action).status_code == 422
    lab.refresh_from_db()
    assert (lab.is_public, lab.name) == (False, "North lab")
    client.post(SETTINGS, {"do": "publish", "sure": "yes"})
    assert Client().get("/machines/north/dgx-07/").status_code == 200
    client.post(SETTINGS, {"do": "hide", "sure": "yes"})
    assert Client().get("/machines/north/dgx-07/").status_code == 404
    changes = AuditEntry.objects.filter(action="lab.changed", subject=f"lab {lab.pk}").order_by("pk")
    assert [entry.details["is_public"] for entry in changes] == [[False, True], [True, False]]


def test_a_lab_is_renamed_and_keeps_its_address(client, lab, person, django_assert_num_queries):
    person("owner")
    assert client.post(SETTINGS, {"do": "rename", "name": " Institute  of Heat "}).url == SETTINGS
    assert "Institute of Heat" in client.get("/machines/north/").content.decode()
    assert AuditEntry.objects.filter(action="lab.changed", details={"name": "changed"}).count() == 1
    with django_assert_num_queries(5):
        client.get(SETTINGS)
