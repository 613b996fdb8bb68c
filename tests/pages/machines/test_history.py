"""What happened to a series: change points, what changed in the stack around them, and what members say of them."""

import csv
import html
import io
import re

import pytest
from django.core.cache import cache

from stackviz.records.labs.models import Membership
from stackviz.records.series.history import WATCHED_FACTS
from stackviz.records.series.models import ChangeDecision, Result
from tests.pages.machines.factories import DGX_FACTS, START, days, gemm, h100, make_lab, make_machine, make_report

JITTER = [1.000, 1.004, 0.997, 1.001, 0.998, 1.003, 0.999, 1.002, 0.996, 1.000]
NEW_DRIVER = {**DGX_FACTS, "nvidia.driver_version": "560.28.03", "torch.version": "2.9.0+cu128"}


def text_of(client, url):
    response = client.get(url)
    assert response.status_code == 200
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.unescape(response.content.decode())))
    return re.sub(r" ([:,])", r"\1", text)


@pytest.fixture
def machine(db):
    return make_machine(make_lab(), "dgx-07")


@pytest.fixture
def member(machine, django_user_model):
    user = django_user_model.objects.create_user("ada", password="x")
    Membership.objects.create(lab=machine.lab, user=user)
    return user


def report(machine, day, factor=1.0, facts=None, watts=700.0, **fields):
    seconds = 0.0014 * factor * JITTER[day % 10]
    results = [gemm("bf16", [seconds * (1 + 0.0001 * n) for n in range(8)], **fields)]
    cards = [h100(0, power_limit_w=watts)]
    return make_report(machine, at=START + days(day), facts=facts, cards=cards, results=results)


def slower_since_new_driver(machine):
    """Ten steady days, then ten days 5 % slower with another driver and torch."""
    for day in range(10):
        report(machine, day)
    first, *_others = [report(machine, day, 1.0526, NEW_DRIVER) for day in range(10, 20)]
    return first


def series_url(machine):
    return f"/machines/north/dgx-07/series/{machine.series.get().pk}/"


def test_a_change_is_attributed_to_what_changed_between_the_two_reports(client, machine):
    slower_since_new_driver(machine)
    text = text_of(client, series_url(machine))
    assert (
        "5 % slower since 2026-11-30: NVIDIA driver 535.183.01 → 560.28.03, PyTorch 2.8.0+cu128 → 2.9.0+cu128" in text
    )
    assert "785 TFLOP/s → 746 TFLOP/s" in text


def test_a_change_without_a_reason_says_that_nothing_changed(client, machine):
    for day in range(20):
        report(machine, day, 1.0526 if day >= 10 else 1.0)
    assert "5 % slower since 2026-11-30: nothing we read changed" in text_of(client, series_url(machine))


def test_a_lower_power_limit_is_named_in_watts(client, machine):
    for day in range(20):
        report(machine, day, *((1.12, None, 300.0) if day >= 10 else ()))
    assert "11 % slower since 2026-11-30: Power limit 700 W → 300 W" in text_of(client, series_url(machine))


def test_a_cause_one_result_beside_the_change_is_said_to_be_near(client, machine):
    for day in range(20):
        report(machine, day, 1.0526 if day >= 10 else 1.0, NEW_DRIVER if day >= 11 else None)
    text = text_of(client, series_url(machine))
    assert re.search(r"since 2026-11-30: NVIDIA driver .* within two results of it", text)


def test_changes_of_the_stack_are_listed_and_marked_though_the_level_stays(client, machine):
    for day in range(12):
        report(machine, day, facts=NEW_DRIVER if day >= 6 else None)
    response = client.get(series_url(machine))
    text = text_of(client, series_url(machine))
    assert "The level of these results did not change." in text
    assert re.search(r"2026-11-26 08:00 78\d(\.\d)? TFLOP/s NVIDIA driver 535.183.01 → 560.28.03", text)
    assert "driver 535.183.01→560.28.03, torch 2.8.0→2.9.0" in text  # beside the mark in the chart
    assert 'class="mark"' in response.content.decode()
    assert "triangle-up" in client.get(series_url(machine) + "?format=plotly").content.decode()


def test_changes_older_than_the_listed_results_are_listed_apart(client, machine):
    for day in range(30):
        report(machine, day, facts=NEW_DRIVER if day >= 4 else None)
    text = text_of(client, series_url(machine))
    assert "2026-11-24 NVIDIA driver 535.183.01 → 560.28.03" in text
    assert not re.search(r"2026-11-24 08:00 \d", text)


def test_readings_stand_in_three_columns_in_words(client, machine):
    conditions = {
        "before.power_w": 72.3,
        "during.power_w": 690.0,
        "after.power_w": 498.0,
        "after.temperature_c": 61.0,
        "timer": "CUDA events",
    }
    report(machine, 0, conditions=conditions)
    text = text_of(client, series_url(machine))
    assert "power drawn by the card 72.3 W 690 W 498 W" in text
    assert "temperature of the card or processor not reported not reported 61 °C" in text
    assert "the clock that was read CUDA events" in text
    assert "before." not in text


def test_results_that_are_set_aside_change_nothing(client, machine):
    slower_since_new_driver(machine)
    Result.objects.filter(measured_at__gte=START + days(10)).update(standing="withdrawn")
    assert "slower" not in text_of(client, series_url(machine))


def test_a_steady_series_has_no_section_about_changes(client, machine):
    for day in range(15):
        report(machine, day)
    assert "What changed" not in text_of(client, series_url(machine))


# --- decisions ---


def decide(client, machine, first, answer="confirmed", **fields):
    return client.post(f"{series_url(machine)}change/", {"report": str(first.pk), "answer": answer, **fields})


def test_a_member_confirms_a_change_and_the_page_says_who_and_when(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    response = decide(client, machine, first, note="  power \x00 supply replaced ")
    assert (response.status_code, response.url) == (302, f"{series_url(machine)}#changes")
    text = text_of(client, series_url(machine))
    assert re.search(r"confirmed by ada on \d{4}-\d\d-\d\d: power supply replaced", text)
    client.logout()
    text = text_of(client, series_url(machine))
    assert "confirmed by a member of the lab" in text
    assert "ada" not in text


def test_a_dismissed_change_stays_listed_but_leaves_the_chart(client, machine, member):
    first = slower_since_new_driver(machine)
    assert "TFLOP" in text_of(client, series_url(machine))
    client.force_login(member)
    decide(client, machine, first, "dismissed")
    page = client.get(series_url(machine)).content.decode()
    assert "1 dismissed change" in page
    assert "5 % slower" in page.split("1 dismissed change")[1]
    assert 'class="level-label"' not in page


def test_a_decision_can_be_reversed_and_both_are_stored(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    decide(client, machine, first, "dismissed")
    decide(client, machine, first, "confirmed")
    assert [row.answer for row in ChangeDecision.objects.order_by("pk")] == ["dismissed", "confirmed"]
    assert "dismissed change" not in text_of(client, series_url(machine))


def test_a_decision_follows_a_change_that_moves_by_one_result(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    decide(client, machine, first)
    beside = Result.objects.order_by("measured_at")[11].report_id
    ChangeDecision.objects.update(report_id=beside)
    assert "confirmed by ada" in text_of(client, series_url(machine))


def test_a_confirmed_change_that_is_no_longer_found_stays(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    decide(client, machine, first)
    Result.objects.filter(measured_at__lt=START + days(8)).delete()
    assert "5 % slower since 2026-11-30: no longer found in the newest results" in text_of(client, series_url(machine))


def test_only_members_decide(client, machine, django_user_model):
    first = slower_since_new_driver(machine)
    assert "/login/" in decide(client, machine, first).url
    client.force_login(django_user_model.objects.create_user("eve", password="x"))
    assert "Dismiss" not in text_of(client, series_url(machine))
    assert decide(client, machine, first).status_code == 403
    machine.lab.is_public = False
    machine.lab.save()
    assert decide(client, machine, first).status_code == 404
    assert not ChangeDecision.objects.exists()


def test_a_decision_after_the_session_ended_leads_back_to_the_series(client, machine, member):
    first = slower_since_new_driver(machine)
    login = decide(client, machine, first).url
    answer = client.post(login, {"username": "ada", "password": "x"}, follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain[-1][0] == f"{series_url(machine)}#changes"
    assert not ChangeDecision.objects.exists()


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({"answer": "maybe"}, 422, "Choose to confirm or to dismiss."),
        ({"note": "x" * 301}, 422, "The note is too long"),
        ({"report": "00000000-0000-0000-0000-000000000000"}, 422, "No change begins with this report any more."),
        ({"report": "nonsense"}, 404, ""),
    ],
)
def test_a_decision_that_cannot_be_made_says_why(client, machine, member, fields, status, text):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    response = client.post(f"{series_url(machine)}change/", {"report": str(first.pk), "answer": "confirmed", **fields})
    assert response.status_code == status
    assert text in response.content.decode()
    assert not ChangeDecision.objects.exists()


def test_a_decision_needs_the_token_of_a_form(machine, member):
    from django.test import Client

    first = slower_since_new_driver(machine)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    assert decide(strict, machine, first).status_code == 403


def test_the_cost_of_a_series_is_the_same_with_few_and_many_results(client, machine, django_assert_num_queries):
    for day in range(12):
        report(machine, day, 1.0526 if day >= 6 else 1.0, NEW_DRIVER if day >= 6 else None)
    text_of(client, series_url(machine))
    cache.clear()
    with django_assert_num_queries(14):
        text_of(client, series_url(machine))
    for day in range(12, 60):
        report(machine, day, 1.0526)
    with django_assert_num_queries(14):
        text_of(client, series_url(machine))


def test_watched_facts_are_facts_an_agent_reports():
    from stackviz.report.format.facts import FACTS

    assert set(WATCHED_FACTS) <= set(FACTS)


# --- the file ---


def drawn_in(client, address):
    """(time, rate, low, high) of each point of the chart that the page's address answers with."""
    figure = client.get(f"{address}?format=plotly").json()
    line = next(trace for trace in figure["data"] if "error_y" in trace)
    ends = zip(line["error_y"]["arrayminus"], line["error_y"]["array"], strict=True)
    return [
        (at, rate, None if rate is None else rate - under, None if rate is None else rate + over)
        for at, rate, (under, over) in zip(line["x"], line["y"], ends, strict=True)
    ]


def test_the_csv_of_a_series_holds_exactly_what_is_drawn(client, machine):
    for day in range(30):
        report(machine, day)
    report(machine, 30, state="failed", reason="out of memory")
    address = series_url(machine)
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode())))
    drawn = drawn_in(client, address)
    assert len(rows) == len(drawn) == 31
    for row, (at, rate, low, high) in zip(rows, drawn, strict=True):
        assert row["measured_at"] == at
        for name, value in (("rate", rate), ("low", low), ("high", high)):
            assert (row[name] == "") if value is None else float(row[name]) == pytest.approx(value)
    assert (rows[0]["unit"], rows[0]["state"]) == ("TFLOP/s", "ok")
    assert (rows[-1]["state"], rows[-1]["reason"]) == ("failed", "out of memory")
    assert 'href="?format=csv"' in client.get(address).content.decode()


def test_without_a_chart_there_is_no_file_and_the_page_answers(client, machine):
    report(machine, 0)
    answer = client.get(f"{series_url(machine)}?format=csv")
    assert answer["Content-Type"].startswith("text/html")
    assert 'href="?format=csv"' not in answer.content.decode()


def test_the_file_of_a_private_lab_is_for_its_members_and_no_cache(client, machine, member):
    report(machine, 0)
    report(machine, 1)
    machine.lab.is_public = False
    machine.lab.save()
    address = f"{series_url(machine)}?format=csv"
    assert client.get(address).status_code == 404
    client.force_login(member)
    assert client.get(address)["Cache-Control"] == "private, no-store"


def test_the_file_costs_the_same_for_any_past(client, machine, django_assert_max_num_queries):
    for day in range(12):
        report(machine, day)
    with django_assert_max_num_queries(7):
        client.get(f"{series_url(machine)}?format=csv")
