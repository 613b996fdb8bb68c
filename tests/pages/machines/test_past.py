"""A machine beside its peers and beside its own past."""

import html
import re

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.labs.models import Membership
from stackviz.records.series.models import Result
from tests.pages.machines.factories import DGX_FACTS, START, days, gemm, h100, make_lab, make_machine, make_report

PAST = "/machines/north/dgx-07/history/"
AGAINST = "/machines/north/dgx-07/against/"
JITTER = [1.000, 1.004, 0.997, 1.001, 0.998, 1.003, 0.999, 1.002, 0.996, 1.000]
TG128 = {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0"}
NEW_DRIVER = {**DGX_FACTS, "nvidia.driver_version": "560.28.03"}


def text_of(client, url=PAST):
    response = client.get(url)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.unescape(response.content.decode())))


@pytest.fixture
def sheet(db):
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    return Accelerator.objects.create(slug="h100", name="H100", vendor=vendor, is_public=True)


@pytest.fixture
def machine(db):
    return make_machine(make_lab(), "dgx-07")


def report(machine, sheet, *, day=0, factor=1.0, facts=None, conditions=None, **card):
    seconds = 0.0014 * factor
    results = [gemm("bf16", [seconds * (1 + 0.0001 * n) for n in range(8)], conditions=conditions or {})]
    return make_report(machine, at=START + days(day), facts=facts, cards=[h100(0, sheet, **card)], results=results)


def make_peers(sheet, lab, count=4, **fields):
    for number in range(count):
        report(make_machine(lab, f"peer-{number}"), sheet, factor=JITTER[number], **fields)


# --- peers ---


def test_an_outlier_names_its_share_and_what_differs(client, machine, sheet):
    make_peers(sheet, machine.lab)
    report(machine, sheet, factor=1.1236, power_limit_w=300.0, conditions={"throttle_reasons": "sw_power_cap"})
    text = text_of(client)
    assert "11 % below its peers : Matrix product bf16 8192³ · cuda:0" in text
    assert "clock throttled: sw_power_cap Power limit 300 W (4 of 4 peers: 700 W)" in text
    assert "699 TFLOP/s; median of 4 peers 785 TFLOP/s, 782 TFLOP/s to 787 TFLOP/s" in text


def test_a_machine_as_fast_as_its_peers_is_no_outlier(client, machine, sheet):
    make_peers(sheet, machine.lab)
    report(machine, sheet, factor=1.02)
    text = text_of(client)
    assert "1 setting is within what equal machines differ by" in text
    assert "no difference in what we read" not in text


def test_other_cards_slices_and_one_machine_are_too_few_peers(client, machine, sheet):
    other = Accelerator.objects.create(slug="h200", name="H200", vendor=sheet.vendor, is_public=True)
    make_peers(other, make_lab("others"))
    make_peers(sheet, make_lab("slices"), mig_mode="enabled")
    make_peers(sheet, machine.lab, count=1)
    results = [gemm("bf16", [0.0014] * 7 + [0.00141], device=f"cuda:{index}", card=index) for index in range(8)]
    eight = [h100(index, sheet) for index in range(8)]
    make_report(make_machine(make_lab("eight"), "box"), cards=eight, results=results)
    report(machine, sheet, factor=1.3)
    text = text_of(client)
    assert "Fewer than three other machines" in text
    assert "below its peers" not in text


def test_a_private_lab_never_shows_through_a_median(client, machine, sheet, django_user_model):
    hidden = make_lab("secret", is_public=False)
    make_peers(sheet, hidden, count=3)
    make_peers(sheet, make_lab("open"), count=2)
    report(machine, sheet, factor=1.2)
    assert "Fewer than three other machines" in text_of(client)
    member = django_user_model.objects.create_user("ada", password="x")
    Membership.objects.create(lab=hidden, user=member)
    client.force_login(member)
    assert "17 % below its peers" in text_of(client)
    assert client.get(PAST).headers["Cache-Control"] == "private, no-store"


def test_results_that_are_set_aside_make_no_peer(client, machine, sheet):
    make_peers(sheet, machine.lab)
    report(machine, sheet, factor=1.3)
    Result.objects.filter(series__machine=machine).update(standing="withdrawn")
    assert "below its peers" not in text_of(client)


# --- over time ---


def test_lines_of_the_series_show_changes_and_their_causes(client, machine, sheet):
    for day in range(20):
        since = {"factor": 1.0526 * JITTER[day % 10], "facts": NEW_DRIVER} if day >= 10 else {"factor": JITTER[day]}
        report(machine, sheet, day=day, **since)
    assert "5 % slower since 2026-11-30: NVIDIA driver 535.183.01 → 560.28.03" in text_of(client)
    page = client.get(PAST).content.decode()
    assert page.count('class="level"') == 2
    assert page.count('class="mark"') == 1


def test_the_machines_page_leads_to_its_history(client, machine, sheet):
    report(machine, sheet)
    page = client.get("/machines/north/dgx-07/").content.decode()
    assert f'hx-get="{PAST}"' in page
    assert f'href="{AGAINST}"' in page
    part = client.get(PAST, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "No setting has ten results yet" in part


def test_the_history_costs_the_same_with_few_and_many_results(client, machine, sheet, django_assert_num_queries):
    make_peers(sheet, machine.lab)
    for day in range(12):
        report(machine, sheet, day=day, factor=1.2 * JITTER[day % 10], facts=NEW_DRIVER if day >= 6 else None)
    text_of(client)
    cache.clear()
    with django_assert_num_queries(16):
        text_of(client)
    with django_assert_num_queries(3):
        text_of(client)
    for day in range(12, 40):
        report(machine, sheet, day=day, factor=1.2 * JITTER[day % 10])
    make_peers(sheet, make_lab("more"), count=5)
    with django_assert_num_queries(16):
        text_of(client)


@pytest.mark.parametrize("url", [PAST, AGAINST])
def test_a_history_needs_a_report_and_a_reader_who_may_see_it(client, machine, sheet, url):
    assert client.get(url).status_code == 404
    report(machine, sheet)
    assert client.get(url).status_code == 200
    machine.lab.is_public = False
    machine.lab.save()
    assert client.get(url).status_code == 404


# --- then and now ---


def then_and_now(machine, sheet):
    earlier = report(machine, sheet, day=-20)
    report(machine, sheet, factor=1.0526, facts=NEW_DRIVER, power_limit_w=500.0)
    return earlier


@pytest.mark.parametrize("query", ["report", "date"])
def test_then_and_now_are_compared_with_factor_and_interval(client, machine, sheet, query):
    earlier = then_and_now(machine, sheet)
    value = earlier.pk if query == "report" else "2026-11-05"
    text = text_of(client, f"{AGAINST}?{query}={value}")
    assert "Then: the report of 2026-10-31 08:00 UTC. Now: the report of 2026-11-20 08:00 UTC." in text
    assert re.search(r"785 TFLOP/s 2026-10-31 746 TFLOP/s 0.95× 0.949 to 0.951", text)
    assert re.search(r"card 0: power_limit_w .* 700 W 500 W", text)
    assert re.search(r"nvidia.driver_version .* 535.183.01 560.28.03", text)


def tokens(machine, rate, *, day, unit="token/s"):
    run = {"benchmark": "llama-bench", "device": "cuda:0", "card": 0, "params": TG128, "unit": unit}
    run["samples"] = [rate + 0.1 * n for n in range(8)]
    make_report(machine, at=START + days(day), cards=[h100(0)], results=[run])


@pytest.mark.parametrize(
    ("unit", "says"),
    [
        ("token/s", r"150 tokens/s 2026-11-20 195 tokens/s 1\.3× "),
        ("tokens per second", "195 tokens/s .*different units: tokens per second and token/s"),
    ],
)
def test_only_results_in_one_unit_have_a_factor(client, machine, unit, says):
    tokens(machine, 150.0, day=0, unit=unit)
    tokens(machine, 195.0, day=1)
    text = text_of(client, f"{AGAINST}?date=2026-11-20")
    assert re.search(says, text)
    assert ("×" in text) is (unit == "token/s")


def test_only_earlier_reports_of_this_machine_are_compared(client, machine, sheet):
    earlier = then_and_now(machine, sheet)
    page = client.get(AGAINST).content.decode()
    assert f"?report={earlier.pk}" in page
    assert page.count("?report=") == 1
    other = report(make_machine(make_lab("secret", is_public=False), "box"), sheet)
    assert "This machine has no such report." in text_of(client, f"{AGAINST}?report={other.pk}")
    Result.objects.filter(report=earlier).update(standing="withdrawn")
    assert "not comparable" in text_of(client, f"{AGAINST}?report={earlier.pk}")


def test_a_setting_not_measured_again_is_counted(client, machine, sheet):
    earlier = report(machine, sheet)
    make_report(machine, at=START + days(3), cards=[h100(0, sheet)])
    text = text_of(client, f"{AGAINST}?report={earlier.pk}")
    assert "Nothing was measured both then and since." in text
    assert "1 setting was not measured again since." in text
    assert "The two reports state the same." in text


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("report=nonsense", "This machine has no such report."),
        ("report=00000000-0000-0000-0000-000000000000", "This machine has no such report."),
        ("date=soon", "Enter a past date, such as 2026-10-02."),
        ("date=2099-01-01", "Enter a past date, such as 2026-10-02."),
        ("date=2020-01-01", "This machine had sent no report by then."),
    ],
)
def test_an_address_that_names_no_report_says_so(client, machine, sheet, query, problem):
    then_and_now(machine, sheet)
    assert problem in text_of(client, f"{AGAINST}?{query}")


def test_then_and_now_cost_the_same_with_few_and_many_results(client, machine, sheet, django_assert_num_queries):
    earlier = then_and_now(machine, sheet)
    url = f"{AGAINST}?report={earlier.pk}"
    text_of(client, url)
    with django_assert_num_queries(15):
        text_of(client, url)
    for day in range(1, 20):
        report(machine, sheet, day=day)
    with django_assert_num_queries(15):
        text_of(client, url)
