"""The catalogue as it stood: what was public at a moment, whatever happened to it since."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from stackviz.records.catalog.models import Accelerator, Alias, SpecValue
from stackviz.records.catalog.past import names_at, public_accelerators_at, public_values_at
from stackviz.web.http.address import read_moment, write_moment

DAY_ONE = datetime(2024, 3, 1, 12, tzinfo=UTC)


def happened(row, days: int) -> None:
    """Date the newest record of a row's history to noon of that day."""
    newest = row.__class__.history.filter(id=row.pk or row._was).order_by("-history_id")[0]
    newest.history_date = DAY_ONE + timedelta(days=days)
    newest.save()


def at(days: float) -> datetime:
    return DAY_ONE + timedelta(days=days)


@pytest.fixture
def since_day_one(card, bandwidth) -> SpecValue:
    """A bandwidth of 3350 GB/s, public since the first day, of a card that is."""
    happened(card, 0)
    happened(bandwidth, 0)
    return bandwidth


def said(card: Accelerator, moment: datetime) -> list[str]:
    return [value.value for value in public_values_at([card.pk], moment)]


def change_to(row: SpecValue, days: int, **changed: object) -> None:
    for name, new in changed.items():
        setattr(row, name, new)
    row.save()
    happened(row, days)


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ([], {-1: [], 1: ["3350"]}),
        ([(0, {"value": "3352"})], {0: ["3352"]}),  # of one moment: in their order
        ([(10, {"value": "3352"})], {9: ["3350"], 10: ["3352"]}),
        ([(10, {"status": "retired", "is_preferred": False})], {9: ["3350"], 11: []}),
        (
            [(0, {"status": "draft", "is_preferred": False}), (10, {"status": "public", "is_preferred": True})],
            {9: [], 11: ["3350"]},
        ),
    ],
)
def test_a_value_is_seen_as_it_was(card, since_day_one, changes, seen):
    for days, changed in changes:
        change_to(since_day_one, days, **changed)
    assert {days: said(card, at(days)) for days in seen} == seen
    for then in public_values_at([card.pk], at(9)):
        assert (then.pk, then.source.title) == (since_day_one.pk, "Acme data sheet")


def test_a_deleted_value_is_shown_until_it_was_deleted(card, since_day_one):
    pk = since_day_one.pk
    since_day_one.delete()
    since_day_one._was = pk
    happened(since_day_one, 10)
    assert said(card, at(9)) == ["3350"]
    assert said(card, at(11)) == []


def test_a_reverted_value_is_shown_in_all_its_three_states(card, since_day_one):
    change_to(since_day_one, 10, value="3352")
    SpecValue.history.filter(id=since_day_one.pk).order_by("history_id")[0].instance.save()
    happened(since_day_one, 20)
    assert [said(card, at(days)) for days in (5, 15, 25)] == [["3350"], ["3352"], ["3350"]]


def test_a_value_stands_on_the_sheet_it_was_on(card, since_day_one):
    other = Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")
    happened(other, 0)
    change_to(since_day_one, 10, accelerator=other)
    assert (said(card, at(9)), said(other, at(9))) == (["3350"], [])
    assert (said(card, at(11)), said(other, at(11))) == ([], ["3350"])


def test_alternatives_are_there_after_the_preferred_value(card, since_day_one, sheet_source):
    other = SpecValue.objects.create(
        accelerator=card, field="memory_bandwidth_gb_s", value="3000", unit="GB/s", source=sheet_source, status="public"
    )
    happened(other, 0)
    found = public_values_at([card.pk], at(1))
    assert [(value.value, value.is_preferred) for value in found] == [("3350", True), ("3000", False)]


def test_an_accelerator_that_was_hidden_then_had_no_sheet(card, since_day_one):
    card.is_public = False
    card.save()
    happened(card, 10)
    card.is_public = True
    card.name = "Acme One, new name"
    card.save()
    happened(card, 20)
    assert [bool(said(card, at(days))) for days in (5, 15, 25)] == [True, False, True]
    assert public_accelerators_at([card.pk], at(5))[card.pk].name == "Acme One"
    assert public_accelerators_at([card.pk], at(15)) == {}


def test_before_anything_was_entered_there_is_nothing(card, since_day_one):
    assert public_accelerators_at([card.pk], at(-1)) == {}


def test_value_without_source_is_left_out(card, since_day_one, sheet_source):
    since_day_one.delete()
    sheet_source.delete()
    assert said(card, at(1)) == []


def test_a_source_is_shown_as_it_is_now(card, since_day_one, sheet_source):
    sheet_source.url = "https://acme.example/moved"
    sheet_source.save()
    assert public_values_at([card.pk], at(1))[0].source.url == "https://acme.example/moved"


def test_names_are_those_it_had(card, since_day_one, sheet_source):
    name = Alias.objects.create(accelerator=card, name="Acme Uno", source=sheet_source)
    happened(name, 10)
    assert names_at(card.pk, at(9)) == []
    assert [found.name for found in names_at(card.pk, at(11))] == ["Acme Uno"]


def test_now_is_what_the_database_says(curated, db):
    """The history tells the same as the rows, for the whole catalogue."""
    public = SpecValue.objects.filter(status="public", accelerator__is_public=True)
    told = public_values_at(Accelerator.objects.values_list("pk", flat=True), timezone.now())
    assert {value.pk: value.content() for value in told} == {value.pk: value.content() for value in public}
    assert len(told) > 4000


def test_past_lookup_costs_three_queries(curated, db, django_assert_num_queries):
    for number in (1, 200):
        ids = list(Accelerator.objects.values_list("pk", flat=True)[:number])
        with django_assert_num_queries(3):
            values = public_values_at(ids, timezone.now())
            assert all(value.source.title for value in values)
        assert len({value.accelerator_id for value in values}) > number // 2


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-01T12:00:00Z", DAY_ONE),
        ("2024-03-01T12:00", DAY_ONE),
        ("2024-03-01T14:00:00+02:00", DAY_ONE),
        ("2024-03-01T14:00:00 02:00", DAY_ONE),
        ("2024-03-01T07:00:00-05:00", DAY_ONE),
        ("2024-03-01 12:00:00.000000", DAY_ONE),
        ("2024-03-01", datetime(2024, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        (" 2024-02-29 ", datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_date_or_a_time(text, moment):
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2024", "2024-13-01", "2023-02-29", "20240301", "2024-W09-5", "2024-03-01T25:00:00Z",
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2999-01-01", "2024-03-01T12:00:00Z; drop", "٢٠٢٤-٠٣-٠١", "1" * 10_000,
    ],
)  # fmt: skip
def test_what_is_no_moment_or_lies_ahead_is_none(text):
    assert read_moment(text) is None


def test_a_moment_is_written_as_it_is_read():
    assert write_moment(DAY_ONE) == "2024-03-01T12:00:00Z"
    precise = DAY_ONE.replace(microsecond=250)
    assert read_moment(write_moment(precise)) == precise


def test_today_means_until_now_and_no_second_ahead():
    before = timezone.now()
    assert before <= read_moment(f"{before:%Y-%m-%d}") <= timezone.now()
    assert read_moment((timezone.now() + timedelta(seconds=60)).isoformat()) is None
