"""Loading: every line a row, nothing twice, corrections stay, names decide only where one sheet has them."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from stackviz.records.catalog.models import Accelerator, Alias
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedEdition, CitedLoad, CitedResult
from stackviz.records.curated.change import own_reason
from tests.records.cited.conftest import LINE, OTHER, SOURCE


def test_a_line_becomes_a_public_result(rtx_4090, folder):
    load_cited(folder())
    row = CitedResult.objects.get(value="189.05")
    assert (row.accelerator, row.state, row.amount, row.si) == (rtx_4090, "public", 189.05, "token/s")
    assert row.params == {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}
    assert (row.software, row.source.url) == ({"llama.cpp": "b5000"}, SOURCE["url"])


def test_a_second_load_changes_nothing(rtx_4090, folder, django_assert_num_queries):
    load_cited(folder())
    edition = CitedEdition.current()
    with django_assert_num_queries(3):
        assert load_cited(folder()).is_unchanged
    assert CitedEdition.current() == edition


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({"doubt": "above the published peak"}, "doubtful", "above the published peak"),
        ({"value": "0", "doubt": "printed as zero"}, "doubtful", "printed as zero"),
        ({"accelerator": "", "reported_name": "RTX 4090 Laptop"}, "unmatched", ""),
        ({"accelerator": "-", "reported_name": "NVIDIA GeForce RTX 4090"}, "unmatched", ""),
        ({"accelerator": "", "reported_name": "NVIDIA GeForce RTX 4090"}, "public", ""),
        ({"accelerator": "nvidia-h100-nvl", "reported_name": "H100 NVL"}, "unmatched", ""),
    ],
)
def test_the_state_follows_from_the_line_and_the_names(rtx_4090, folder, changes, state, reason):
    load_cited(folder([LINE | changes]))
    row = CitedResult.objects.get()
    assert (row.state, row.reason) == (state, reason)
    assert row.accelerator == (None if state == "unmatched" else rtx_4090)


def test_a_name_of_two_sheets_decides_nothing(rtx_4090, folder):
    other = Accelerator.objects.create(slug="nvidia-l4", name="NVIDIA L4", vendor=rtx_4090.vendor, kind="gpu")
    Alias.objects.create(accelerator=other, name="NVIDIA GeForce RTX 4090", kind="product")
    load_cited(folder([LINE | {"accelerator": "", "reported_name": "NVIDIA GeForce RTX 4090"}]))
    assert CitedResult.objects.get().state == "unmatched"


def test_a_later_version_changes_adds_and_deletes_lines(rtx_4090, folder):
    load_cited(folder())
    summary = load_cited(folder([LINE | {"value": "190"}, OTHER | {"date": "2026-01-01"}]))
    assert str(summary.tables["results"]) == "1 new, 1 updated, 1 deleted"
    changed = CitedResult.objects.get(value="190")
    assert [(was.value, was.history_type) for was in changed.history.order_by("history_id")] == [
        ("189.05", "+"),
        ("190", "~"),
    ]
    assert CitedLoad.objects.count() == 2


def test_a_correction_survives_a_later_load(rtx_4090, folder):
    load_cited(folder())
    row = CitedResult.objects.get(value="189.05")
    row.state, row.reason = "withdrawn", "measured at half the power limit"
    row.set_change_reason("the author says so")
    row.save()
    summary = load_cited(folder([LINE | {"value": "190"}, OTHER]))
    row.refresh_from_db()
    assert (row.value, row.state) == ("189.05", "withdrawn")
    assert "1 left as corrected here" in str(summary.tables["results"])


def test_a_row_deleted_here_stays_deleted(rtx_4090, folder):
    load_cited(folder())
    CitedResult.objects.get(value="189.05").delete()
    load_cited(folder([LINE | {"value": "190"}, OTHER]))
    assert list(CitedResult.objects.values_list("value", flat=True)) == [OTHER["value"]]


def test_rows_that_were_all_deleted_here_stay_deleted(rtx_4090, folder):
    load_cited(folder())
    for row in CitedResult.objects.all():
        row.delete()
    assert str(load_cited(folder(), force=True).tables["results"]) == "2 left as corrected here"
    assert not CitedResult.objects.exists()


def test_history_of_a_corrected_row_begins_with_the_load(rtx_4090, folder):
    load_cited(folder())
    row = CitedResult.objects.get(value="189.05")
    row.note = "read again"
    row.set_change_reason("checked")
    row.save()
    first, second = row.history.order_by("history_id")
    assert (first.history_type, first.note, first.history_change_reason) == ("+", "", "Loaded from the curated files")
    assert (second.history_type, second.note, second.history_change_reason) == ("~", "read again", "checked")
    assert first.history_date < second.history_date


def test_wrong_files_load_nothing(rtx_4090, folder):
    load_cited(folder())
    with pytest.raises(ValueError, match=r"results/llama-bench.csv:2: value"):
        load_cited(folder([LINE | {"value": "nan"}]))
    assert CitedResult.objects.count() == 2


def test_the_command_names_what_is_wrong(db, monkeypatch, folder):
    wrong = folder([LINE | {"source": ""}])
    monkeypatch.setattr(
        "stackviz.records.cited.management.commands.load_cited.load_cited", lambda **_: load_cited(wrong)
    )
    with pytest.raises(CommandError, match=r"results/llama-bench.csv:2: source: missing"):
        call_command("load_cited", stdout=StringIO())


def test_the_log_says_why_a_result_was_set_aside(rtx_4090, folder):
    load_cited(folder())
    load_cited(folder([LINE | {"doubt": "of another column of the table"}, OTHER]))
    row = CitedResult.objects.get(state="doubtful")
    assert own_reason(row.history.latest().history_change_reason) == "of another column of the table"
    assert CitedResult.objects.exclude(pk=row.pk).get().history.count() == 0


def test_results_of_a_deleted_sheet_stay_without_one(rtx_4090, folder):
    load_cited(folder([LINE, OTHER | {"doubt": "above the published peak"}]))
    rtx_4090.delete()
    assert sorted(CitedResult.objects.values_list("accelerator", "state")) == [(None, "doubtful"), (None, "unmatched")]
