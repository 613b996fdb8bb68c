"""What the site makes of format 1.1: rounds, interference, energy, several cards, and the clock of the machine."""

import json
from datetime import timedelta
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from django.utils import timezone

from stackviz.base.stats import summarize
from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.ingest.reading import ReportClock, stored_conditions
from stackviz.records.labs.models import Machine, Snapshot
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import latest_results
from stackviz.report.format import parse_report
from tests.report.format.reports import gemm_result, h100_card, report_body, rounds_result

RECORDED = sorted((Path(__file__).parents[2] / "fixtures" / "reports").glob("*.json"))
pytestmark = pytest.mark.django_db
BUSY = {"foreign_cpu_ratio": 0.48, "steal_ratio": 0.0, "processes": ["stress-ng", "<b>x</b>"], "rounds_disturbed": 3}


@pytest.fixture
def read(post):
    """Post a report and read it -> the answer."""

    def send(**changes):
        answer = post(report_body(**changes))
        assert answer.status_code == 202, answer.content
        assert interpret(answer.json()["id"]) == "read"
        return answer.json()

    return send


def only_result() -> Measurement:
    machine = Machine.objects.get()
    (result,) = latest_results([machine])[machine.pk]
    return result


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_report_of_1_0_is_read_as_before(path, post):
    text = path.read_text(encoding="utf-8")
    report = parse_report(text)
    answer = post(json.loads(text))
    interpret(answer.json()["id"])
    stored = list(Result.objects.order_by("position"))
    assert [result.conditions for result in stored] == [dict(sent.conditions) for sent in report.results]
    for result, sent in zip(stored, report.results, strict=True):
        summary = summarize(sent.samples) if sent.state == "ok" else None
        assert (result.low, result.high) == ((summary.low, summary.high) if summary else (None, None))


def test_the_interval_is_that_of_the_rounds(read):
    sent = rounds_result()
    read(results=[sent])
    result = only_result()
    assert result.summary.rounds == 3
    expected = summarize(sent["samples"], sent["rounds"])
    assert (result.summary.low, result.summary.high) == (expected.low, expected.high)
    assert result.conditions["round_sizes"] == "2 2 2"
    assert result.conditions["energy_per_run_j"] == pytest.approx(1.1, rel=0.01)
    assert result.conditions["enqueue_ratio"] == pytest.approx(0.00627, rel=0.01)
    assert result.conditions["framework"] == "torch"


def test_a_disturbed_result_says_so_on_its_pages(read, client):
    cpu = rounds_result(device="cpu", card=None, interference=BUSY, conditions={"device_used": "cpu"})
    read(results=[cpu])
    result = only_result()
    assert result.is_disturbed
    assert result.summary.is_noisy is None
    machine = Machine.objects.get()
    for address in (machine.get_absolute_url(), f"{machine.get_absolute_url()}series/{result.series_id}/"):
        page = client.get(address).content.decode()
        assert (
            "disturbed: other programs used 48 % of the processors (stress-ng, &lt;b&gt;x&lt;/b&gt;)"
            in page.replace("\N{NO-BREAK SPACE}", " ")
        ), address
        assert "cannot tell" in page


def test_others_on_the_card_disturb_it_and_no_other_load(read):
    read(results=[rounds_result(interference=BUSY)])
    assert not only_result().is_disturbed
    read(results=[rounds_result(interference={"card_ratio": 0.3, "card_processes": ["python"]})])
    assert "disturbed: other processes used 30 % of the card (python)" in only_result().remarks


def test_the_series_page_groups_samples_by_known_rounds(read, client):
    read(results=[rounds_result(), gemm_result(device="cuda")])
    machine = Machine.objects.get()
    pages = {
        series.device: client.get(f"{machine.get_absolute_url()}series/{series.pk}/").content.decode()
        for series in Series.objects.all()
    }
    assert "3: 1.585 ms, 1.605 ms, 1.595 ms" in pages["cuda:0"].replace("\N{NO-BREAK SPACE}", " ")
    assert "not known: the interval takes samples for independent" in pages["cuda"]


def test_eight_cards_are_a_setting_of_their_own(read):
    cards = [h100_card(index=number, uuid_hash=f"{number:064x}") for number in range(8)]
    read(cards=cards, results=[gemm_result(), gemm_result(card=None, device="cuda", cards=list(range(8)))])
    one, eight = Series.objects.order_by("-device")
    assert (one.card_index, one.params.get("cards")) == (0, None)
    assert (eight.card_index, eight.params["cards"]) == (None, 8)
    assert one.params_key != eight.params_key


@pytest.mark.parametrize(("field", "value"), [("energy_j", [-1] * 6), ("rounds", [0] * 5), ("samples", [0.1] * 10**5)])
def test_what_cannot_be_is_refused_with_its_field(post, field, value):
    answer = post(report_body(results=[rounds_result(**{field: value})]))
    assert answer.status_code == 422
    assert answer.json()["field"].startswith(f"results[0].{field}")


# ---- the clock ----


def moment(ahead: timedelta) -> str:
    return (timezone.now() + ahead).isoformat()


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (timedelta(days=-2, hours=-3), "The machine's clock is behind by 2 days, 3:00:0"),
        (timedelta(days=3650, seconds=30), "The machine's clock is ahead by 3650 days"),
    ],
)
def test_a_wrong_clock_is_said_and_corrected(read, client, ahead, words):
    made = moment(ahead - timedelta(minutes=10))
    answer = read(created_at=made, sent_at=moment(ahead), results=[gemm_result(started_at=made)])
    assert words.removesuffix("0") in unescape(client.get(answer["receipt_url"]).content.decode())
    for time in (Snapshot.objects.get().taken_at, Result.objects.get().measured_at):
        assert timedelta(minutes=9) < timezone.now() - time < timedelta(minutes=12)
    assert Result.objects.get().flags is None


def test_a_clock_that_is_right_changes_nothing(read, client):
    made = moment(timedelta(days=-3))
    answer = read(created_at=made, sent_at=moment(timedelta(seconds=40)), results=[])
    assert "clock" not in client.get(answer["receipt_url"]).content.decode()
    assert timedelta(days=2) < timezone.now() - Snapshot.objects.get().taken_at
    now, ends = timezone.now(), ("0002-01-01T00:00:00Z", "9998-12-31T00:00:00Z")
    for created_at, sent_at in product(ends, ends):  # of the calendar
        clock = ReportClock.of(parse_report(report_body(created_at=created_at, sent_at=sent_at)), now)
        assert clock.taken_at <= now


def test_a_report_sent_again_is_the_same_at_any_stated_time(post):
    body = report_body(sent_at=moment(timedelta(0)))
    assert post(body).status_code == 202
    assert post({**body, "sent_at": moment(timedelta(seconds=9))}).status_code == 200
    assert post({**body, "sent_at": moment(timedelta(0)), "facts": {}}).status_code == 409


def test_conditions_without_anything_new_are_the_same_object():
    (result,) = parse_report(report_body(results=[gemm_result()])).results
    assert stored_conditions(result) is result.conditions
