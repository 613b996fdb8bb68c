"""Measured results on `/benchmarks/`: like for like with cited ones, robust, only of public labs, at a fixed cost."""

import csv
import io
import json

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import translation

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import Report
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.models import Result
from stackviz.records.series.standing import Standing
from tests.pages.benchmarks.machines import A100, H100, run, seconds
from tests.pages.machines.factories import copy, gemm, make_lab, make_machine
from tests.responses import words_of

PAGE = "/benchmarks/gemm/"
COPY = "/benchmarks/memory-copy/"


@pytest.fixture(autouse=True)
def _nothing_cached():
    cache.clear()


@pytest.fixture
def lab(_loaded):
    return make_lab("north")


@pytest.fixture
def fleet(lab):
    """Three H100 machines and an A100: 742, 760, 690 and 250 TFLOP/s in bf16."""
    return [
        run(lab, name, slug, [gemm("bf16", seconds(rate)), copy([0.0029] * 3 + [0.00291] * 4)])
        for name, slug, rate in (("a", H100, 742), ("b", H100, 760), ("c", H100, 690), ("d", A100, 250))
    ]


def bf16(settings):
    return next(setting for setting in settings if setting.words == "bf16 8192³")


def test_accelerators_are_ranked_with_a_spread(client, fleet):
    first, second = bf16(measured_settings("gemm")).rows
    assert [row.accelerator.slug for row in (first, second)] == [H100, A100]
    assert [round(rate / 1e12) for rate in first.spread] == [690, 742, 760]
    text = words_of(client.get(PAGE))
    assert "Measured: bf16 8192³" in text
    assert "3 machines: 690 – 742 – 760" in text
    assert "2 accelerators · 4 machines of public labs" in text
    assert "a single run: nothing confirms it" in text  # the A100
    page = client.get(PAGE).content.decode()
    assert page.count('class="filled"') == 2
    assert page.count('class="interval"') == 2
    assert page.count('class="machines"') == 1


def test_cited_results_of_the_same_parameters_are_rings(client, lab, make_result):
    params = {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}
    for value, more in (("700", {}), ("701", {"trans_a": "T"})):
        make_result(slug=H100, benchmark="gemm", params=params | more, value=value, unit="TFLOP/s", software={})
    run(lab, "a", H100, [gemm("bf16", seconds(742))])
    page = client.get(PAGE, {"measured": measured_settings("gemm")[0].key}).content.decode()
    part = page[page.index('id="measured"') :]
    assert part.count("<s style=") == 1
    assert "Rings are cited results" in part


def test_only_what_machines_measured_is_claimed(client, lab):
    assert "Measured:" not in words_of(client.get(PAGE))
    assert "No machine of a public lab has measured this yet." in words_of(client.get(COPY))
    assert "Measured by machines" not in words_of(client.get("/benchmarks/"))
    assert client.get("/benchmarks/made-up/").status_code == 404
    run(lab, "b", H100, [gemm("bf16", seconds(760)), copy([0.0029] * 7)])
    text = words_of(client.get("/benchmarks/"))
    assert "Measured by machines of public labs" in text
    assert "too few to rank: 1 accelerator of 1 vendor" in text  # a first is named in a field only
    assert "760 TFLOP/s" not in text
    text = words_of(client.get(COPY))
    assert "bench --benchmark memory-copy --device cuda:0 --case bytes=4294967296" in text


def test_private_labs_are_counted_for_nobody(client, fleet, django_user_model):
    private = make_lab("south", is_public=False)
    report = run(private, "secret", H100, [gemm("bf16", seconds(800))])
    member = django_user_model.objects.create_user("member")
    private.memberships.create(user=member)
    client.force_login(member)
    for address in (PAGE, "/benchmarks/", f"{PAGE}?format=csv", f"{PAGE}?format=json"):
        text = client.get(address).content.decode()
        assert "secret" not in text, address
        assert "800 TFLOP/s" not in text, address
    assert len(bf16(measured_settings("gemm")).rows[0].machines) == 3
    page = reverse("benchmarks:run", args=[report.pk, 0])
    assert client.get(page).status_code == 200
    assert client.get(page).headers["Cache-Control"] == "private, no-store"
    client.logout()
    assert client.get(page).status_code == 404


def test_what_is_deleted_leaves_at_once_if_not_the_newest(fleet, lab):
    again = run(lab, "b", H100, [gemm("bf16", seconds(700))], machine=fleet[1].machine, day=1)
    assert round(bf16(measured_settings("gemm")).rows[0].best.rate.value / 1e12) == 760
    forget_reports(Report.objects.filter(pk=fleet[1].pk))
    assert round(bf16(measured_settings("gemm")).rows[0].best.rate.value / 1e12) == 742
    fleet[1].machine.refresh_from_db()
    assert fleet[1].machine.latest_snapshot.report == again


def test_remarks_are_in_the_language_of_each_reader(lab):
    run(lab, "above the peak", H100, [gemm("bf16", seconds(1200))])
    assert measured_settings("gemm") == []
    run(lab, "a", H100, [gemm("bf16", [1.4e-3, 1.5e-3, 1.7e-3, 2.2e-3, 2.6e-3, 2.7e-3])])
    for language, remark in (("en", "noisy"), ("zh-hans", "噪声")):
        with translation.override(language):
            (row,) = measured_settings("gemm")[0].rows
            assert remark in " ".join(row.best.result.remarks)


def test_a_setting_is_chosen_by_its_address(client, lab):
    run(lab, "a", H100, [gemm("bf16", seconds(742)), gemm("bf16", seconds(500, 2048), side=2048)])
    small = next(setting for setting in measured_settings("gemm") if "2048" in setting.words)
    assert "Measured: bf16 2048³" in words_of(client.get(PAGE, {"measured": small.key}))
    assert "“nonsense”" in words_of(client.get(PAGE, {"measured": "nonsense"}))


def test_a_machine_confirms_itself_over_time(lab):
    machine = make_machine(lab, "a")
    for day, rate in enumerate((700, 710, 950)):
        run(lab, "a", H100, [gemm("bf16", seconds(rate))], machine=machine, day=day)
    best = measured_settings("gemm")[0].rows[0].best
    assert round(best.rate.value / 1e12) == 710
    assert best.remark == "a faster run, 950 TFLOP/s, is confirmed by none of 3"


def test_files_carry_the_kind(client, fleet):
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}?format=csv").content.decode("utf-8-sig"))))
    kinds = {row["kind"] for row in rows}
    assert kinds == {"cited", "measured"}
    measured = [row for row in rows if row["kind"] == "measured"]
    assert [row["slug"] for row in measured] == [H100, A100]
    document = json.loads(client.get(f"{PAGE}?format=json").content)
    assert {row["kind"] for row in document["results"]} == {"cited"}
    first = document["measured"][0]
    assert (first["machines"], first["best_by"], round(first["median"] / 1e12)) == (3, "confirmed", 742)
    only = list(csv.DictReader(io.StringIO(client.get(f"{COPY}?format=csv").content.decode("utf-8-sig"))))
    assert {row["kind"] for row in only} == {"measured"}
    assert json.loads(client.get(f"{COPY}?format=json").content)["measured"][0]["unit"] == "B/s"


def test_queries_do_not_grow_with_machines_or_results(client, lab, django_assert_max_num_queries):
    machine = make_machine(lab, "first")
    for day in range(12):
        run(lab, "first", H100, [gemm("bf16", seconds(700 + day)), copy([0.0029, 0.003])], machine=machine, day=day)
    for number in range(8):
        run(lab, f"m{number}", H100, [gemm("bf16", seconds(720)), gemm("fp16", seconds(700))])
    for address, most in ((PAGE, 22), (COPY, 14), ("/benchmarks/", 24)):
        client.get("/benchmarks/llama-bench/")  # what every page of a process reads once
        cache.clear()
        with django_assert_max_num_queries(most):
            client.get(address)
        with django_assert_max_num_queries(6):
            client.get(address)


def test_what_is_set_aside_or_hidden_leaves_at_once(client, fleet, admin_user):
    assert bf16(measured_settings("gemm")).rows[0].best.result.machine_id == fleet[1].machine_id
    record_decision(Result.objects.get(report=fleet[1], position=0), Standing.WITHDRAWN, "a wrong clock", admin_user)
    assert round(bf16(measured_settings("gemm")).rows[0].best.rate.value / 1e12) == 742
    assert "760" not in words_of(client.get(PAGE)).partition("Measured: bf16")[2].partition("Also measured")[0]
    hidden = Accelerator.objects.get(slug=A100)
    hidden.is_public = False
    hidden.save()
    assert [row.accelerator.slug for row in bf16(measured_settings("gemm")).rows] == [H100]


def of(benchmark, params, seconds):
    return {"benchmark": benchmark, "device": "cuda:0", "card": 0, "params": params, "samples": [seconds] * 9}


def test_times_are_ranked_with_the_shortest_first(client, lab):
    for name, slug, took in (("a", H100, 4.1e-6), ("b", A100, 3.2e-6)):
        run(lab, name, slug, [of("launch", {"op": "queued"}, took)])
    (setting,) = measured_settings("launch")
    assert [row.accelerator.slug for row in setting.rows] == [A100, H100]
    text = words_of(client.get("/benchmarks/launch/"))
    assert "Lower is better." in text
    assert "3.2" in text
    assert "µs" in text


def test_language_models_are_ranked_by_tokens_beside_cited_ones(client, lab):
    run(lab, "a", H100, [of("llm-decode", {"model": "1B", "dtype": "bf16", "batch": 1, "context": 512}, 0.001)])
    text = words_of(client.get("/benchmarks/llm-decode/"))
    assert "Measured: bf16 1B batch=1 context=512" in text
    assert "1,000" in text
    assert "74 % of its bound" in text  # 3,350 GB/s for 2.49 GB of weights and cache
