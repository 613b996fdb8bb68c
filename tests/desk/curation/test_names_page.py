"""The admin's queue of names: what it shows, to whom, and what its forms do."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from stackviz.records.catalog.models import Alias, SpecValue
from stackviz.records.labs.models import Card, NameDecision
from tests.desk.curation.test_name_decisions import GB, NAME, accelerator, card

QUEUE = "/admin/labs/card/names/"
ONE = "/admin/labs/card/names/one/"
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def z9000(db):
    sold = accelerator("z9000")
    SpecValue.objects.create(accelerator=sold, field="memory_gb", value="24", unit="GB", status="unreviewed")
    return sold


def names_in(page: str) -> list[str]:
    return re.findall(r"<code>(.*?)</code>", page.partition("<h2>")[0])


def lines(*targets, **form):
    """The form of one name: (accelerator, GB, cores) a line."""
    filled = {"action": "split", "reported_name": NAME, "vendor": "nvidia", "seen": 0, "reason": "", **form}
    for index, (chosen, memory, cores) in enumerate(targets):
        filled |= {f"{index}-accelerator": chosen.pk, f"{index}-memory_gb": memory, f"{index}-gpu_cores": cores}
    return filled


def accepting(sold, **changes):
    """The form that accepts a suggestion."""
    return {"action": "accept", "reported_name": NAME, "vendor": "nvidia", "seen": 0, "accelerator": sold.pk, **changes}


def test_name_queue_shows_memory_and_suggestions(desk, lab, dark, z9000):
    card(lab, gb=24)
    card(lab, gb=24, machine="n")
    card(dark, "NVIDIA Y1", machine="o")
    page = desk.get(QUEUE).content.decode()
    assert names_in(page) == [NAME, "NVIDIA Y1"]
    assert re.findall(r'data-label="(?:Machines|Memory)">(.*?)</td>', page) == ["2", "24 GiB", "1", "–"]
    assert f'name="accelerator" value="{z9000.pk}"' in page
    assert page.count("only in private labs") == 1


def test_a_suggestion_is_accepted_with_one_press_and_undone(desk, lab, z9000):
    card(lab)
    desk.post(QUEUE, accepting(z9000))
    assert Card.objects.get().accelerator == z9000
    decision = NameDecision.objects.get()
    assert decision.made_by.username == Alias.history.get().history_user.username == "admin"
    second = desk.post(QUEUE, accepting(accelerator("other")), follow=True)
    assert "dmin has decided on" in second.content.decode()  # who comes second is told who was first
    assert Alias.objects.get().accelerator == z9000
    answer = desk.post(QUEUE, {"action": "undo", "decision": decision.pk}, follow=True)
    assert "undone by admin" in answer.content.decode()
    assert Card.objects.get().accelerator is None


def test_the_queue_costs_the_same_for_many_names(desk, lab, z9000, django_assert_max_num_queries):
    card(lab)
    desk.get(QUEUE)
    with django_assert_max_num_queries(16) as few:
        desk.get(QUEUE)
    for number in range(24):
        card(lab, f"NVIDIA Y9{number:03}", gb=number + 1, machine=f"m{number}")
    with django_assert_max_num_queries(len(few)):
        page = desk.get(QUEUE).content
    assert page.count(b'<th scope="row">') == 25


def test_the_queue_has_pages_and_is_searched(desk, lab):
    for number in range(30):
        card(lab, f"Card {number:02}")
    assert names_in(desk.get(f"{QUEUE}?page=2").content.decode()) == [f"Card {number}" for number in range(25, 30)]
    assert names_in(desk.get(f"{QUEUE}?q=ard+07").content.decode()) == ["Card 07"]


def test_an_ambiguous_name_is_not_given_with_one_press(desk, lab, z9000):
    Alias.objects.create(accelerator=z9000, name=NAME, memory_bytes=48 * GB)
    card(lab, gb=24)
    page = desk.get(QUEUE).content.decode()
    assert "ambiguous; needs a separate sheet" in page
    assert 'class="choices"' not in page
    one = desk.get(f"{ONE}?name={NAME}&vendor=nvidia").content.decode()
    assert 'value="48"' in one


def test_a_name_is_split_on_its_own_page(desk, lab, z9000):
    other = accelerator("z9000-48gb")
    card(lab, gb=24)
    card(lab, gb=48)
    desk.post(ONE, lines((z9000, "24", ""), (other, "48", ""), reason="by its memory"))
    assert set(Card.objects.values_list("accelerator__slug", "memory_bytes")) == {
        ("z9000", 24 * 2**30), ("z9000-48gb", 48 * 2**30),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("memory", "says"),
    [("", "to tell them apart"), ("-4", "greater than or equal"), ("a lot", "Enter a number"), ("nan", "Enter a number"), ("1e300", "less than or equal")],
)  # fmt: skip
def test_invalid_form_shows_errors_and_changes_nothing(desk, lab, z9000, memory, says):
    other = accelerator("z9000-48gb")
    card(lab)
    answer = desk.post(ONE, lines((z9000, "24", ""), (other, memory, "")))
    assert answer.status_code == 200
    assert says in answer.content.decode()
    assert (Alias.objects.count(), NameDecision.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    "form",
    [
        {}, {"action": "accept"}, {"action": "accept", "reported_name": NAME, "seen": "x"}, {"action": "undo", "decision": "x"},
        {"action": "undo", "decision": "99"}, {"action": "accept", "reported_name": NAME, "seen": 0, "accelerator": "²"},
        {"action": "accept", "reported_name": "\x00", "seen": 0}, {"action": "go-on", "below": "x"}, {"action": "what", "reported_name": NAME, "seen": 0},
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_changes_nothing(desk, lab, z9000, form):
    card(lab)
    assert desk.post(QUEUE, form).status_code in (200, 302, 404)
    assert (Alias.objects.count(), NameDecision.objects.count()) == (0, 0)


def test_a_name_is_left_with_a_reason_and_taken_back(desk, lab):
    card(lab)
    form = {"action": "ignore", "reported_name": NAME, "vendor": "nvidia", "seen": 0}
    assert "Give a reason" in desk.post(ONE, {**form, "reason": ""}).content.decode()
    desk.post(ONE, {**form, "reason": "a virtual card"})
    assert names_in(desk.get(QUEUE).content.decode()) == []
    aside = desk.get(f"{QUEUE}?show=ignored").content.decode()
    assert "a virtual card" in aside
    desk.post(QUEUE, {"action": "undo", "decision": NameDecision.objects.get().pk})
    assert names_in(desk.get(QUEUE).content.decode()) == [NAME]


def test_a_sheet_is_made_from_the_name(desk, lab, z9000):
    card(lab)
    page = desk.get(f"{ONE}?name={NAME}&vendor=nvidia").content.decode()
    address = re.search(r'href="(/admin/catalog/accelerator/add/[?][^"]*)"', page)[1].replace("&amp;", "&")
    assert f'value="{NAME}"' in desk.get(address).content.decode()


def test_a_name_of_html_is_shown_as_text(desk, lab):
    for query in ("?name=nothing", "", "?name=%00"):
        assert desk.get(ONE + query).status_code == 404  # no card waits under it
    card(lab, EVIL)
    page = desk.get(QUEUE).content.decode()
    assert EVIL not in page
    address = re.search(rf'href="({ONE}[^"]*)"', page)[1].replace("&amp;", "&")
    assert "&lt;script&gt;" in desk.get(address).content.decode()


@pytest.mark.parametrize(
    ("permissions", "status"), [([], 403), (["view_card"], 403), (["view_card", "add_alias"], 302)]
)
def test_names_are_given_by_those_who_may_only(client, lab, z9000, permissions, status):
    card(lab)
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(clerk)
    assert client.get(QUEUE).status_code == (200 if permissions else 403)
    assert client.post(QUEUE, accepting(z9000)).status_code == status
    assert Alias.objects.exists() is (status == 302)
    if status == 302:
        undo = {"action": "undo", "decision": NameDecision.objects.get().pk}
        assert client.post(QUEUE, undo).status_code == 403


@pytest.mark.parametrize("action", ["accept", "split"])
def test_assigned_name_changes_only_with_permission(client, lab, z9000, action):
    alias = Alias.objects.create(accelerator=z9000, name=NAME.casefold(), memory_bytes=48 * GB)
    card(lab, gb=24)
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=["view_card", "add_alias"]))
    client.force_login(clerk)
    form = lines((z9000, "1", ""), action=action, accelerator=z9000.pk)
    assert client.post(QUEUE, {**form, "0-is_undecided": "on"}).status_code == 403
    assert (Alias.objects.get(), NameDecision.objects.exists()) == (alias, False)
    clerk.user_permissions.add(Permission.objects.get(codename="change_alias"))
    assert client.post(QUEUE, form).status_code == 302
    assert NameDecision.objects.exists()


@pytest.mark.parametrize("name", ["NVIDIA", "<img src=x>", "NVIDIA H100 80GB HBM3"])
def test_a_name_that_no_card_waits_under_is_given_to_nobody(desk, lab, z9000, name):
    card(lab)
    for action in ("accept", "split", "ignore"):
        form = lines((z9000, "", ""), action=action, reported_name=name, accelerator=z9000.pk, reason="why not")
        assert "No unmatched card has this name." in desk.post(QUEUE, form, follow=True).content.decode()
    assert (Alias.objects.count(), NameDecision.objects.count()) == (0, 0)


def test_a_form_from_elsewhere_is_refused(client, lab, z9000):
    card(lab)
    assert client.get(QUEUE).status_code == client.get(f"{ONE}?name={NAME}&vendor=nvidia").status_code == 302
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("admin"))
    assert strict.post(QUEUE, accepting(z9000)).status_code == 403
    assert not Alias.objects.exists()


def test_large_matching_continues_on_request(desk, lab, z9000, monkeypatch):
    monkeypatch.setattr("stackviz.records.labs.rematch.AT_ONCE", 2)
    for _number in range(3):
        card(lab)
    page = desk.post(QUEUE, accepting(z9000), follow=True).content.decode()
    assert "2 cards now have" in page
    below = re.search(r'name="below" value="(\d+)"', page)[1]
    page = desk.post(QUEUE, {"action": "go-on", "reported_name": NAME, "below": below}, follow=True).content.decode()
    assert "1 card now has a different spec sheet." in page
    assert 'name="below"' not in page
    assert not Card.objects.filter(accelerator=None).exists()
