"""The desk for cited results: lists and forms open, a correction says why, several are withdrawn at once."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedEdition, CitedResult
from tests.records.cited.conftest import LINE

LIST = "/admin/cited/citedresult/"


@pytest.fixture
def result(rtx_4090, folder) -> CitedResult:
    load_cited(folder())
    return CitedResult.objects.get(value="189.05")


def filled_in(result: CitedResult, **changes: object) -> dict[str, object]:
    return {
        "benchmark": result.benchmark, "accelerator": result.accelerator_id, "reported_name": result.reported_name,
        "count": 1, "params": json.dumps(result.params), "value": result.value, "unit": result.unit,
        "software": json.dumps(result.software), "date": "2025-07-01", "source": result.source_id, "note": "",
        "state": "public", "reason": "", "why": "read again", **changes,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["citedresult", "citedsource", "citedload"])
def test_every_list_opens(admin_client, result, name):
    assert admin_client.get(f"/admin/cited/{name}/").status_code == 200


@pytest.mark.parametrize("query", ["?q=4090", "?state__exact=doubtful", "?origin=files", "?benchmark=llama-bench"])
def test_the_list_searches_and_filters(admin_client, result, query):
    assert admin_client.get(LIST + query).status_code == 200


def test_the_list_costs_the_same_however_long_it_is(admin_client, result, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        assert "189.05 token/s" in admin_client.get(LIST).content.decode()


def test_a_correction_is_saved_with_who_and_why(admin_client, result):
    answer = admin_client.post(f"{LIST}{result.pk}/change/", filled_in(result, value="190"))
    assert answer.status_code == 302, answer.content.decode()
    latest = result.history.first()
    assert (latest.value, latest.history_user.username, latest.history_change_reason) == ("190", "admin", "read again")
    result.refresh_from_db()
    assert result.is_corrected_here


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"why": ""}, "This field is required."),
        ({"unit": "GB/s"}, "This benchmark has token/s."),
        ({"value": "NaN"}, "A number is needed: finite and not negative."),
        ({"params": "{"}, "Enter a valid JSON."),
        ({"params": '{"colour": "red"}'}, "llama-bench has no parameter"),
        ({"accelerator": ""}, "A public result needs a spec sheet."),
        ({"state": "withdrawn"}, "Say why it is doubtful or withdrawn."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_saved(admin_client, result, changes, message):
    answer = admin_client.post(f"{LIST}{result.pk}/change/", filled_in(result, **changes))
    assert message in answer.content.decode()
    assert not result.history.exists()


def test_a_result_is_added_by_hand(admin_client, result):
    answer = admin_client.post(f"{LIST}add/", filled_in(result, value="200"))
    assert answer.status_code == 302, answer.content.decode()
    assert CitedResult.objects.get(value="200").data_key is None


def test_several_are_withdrawn_with_a_reason_and_accepted_again(admin_client, result):
    pks = list(CitedResult.objects.values_list("pk", flat=True))
    form = {"action": "withdraw", "_selected_action": pks}
    assert "Give a reason." in admin_client.post(LIST, form, follow=True).content.decode()
    assert CitedResult.objects.filter(state="withdrawn").count() == 0
    admin_client.post(LIST, form | {"why": "the author took it back"})
    assert set(CitedResult.objects.values_list("state", "reason")) == {("withdrawn", "the author took it back")}
    admin_client.post(LIST, {"action": "accept", "_selected_action": pks, "why": "measured again"})
    assert set(CitedResult.objects.values_list("state", flat=True)) == {"public"}
    assert [row.history_change_reason for row in result.history.all()] == [
        "measured again",
        "the author took it back",
        "Loaded from the curated files",
    ]


def test_what_may_not_be_public_is_named_and_left(admin_client, result):
    CitedResult.objects.filter(pk=result.pk).update(accelerator=None, state="unmatched")
    page = admin_client.post(LIST, {"action": "accept", "_selected_action": [result.pk], "why": "x"}, follow=True)
    assert "A public result needs a spec sheet." in page.content.decode()
    result.refresh_from_db()
    assert result.state == "unmatched"


def test_many_are_withdrawn_by_a_few_queries(admin_client, rtx_4090, folder):
    load_cited(folder([LINE | {"note": f"run {number}"} for number in range(200)]))
    pks = list(CitedResult.objects.values_list("pk", flat=True))

    def queries(chosen: list[int]) -> int:
        with CaptureQueriesContext(connection) as captured:
            admin_client.post(LIST, {"action": "withdraw", "_selected_action": chosen, "why": "taken back"})
        return len(captured)

    assert queries(pks[20:]) - queries(pks[:20]) <= 10
    assert not CitedResult.objects.exclude(state="withdrawn").exists()


def test_control_characters_stand_in_no_reason(admin_client, result):
    admin_client.post(LIST, {"action": "withdraw", "_selected_action": [result.pk], "why": "a \x08b"})
    result.refresh_from_db()
    assert result.reason == "a b"


def test_several_are_deleted_with_their_history_by_a_few_queries(admin_client, rtx_4090, folder):
    lines = [LINE | {"note": f"run {number}"} for number in range(301)]
    load_cited(folder(lines))
    edition = CitedEdition.current()
    pks = list(CitedResult.objects.values_list("pk", flat=True))[:300]
    form = {"action": "delete_selected", "_selected_action": pks}
    assert "Are you sure" in admin_client.post(LIST, form).content.decode()
    with CaptureQueriesContext(connection) as captured:
        admin_client.post(LIST, form | {"post": "yes"})
    assert len([query for query in captured if "citedresult" in query["sql"]]) < 30
    assert (CitedResult.objects.count(), CitedEdition.current() != edition) == (1, True)
    assert CitedResult.history.filter(history_type="-", history_user__username="admin").count() == 300
    load_cited(folder(lines), force=True)
    assert CitedResult.objects.count() == 1


def test_too_many_are_not_deleted_at_once(admin_client, rtx_4090, folder, monkeypatch):
    monkeypatch.setattr("stackviz.records.cited.admin.MOST_DELETED", 1)
    load_cited(folder())
    form = {"action": "delete_selected", "_selected_action": list(CitedResult.objects.values_list("pk", flat=True))}
    page = admin_client.post(LIST, form, follow=True).content.decode()
    assert "At most 1 results can be deleted at once. Withdraw them instead" in page
    assert CitedResult.objects.count() == 2


def test_too_many_are_not_changed_at_once(admin_client, rtx_4090, folder, monkeypatch):
    monkeypatch.setattr("stackviz.records.cited.admin.MOST_CHANGED", 1)
    load_cited(folder())
    pks = list(CitedResult.objects.values_list("pk", flat=True))
    form = {"action": "withdraw", "_selected_action": pks, "why": "taken back"}
    assert "At most 1 results can be changed at once" in admin_client.post(LIST, form, follow=True).content.decode()
    assert not CitedResult.objects.filter(state="withdrawn").exists()
