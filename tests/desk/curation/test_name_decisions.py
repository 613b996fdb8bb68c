"""Names are given, told apart, set aside and taken back; cards follow at once; nothing is decided twice."""

import threading
import uuid

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from stackviz.desk.curation.name_decisions import (
    CannotUndo,
    DecidedMeanwhile,
    Target,
    give_name,
    leave_name,
    steps_taken,
    undo,
)
from stackviz.desk.curation.unmatched_names import waiting_names
from stackviz.pages.accelerators.changes import LogFilter, read_log
from stackviz.records.catalog.models import Accelerator, Alias, Source, Vendor
from stackviz.records.labs import rematch
from stackviz.records.labs.models import Card, Lab, Machine, NameDecision, Report, Snapshot

GB = 10**9
NAME = "NVIDIA Z9000"


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_user("mira", first_name="Mira", last_name="Okonkwo")


def accelerator(slug: str) -> Accelerator:
    vendor, _ = Vendor.objects.get_or_create(slug="nvidia", defaults={"name": "NVIDIA"})
    return Accelerator.objects.create(slug=slug, name=slug.upper(), vendor=vendor, kind="gpu")


@pytest.fixture
def small(db) -> Accelerator:
    return accelerator("z9000-24gb")


@pytest.fixture
def large(db) -> Accelerator:
    return accelerator("z9000-48gb")


def card(lab: Lab, name: str = NAME, gb: int | None = None, machine: str = "m") -> Card:
    """A card of a new report of the machine."""
    of, _ = Machine.objects.get_or_create(lab=lab, slug=machine, defaults={"name": machine})
    report = Report.objects.create(id=uuid.uuid4(), machine=of, body=b"{}")
    snapshot = Snapshot.objects.create(machine=of, report=report, taken_at=timezone.now())
    plain = {"snapshot": snapshot, "index": 0, "kind": "gpu", "vendor": "nvidia", "match_how": "unknown"}
    return Card.objects.create(reported_name=name, memory_bytes=gb * 2**30 if gb else None, **plain)


def sheets() -> list[str | None]:
    return list(Card.objects.order_by("pk").values_list("accelerator__slug", flat=True))


def give(*targets: Target, by=None, seen=0, name=NAME, reason="read off the card"):
    return give_name(name, "nvidia", targets, by=by, reason=reason, seen=seen)


# --- giving ---


def test_a_name_is_given_and_only_its_spellings_follow(lab, small, mira, monkeypatch):
    names = ["NVIDIA Z9000", "NVIDIA_Z9000", "z9000", "NVIDIA Z9001", *(f"Other {number}" for number in range(20))]
    for name in names:
        card(lab, name)
    looked_at = []
    real = rematch.match_cards
    monkeypatch.setattr(rematch, "match_cards", lambda cards: looked_at.extend(cards) or real(cards))
    decision, rematched = give(Target(small), by=mira)
    assert sheets() == ["z9000-24gb"] * 3 + [None] * 21
    assert sorted(item.reported_name for item in looked_at) == sorted(names[:3])
    assert (rematched.changed, rematched.rest) == (3, None)
    assert (decision.made_by, decision.reason, decision.action) == (mira, "read off the card", "accept")


def test_name_history_stays_private_unsourced(lab, small, mira):
    card(lab)
    give(Target(small))
    assert Alias.history.get().history_change_reason == "read off the card"
    assert read_log(LogFilter(field="name")).entries == ()
    alias = Alias.objects.get()
    alias.source = Source.objects.create(key="sheet", title="Data sheet", url="https://maker.example")
    alias.save()
    entry = read_log(LogFilter(field="name")).entries[0]
    assert (entry.what, entry.new, entry.source_title) == ("added", NAME, "Data sheet")


def test_queries_do_not_grow_with_other_names(lab, small, large, django_assert_max_num_queries):
    card(lab)
    with django_assert_max_num_queries(40) as few:
        give(Target(small))
    for number in range(60):
        card(lab, f"Other {number}", machine=f"m{number}")
    card(lab, "NVIDIA Y9000")
    with django_assert_max_num_queries(len(few)):
        give(Target(large), name="NVIDIA Y9000")


def test_many_cards_are_matched_in_turns(lab, small, monkeypatch):
    monkeypatch.setattr(rematch, "AT_ONCE", 3)
    for _number in range(8):
        card(lab)
    _decision, done = give(Target(small))
    turns = 1
    while done.rest is not None and turns < 10:
        done = rematch.rematch_name(NAME, below=done.rest)
        turns += 1
    assert (turns, sheets().count("z9000-24gb")) == (3, 8)


@pytest.mark.parametrize(
    "steps",
    [
        [((24 * GB, None), ["z9000-24gb", None], "accept")],
        [((24 * GB, 48 * GB), ["z9000-24gb", "z9000-48gb"], "split")],
        [((None, None), ["z9000-24gb"] * 2, "accept"), ((24 * GB, 48 * GB), ["z9000-24gb", "z9000-48gb"], "split")],
    ],
    ids=["a part of it", "split", "shared later"],
)
def test_a_name_is_split_by_memory(lab, small, large, steps):
    card(lab, gb=24)
    card(lab, gb=48)
    for (of_small, of_large), expected, action in steps:
        targets = [Target(small, of_small), *([Target(large, of_large)] if of_large else [])]
        decision, _ = give(*targets, seen=steps_taken(NAME))
        assert (sheets(), decision.action) == (expected, action)
        assert Alias.objects.count() == len(targets)


def test_a_name_that_never_decides_keeps_its_reason_as_note(lab, small):
    card(lab)
    give(Target(small, is_undecided=True), reason="two boards share it")
    alias = Alias.objects.get()
    assert (alias.kind, alias.note, sheets()) == ("undecided", "two boards share it", [None])


# --- several accelerators ---


@pytest.mark.parametrize(
    "terms",
    [[("small", None), ("large", 48 * GB)], [("small", 24 * GB), ("large", 24 * GB)], [("small", 24 * GB), ("small", 48 * GB)], []],
    ids=["one says nothing", "both the same", "one accelerator twice", "none"],
)  # fmt: skip
def test_what_tells_nothing_apart_is_refused(lab, small, large, terms):
    card(lab)
    with pytest.raises(ValidationError):
        give(*(Target({"small": small, "large": large}[name], size) for name, size in terms))
    assert (Alias.objects.count(), NameDecision.objects.count()) == (0, 0)


def test_a_dismissed_name_can_return_to_the_queue(lab, small, mira):
    for name in (NAME, "(TM)"):
        card(lab, name)
        with pytest.raises(ValidationError):
            leave_name(name, "nvidia", by=mira, reason="", seen=0)
    with pytest.raises(ValidationError):
        give(Target(small), name="(TM)")  # a name of signs
    leave_name("(TM)", "nvidia", by=mira, reason="no name at all", seen=0)
    decision = leave_name(NAME, "nvidia", by=mira, reason="a virtual card", seen=0)
    assert waiting_names().items == []
    assert {item.ignored.reason for item in waiting_names(ignored=True).items} == {"a virtual card", "no name at all"}
    undo(decision, by=mira)
    assert [item.name for item in waiting_names().items] == [NAME]
    assert [item.name for item in waiting_names(ignored=True).items] == ["(TM)"]


# --- undoing ---


def test_undone_everything_is_as_before(lab, small, large, mira):
    card(lab, gb=24)
    card(lab, gb=48)
    first, _ = give(Target(small))
    second, _ = give(Target(small, 24 * GB), Target(large, 48 * GB), seen=1)
    undo(second, by=mira)
    assert sheets() == ["z9000-24gb", "z9000-24gb"]
    alias = Alias.objects.get()
    assert (alias.accelerator, alias.memory_bytes) == (small, None)
    undo(first, by=mira)
    assert (sheets(), Alias.objects.count()) == ([None, None], 0)
    second.refresh_from_db()
    assert (second.undone_by, second.undone_at is not None) == (mira, True)


def test_a_decision_is_undone_once_and_made_anew(lab, small, large, mira):
    card(lab)
    decision, _ = give(Target(small))
    undo(decision, by=mira)
    with pytest.raises(CannotUndo):
        undo(decision, by=mira)
    changed, _ = give(Target(large), seen=steps_taken(NAME))
    assert sheets() == ["z9000-48gb"]
    Alias.objects.get().delete()
    with pytest.raises(CannotUndo):
        undo(changed, by=mira)
    changed.refresh_from_db()
    assert changed.undone_at is None


# --- two at once ---


def test_stale_decision_page_shows_the_decision(lab, small, large, mira):
    card(lab)
    give(Target(small), by=mira)
    with pytest.raises(DecidedMeanwhile) as problem:
        give(Target(large))
    assert problem.value.latest.made_by == mira
    assert (sheets(), Alias.objects.count()) == (["z9000-24gb"], 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_decisions_at_once_one_wins_on_postgres(on_postgres):
    lab = Lab.objects.create(slug="north", name="North lab", is_public=True)
    card(lab, gb=24)
    (waiting,) = waiting_names(q="z9").items
    assert (waiting.machines, waiting.public_machines, waiting.sizes) == (1, 1, (24 * 2**30,))
    chosen = [accelerator("z9000-24gb"), accelerator("z9000-48gb")]
    together, outcomes = threading.Barrier(2, timeout=60), []

    def curate(target: Accelerator) -> None:
        try:
            together.wait()
            give(Target(target))
            outcomes.append("won")
        except DecidedMeanwhile:
            outcomes.append("told")
        finally:
            connection.close()

    people = [threading.Thread(target=curate, args=[target]) for target in chosen]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
    assert sorted(outcomes) == ["told", "won"]
    assert Alias.objects.count() == 1
    assert Card.objects.get().accelerator is not None
