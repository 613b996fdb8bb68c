"""The words by which machines are found: kept as their names are, read by an index, on SQLite and PostgreSQL alike."""

import pytest
from django.contrib.auth.models import AnonymousUser, User

from stackviz.pages.search.models import LONGEST, MachineWord
from stackviz.pages.search.words_of_machines import (
    beginnings,
    found_machines,
    machine_hits,
    wanted_beginnings,
    write_words,
)
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import visible_machines
from tests.pages.machines.factories import make_lab, make_machine

pytestmark = pytest.mark.django_db


def found(query: str) -> list[str]:
    return [hit.entry.title for hit in machine_hits(AnonymousUser(), query)]


@pytest.mark.parametrize(
    "query",
    ["gpu", "GPU-07", "gpu07", "gpu7", "07", "7", "rack", "rack 3", "3-rack", "训练", "训练机", "机", "north", "North gpu", "ｇｐｕ"],
)  # fmt: skip
def test_a_machine_is_found_by_how_its_words_begin(query):
    make_machine(make_lab(name="North"), "gpu07-rack-3-训练机", slug="gpu07-rack-3")
    make_machine(make_lab("south", name="South"), "mac-studio")
    expected = [] if query == "gpu7" else ["gpu07-rack-3-训练机"]
    assert found(query) == expected


def test_within_a_word_nothing_is_found():
    make_machine(make_lab(), "rack-7")
    assert found("ack") == found("练") == found("rack 8") == []


def test_a_new_name_is_found_and_the_old_one_is_not():
    machine = make_machine(make_lab(name="Northern lights"), "rack-7")
    machine.name = "beast"
    machine.save(update_fields=["name"])
    assert found("beast") == found("beast lights") == ["beast"]
    assert found("rack") == ["beast"]  # its address
    machine.slug = "beast"
    machine.save()
    assert found("rack") == []
    machine.lab.name = "Deep cellar"
    machine.lab.save()
    assert found("cellar beast") == ["beast"]
    assert found("northern") == []


def test_saving_what_is_no_name_writes_no_words(django_assert_num_queries):
    machine = make_machine(make_lab(), "rack-7")
    with django_assert_num_queries(1):
        machine.save(update_fields=["latest_taken_at"])
    before = set(MachineWord.objects.values_list("pk", flat=True))
    machine.save()
    machine.lab.save()
    assert set(MachineWord.objects.values_list("pk", flat=True)) == before


def test_words_are_written_anew_and_leave_with_their_machine():
    lab = make_lab(name="Northern lights")
    kept = make_machine(lab, "kept")
    make_machine(lab, "beast-7", merged_into=kept)
    assert found("beast") == []  # a merged machine is not found
    for number in range(3):
        make_machine(lab, f"Rack-0{number}", slug=f"rack-{number}")
    expected = set(MachineWord.objects.values_list("machine_id", "beginning"))
    MachineWord.objects.all().delete()
    write_words(Machine.objects.all())
    assert set(MachineWord.objects.values_list("machine_id", "beginning")) == expected != set()
    machine = Machine.objects.get(slug="rack-0")
    left = {(pk, word) for pk, word in expected if pk != machine.pk}
    machine.delete()
    assert set(MachineWord.objects.values_list("machine_id", "beginning")) == left


def test_long_names_make_few_rows_and_are_found():
    name = "x" * 200
    make_machine(make_lab(), name, slug="x")
    assert MachineWord.objects.filter(beginning__startswith="x").count() == LONGEST
    assert found("x" * 200) == [name]
    words = " ".join(f"w{number}" for number in range(1000))
    assert len(beginnings([words, words], LONGEST)) < 1500
    assert wanted_beginnings("a bcd ef 训练机", LONGEST) == ("bcd", "ef", "练机", "训练", "a")


@pytest.mark.parametrize("is_member", [False, True])
@pytest.mark.parametrize("query", ["rack", "rack 9", "no such machine", "northern 9"])
def test_no_search_reads_all_machines(query, is_member):
    lab = make_lab(name="Northern lights")
    for number in range(30):
        make_machine(lab, f"rack-{number}")
    visitor = User.objects.create_user("member") if is_member else AnonymousUser()
    plan = found_machines(visible_machines(visitor), wanted_beginnings(query, LONGEST)).explain()
    assert "SCAN" not in plan, plan
    assert plan.count("(beginning=?") == len(query.split()), plan
