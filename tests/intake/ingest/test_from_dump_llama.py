"""What llama-bench printed, saved as a machine of a lab, is stored as results: once, dated, on its card."""

import json

import pytest
from django.contrib.auth.models import User

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import Lab, Machine, Membership, Report
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import latest_results
from tests.pages.diagnose.conftest import CPU_WHEEL
from tests.report.dumps.test_llama_results import DEVICES, HEADER, ROW, RUN, table

ADDRESS = "/diagnose/add/"
TESTS = ("pp512", "tg128", "tg128 @ d4096")


@pytest.fixture
def member(client, db, queued):
    lab = Lab.objects.create(slug="north", name="North lab", is_public=True)
    user = User.objects.create_user("member", password="x")
    Membership.objects.create(lab=lab, user=user)
    client.force_login(user)
    return client


@pytest.fixture
def added(member):
    """Adds a text as the machine "desk" -> its stored results in order."""

    def add(text) -> list[Result]:
        answer = member.post(ADDRESS, {"text": text, "lab": "north", "name-1": "desk"})
        assert answer.status_code == 302, answer.content.decode()
        report = Report.objects.order_by("received_at").last()
        assert interpret(report.pk) == "read"
        return list(Result.objects.filter(report=report).select_related("series").order_by("position"))

    return add


def test_json_is_stored_with_its_samples_and_the_time_of_the_run(added):
    (result,) = added(json.dumps([RUN]))
    assert (result.unit, result.samples) == ("token/s", RUN["samples_ts"])
    assert (result.median, result.flags, result.standing) == (189.6, None, None)
    assert result.measured_at.isoformat() == "2026-07-21T18:53:15+00:00"
    series = result.series
    assert (series.benchmark, series.version, series.card_index) == ("llama-bench", 1, 0)
    assert series.params["model"] == "Llama 2 7B"
    assert (series.baseline, series.result_count) == (189.6, 1)


def test_a_table_is_stored_as_means(added):
    text = table() + "\n" + table(test="pp512", rate="8125.45 ± 23.37")
    rows = added(text)
    assert [(row.samples, row.conditions["mean_of_runs"], row.flags) for row in rows] == [
        ([189.5], True, None), ([8125.45], True, None),
    ]  # fmt: skip


def test_one_run_is_set_aside(added):
    (row,) = added(table(rate="189.50 ± 0.00"))
    assert (row.flags, row.standing) == ("one-sample", "flagged")


def test_a_run_of_another_day_is_the_next_point_of_the_series(added, member):
    for _twice in range(2):
        added(json.dumps([RUN]))
    assert Result.objects.count() == 1  # the same text
    added(json.dumps([RUN | {"test_time": "2026-08-01T00:00:00Z", "samples_ts": [190.1, 190.2, 190.3]}]))
    (series,) = Series.objects.all()
    assert series.result_count == 2
    (latest,) = latest_results(Machine.objects.all())[series.machine_id]
    assert latest.rate.label == "190 tokens/s"
    machine = Machine.objects.get()
    page = member.get(machine.get_absolute_url()).content.decode()
    assert "190 tokens/s" in page
    assert "tg128 Llama 2 7B Q4_0 CUDA n_gpu_layers=99 flash_attention=off" in page
    series_page = member.get(f"{machine.get_absolute_url()}series/{series.pk}/").content.decode()
    assert "190.1 tokens/s" in series_page
    assert "llama-bench -m MODEL.gguf -p 0 -n 128 -ngl 99 -fa 0 -o json" in series_page
    assert ("no formula for a rate" in page, " ks" in series_page) == (False, False)


def test_of_two_such_cards_a_result_is_on_neither(added):
    run = RUN | {"gpu_info": "NVIDIA H100 80GB HBM3", "cpu_info": ""}
    (row,) = added(f"{CPU_WHEEL}\n\n{json.dumps([run])}\n")
    assert (row.series.card_index, row.series.device) == (None, "NVIDIA H100 80GB HBM3")
    assert Machine.objects.count() == 1


def test_rows_of_two_devices_are_kept_on_no_card(added):
    (row,) = added(DEVICES + HEADER + ROW.format(test="tg128", rate="200.00 ± 1.00"))
    assert (row.series.card_index, row.series.device) == (None, "NVIDIA GeForce RTX 4090 x2")


@pytest.mark.parametrize("rate", ["-1.00 ± 0.10", "nan ± nan", "1000000000.00 ± 1.00"])
def test_a_rate_that_is_none_is_kept_as_a_failed_run(added, member, rate):
    (row,) = added(table(rate=rate))
    assert (row.state, row.reason, row.samples) == ("failed", f"it states {rate}", [])
    assert member.get(Machine.objects.get().get_absolute_url()).status_code == 200


def test_storing_costs_the_same_for_many_rows(added, django_assert_max_num_queries):
    rows = [RUN | {"n_gen": number} for number in range(1, 101)]
    with django_assert_max_num_queries(45):
        stored = added(json.dumps(rows))
    assert len(stored) == 100
