"""What happened to a series: change points, what changed in the stack around them, and what members say of them."""

import csv
import html
import io
import re

import pytest
from django.core.cache import cache
from django.test import Client

from stackviz.records.labs.models import Membership
from stackviz.records.series.history import WATCHED_FACTS
from stackviz.records.series.models import ChangeDecision, Result
from stackviz.report.format.facts import FACTS
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


@pytest.mark.parametrize(
    ("factor", "facts_since", "watts", "says"),
    [
        (1.0526, 10, 700.0, r"5 % slower since 2026-11-30: NVIDIA driver 535.183.01 → 560.28.03, PyTorch 2.8.0\+cu128 → 2.9"),
        (1.0526, 10, 700.0, "785 TFLOP/s → 746 TFLOP/s"),
        (1.0526, 11, 700.0, "since 2026-11-30: NVIDIA driver .* within two results of it"),
        (1.0526, 99, 700.0, "5 % slower since 2026-11-30: nothing we read changed"),
        (1.12, 99, 300.0, "11 % slower since 2026-11-30: Power limit 700 W → 300 W"),
    ],
)  # fmt: skip
def test_a_change_names_what_changed_between_two_reports(client, machine, factor, facts_since, watts, says):
    for day in range(20):
        level = (factor, watts) if day >= 10 else (1.0, 700.0)
        report(machine, day, level[0], NEW_DRIVER if day >= facts_since else None, level[1])
    assert re.search(says, text_of(client, series_url(machine)))


def test_changes_of_the_stack_are_marked_at_a_steady_level(client, machine):
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


def test_readings_are_in_three_columns_in_words(client, machine):
    conditions = {"before.power_w": 72.3, "during.power_w": 690.0, "after.power_w": 498.0, "after.temperature_c": 61.0}
    report(machine, 0, conditions=conditions | {"timer": "CUDA events"})
    text = text_of(client, series_url(machine))
    assert "power drawn by the card 72.3 W 690 W 498 W" in text
    assert "temperature of the card or processor not reported not reported 61 °C" in text
    assert "the clock that was read CUDA events" in text
    assert "before." not in text


def test_results_that_are_set_aside_change_nothing(client, machine):
    slower_since_new_driver(machine)
    Result.objects.filter(measured_at__gte=START + days(10)).update(standing="withdrawn")
    assert "slower" not in text_of(client, series_url(machine))


# --- decisions ---


def decide(client, machine, first, answer="confirmed", **fields):
    return client.post(f"{series_url(machine)}change/", {"report": str(first.pk), "answer": answer, **fields})


def test_a_confirmed_change_says_who_confirmed_it_and_when(client, machine, member):
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


def test_a_dismissed_change_is_listed_apart_until_confirmed(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    decide(client, machine, first, "dismissed")
    page = client.get(series_url(machine)).content.decode()
    assert "5 % slower" in page.split("1 dismissed change")[1]
    assert 'class="level-label"' not in page
    decide(client, machine, first, "confirmed")
    assert [row.answer for row in ChangeDecision.objects.order_by("pk")] == ["dismissed", "confirmed"]
    assert "dismissed change" not in text_of(client, series_url(machine))


def test_a_decision_follows_a_change_that_moves_or_is_lost(client, machine, member):
    first = slower_since_new_driver(machine)
    client.force_login(member)
    decide(client, machine, first)
    beside = Result.objects.order_by("measured_at")[11].report_id
    ChangeDecision.objects.update(report_id=beside)
    assert "confirmed by ada" in text_of(client, series_url(machine))
    ChangeDecision.objects.update(report_id=first.pk)
    Result.objects.filter(measured_at__lt=START + days(8)).delete()
    assert "5 % slower since 2026-11-30: no longer found in the newest results" in text_of(client, series_url(machine))


def test_only_members_decide_by_a_form_of_this_site(client, machine, member, django_user_model):
    first = slower_since_new_driver(machine)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    assert decide(strict, machine, first).status_code == 403
    # after a session ended the login leads back to the series, where nothing was decided
    login = decide(client, machine, first).url
    answer = client.post(login, {"username": "ada", "password": "x"}, follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain[-1][0] == f"{series_url(machine)}#changes"
    client.force_login(django_user_model.objects.create_user("eve", password="x"))
    assert "Dismiss" not in text_of(client, series_url(machine))
    assert decide(client, machine, first).status_code == 403
    machine.lab.is_public = False
    machine.lab.save()
    assert decide(client, machine, first).status_code == 404
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


def test_a_series_costs_the_same_with_many_results(client, machine, django_assert_num_queries):
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
    assert "What changed" not in text_of(client, address)  # a steady series has no such section
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


def test_the_file_of_a_private_lab_is_for_its_members(client, machine, member, django_assert_max_num_queries):
    report(machine, 0)
    address = f"{series_url(machine)}?format=csv"
    answer = client.get(address)  # of one result there is no chart and no file, but the page
    assert answer["Content-Type"].startswith("text/html")
    assert 'href="?format=csv"' not in answer.content.decode()
    for day in range(1, 12):
        report(machine, day)
    with django_assert_max_num_queries(7):
        client.get(address)
    machine.lab.is_public = False
    machine.lab.save()
    assert client.get(address).status_code == 404
    client.force_login(member)
    assert client.get(address)["Cache-Control"] == "private, no-store"
