"""The history of a figure on its sheet: as the public saw it, and nothing the public did not."""

import pytest
from django.contrib.auth.models import User

from stackviz.pages.accelerators.value_history import MOST_STEPS, value_histories
from stackviz.records.catalog.models import Accelerator, SpecValue

SLOT = ("memory_bandwidth_gb_s", "")


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_user("login-of-mira", first_name="mira")


def save(row: SpecValue, reason: str = "", user: User | None = None, /, **changed: object) -> None:
    for name, new in changed.items():
        setattr(row, name, new)
    row.set_change_reason(reason)
    row._history_user = user
    row.save()


def steps_of(card: Accelerator) -> list[tuple[str, str, str, str]]:
    """(who, old, new, why), newest first."""
    return [step[1:] for step in value_histories(card.pk)[SLOT].steps]


def test_a_change_is_told_with_who_what_and_why(card, bandwidth, mira):
    save(bandwidth, "data sheet of March", mira, value="3352")
    assert steps_of(card)[0] == ("mira", "3350 GB/s", "3352 GB/s", "data sheet of March")


def test_the_first_load_is_no_change(curated, h100):
    histories = value_histories(h100.pk)
    assert len(histories) > 30
    assert all(history.steps == () for history in histories.values())


def test_drafts_and_values_of_hidden_sheets_have_no_history(card, bandwidth, sheet_source):
    power = {"field": "tdp_w", "unit": "W", "source": sheet_source}
    draft = SpecValue.objects.create(accelerator=card, value="666", status="unreviewed", **power)
    assert ("tdp_w", "") not in value_histories(card.pk)
    of_sheet = {"slug": "acme-secret", "name": "Acme Secret", "vendor": card.vendor, "kind": "gpu"}
    hidden = Accelerator.objects.create(is_public=False, **of_sheet)
    moved = SpecValue.objects.create(accelerator=hidden, value="999", status="public", **power)
    for value, changed in ((draft, {"status": "public"}), (moved, {"accelerator": card})):
        save(value, "what it became", value="700", **changed)
        steps = value_histories(card.pk)["tdp_w", ""].steps
        assert {step[2:4] for step in steps} == {("", "700 W")}


def test_retired_value_hides_later_edits(card, bandwidth, mira):
    save(bandwidth, "it was the 2022 figure", mira, status="retired", is_preferred=False)
    save(bandwidth, "secret thoughts", mira, value="1234")
    assert steps_of(card)[0] == ("mira", "3350 GB/s", "", "it was the 2022 figure")
    assert "1234" not in str(steps_of(card))
    assert "secret" not in str(steps_of(card))


def test_only_what_changed_for_readers_is_in_the_history(card, bandwidth, mira):
    before = len(steps_of(card))
    save(bandwidth, "just looking", mira)
    assert len(steps_of(card)) == before
    save(bandwidth, "another source is newer", mira, is_preferred=False)
    assert steps_of(card)[0][1:3] == ("3350 GB/s (preferred)", "3350 GB/s (an alternative)")
    save(bandwidth, "", mira, is_preferred=True)
    bandwidth.delete()
    assert steps_of(card)[0][1:3] == ("3350 GB/s", "")


def test_newest_changes_are_listed_rest_counted(card, bandwidth, mira):
    for number in range(MOST_STEPS + 3):
        save(bandwidth, "", mira, value=str(3000 + number))
    history = value_histories(card.pk)[SLOT]
    assert len(history.steps) == MOST_STEPS
    assert history.left_out == 4  # three more, and that it was added
    assert history.steps[0][3] == f"{3000 + MOST_STEPS + 2} GB/s"


def test_the_history_of_a_sheet_costs_two_queries(card, bandwidth, mira, django_assert_num_queries):
    for number in range(5):
        save(bandwidth, "", mira, value=str(3000 + number))
    with django_assert_num_queries(2):  # the records, who made them
        value_histories(card.pk)
