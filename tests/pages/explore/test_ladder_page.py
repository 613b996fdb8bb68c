"""`/ladder/` ranks everything public by one figure, for any address, at a fixed number of queries."""

import csv
import gzip
import html
import io
import re

import pytest
from django.contrib.auth.models import User

from stackviz.draw.charts.ladder import RUNGS_PER_PAGE
from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.ladder import MOST_NAMED, rank
from stackviz.pages.explore.selection import LadderChoice
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.series.public_runs import measured
from tests.pages.machines.factories import START, copy, days, gemm, h100, make_lab, make_report
from tests.responses import words_of

LIMIT_BYTES = 180_000  # 614 sheets
LIMIT_COMPRESSED = 35_000  # what travels
RATES = ((1024, 85.0), (2048, 300.0), (4096, 610.0), (8192, 705.0), (16384, 640.0))  # TFLOP/s of a size


def ranking(field="bf16_tensor_tflops", **chosen):
    return rank(read_plot_data(), LadderChoice(field=field, **chosen), measured(field))


def test_ranking_counts_what_it_omits_and_names_its_sources(curated, db, client):
    found = ranking(announced="1")
    values = [row.figure.amount for row in found.rows]
    assert values == sorted(values, reverse=True)
    assert len(found.rows) + found.unranked_count == Accelerator.objects.filter(is_public=True).count()
    assert any(group.why.startswith("not published") for group in found.unranked)
    found = {row.subject.slug: row.rank for row in ranking("memory_bandwidth_gb_s").rows}
    assert found["nvidia-h100-sxm5-80gb"] == found["nvidia-h800-sxm5"]
    amounts = [row.figure.amount for row in ranking("launch_price_usd").rows]
    assert amounts == sorted(amounts)
    rows = ranking("memory_bandwidth_gb_s").rows
    assert len(rows) > 50
    assert all(row.figure.source_url.startswith("http") for row in rows)
    found = rank(read_plot_data(), LadderChoice(), {})
    assert found.axis.measure.name == "memory_bandwidth_gb_s"
    assert {"nvidia", "apple", "amd"} <= {row.subject.vendor for row in found.rows}


def test_a_condition_is_never_mixed_with_another(curated, db, client):
    sparse = ranking(condition="sparsity=sparse")
    assert sparse.axis.condition == "sparsity=sparse"
    assert next(row for row in sparse.rows if row.subject.slug == "nvidia-h100-sxm5-80gb").figure.text == "1,978.9"
    elsewhere = next(group for group in sparse.unranked if "another condition" in group.why)
    assert all(instead for _subject, instead in elsewhere.subjects)
    assert ranking("fp16_tensor_tflops", condition="sparsity=dense").axis.condition == "sparsity=dense; accumulate=fp32"
    page = words_of(client.get("/ladder/?field=compute-rate&vendor=nvidia"))
    assert "989.4" in page
    assert "1,978.9" not in page
    assert "1,979" not in page


def test_unnamed_accumulate_types_are_marked(client, curated, db):
    found = ranking("fp16_tensor_tflops")
    rows = {row.subject.slug: row.figure for row in found.rows}
    assert found.axis.condition == "sparsity=dense; accumulate=fp32"
    assert (rows["nvidia-geforce-rtx-4090"].text, rows["nvidia-geforce-rtx-4090"].is_unnamed) == ("165.2", False)
    assert (rows["nvidia-h100-sxm5-80gb"].text, rows["nvidia-h100-sxm5-80gb"].is_unnamed) == ("989.4", True)
    page = words_of(client.get("/ladder/?field=fp16_tensor_tflops"))
    assert "989.4*" in page
    assert "Values marked *" in page


def test_derived_ranking_shows_formula_and_inputs(client, curated, db):
    found = ranking("flops-per-watt")
    row = next(row for row in found.rows if row.subject.slug == "nvidia-h100-sxm5-80gb")
    assert "989.4 TFLOPS ÷ 700 W" in row.figure.remark
    assert {group.why for group in found.unranked} == {"cannot be derived"}
    page = words_of(client.get("/ladder/?field=flops-per-watt"))
    assert "Formula:" in page
    assert "derived" in page


def test_best_public_result_is_below_the_figure(client, dgx):
    row = next(row for row in ranking().rows if row.subject.slug == "nvidia-h100-sxm5-80gb")
    assert (row.measured_text, row.measured.share) == ("780", "79 %")
    assert row.measured_length < row.length
    page = client.get("/ladder/").content.decode()
    assert '<a href="/machines/north/dgx-07/">dgx-07</a>' in page
    assert "1 was measured on public machines" in page


def test_best_result_is_drawn_median_stated(client, dgx, timed):
    timed("dgx-08", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.0022] * 8)])
    timed("dgx-09", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.0021] * 8)])
    found = measured("bf16_tensor_tflops")
    (best,) = found.values()
    assert (best.machine, best.machines) == ("dgx-09", 3)
    assert best.median == pytest.approx(2 * 8192**3 / 0.0021)
    assert "a faster run, 780 TFLOP/s, is confirmed by none of 3" in best.remarks
    assert "median of 3 machines 524 TFLOP/s" in words_of(client.get("/ladder/?field=compute-rate"))


def test_a_figure_never_mixes_settings(client, timed, sheet):
    """The case of a review: five sizes in one report, slower since the power limit was lowered."""

    def sizes(factor):
        return [gemm("bf16", [2 * side**3 / (rate * factor) / 1e12] * 8, side=side) for side, rate in RATES]

    report = timed("rack-7", "nvidia-h100-sxm5-80gb", sizes(1.0))
    card = h100(0, sheet("nvidia-h100-sxm5-80gb"), power_limit_w=500.0)
    make_report(report.machine, at=START + days(12), cards=[card], results=sizes(0.82))
    (found,) = measured("bf16_tensor_tflops").values()
    assert (found.best, found.setting) == (pytest.approx(705e12), "bf16 8192³")
    assert found.remarks == ("a single run: nothing confirms it",)
    assert (found.median, found.median_label, found.machines) == (None, "", 1)
    assert "median of" not in words_of(client.get("/ladder/"))


def test_a_median_is_that_of_machines_in_the_setting_of_the_best(timed):
    for number, seconds in enumerate((0.0015, 0.0016, 0.0017)):
        results = [gemm("bf16", [seconds] * 8), gemm("bf16", [0.0001] * 8, side=1024)]
        timed(f"box-{number}", "nvidia-h100-sxm5-80gb", results)
    timed("capped", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.004] * 8)], power_limit_w=300.0)
    (found,) = measured("bf16_tensor_tflops").values()
    assert (found.machines, found.median) == (3, pytest.approx(2 * 8192**3 / 0.0016))


def test_a_measured_figure_never_stands_beside_a_sparse_one(dgx):
    sparse = ranking(condition="sparsity=sparse")
    assert not any(row.measured for row in sparse.rows)
    assert any("not this one" in note for note in sparse.notes)


@pytest.mark.parametrize(
    ("field", "result"),
    [
        *((field, gemm("bf16", [0.001] * 8)) for field in ("fp16_tensor_tflops", "memory_bandwidth_gb_s", "tdp_w")),
        ("bf16_tensor_tflops", copy([0.003] * 8)),
        ("fp32_tflops", gemm("fp32", [0.001] * 8, conditions={"tf32": True})),
        ("tf32_tensor_tflops", gemm("fp32", [0.02] * 8, conditions={"tf32": False})),
        ("bf16_tensor_tflops", gemm("bf16", [0.001] * 8, conditions={"fallback": True})),
        ("bf16_tensor_tflops", gemm("bf16", [0.001] * 8, conditions={"device_used": "cpu"})),
        ("bf16_tensor_tflops", gemm("bf16", [], state="failed", reason="out of memory")),
        ("bf16_tensor_tflops", gemm("bf16", [0.001] * 8, card=None, device="cpu")),
    ],
)
def test_other_results_do_not_measure_this_field(timed, field, result):
    timed("box", "nvidia-h100-sxm5-80gb", [result])
    assert measured(field) == {}
    # a part of a card is none either
    timed("mig", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.005] * 8)], mig_mode="enabled")
    assert measured("bf16_tensor_tflops") == {}


def test_the_newest_result_counts_not_the_best_ever(timed, sheet, lab):
    report = timed("box", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.0014] * 8)])
    later = [gemm("bf16", [0.0020] * 8)]
    card = h100(0, sheet("nvidia-h100-sxm5-80gb"))
    make_report(report.machine, at=START + days(1), cards=[card], results=later)
    (found,) = measured("bf16_tensor_tflops").values()
    assert found.best == pytest.approx(2 * 8192**3 / 0.0020)


@pytest.mark.parametrize("visitor", ["nobody", "member", "superuser"])
def test_a_private_labs_measurement_appears_nowhere(client, curated, db, timed, visitor):
    secret = make_lab("south", is_public=False)
    before = without_token(client.get("/ladder/"))
    timed("sealed", "nvidia-h200-sxm", [gemm("bf16", [0.0012] * 8), copy([0.0019] * 8)], of=secret)
    if visitor != "nobody":
        user = User.objects.create_user("ada", is_superuser=visitor == "superuser")
        secret.memberships.create(user=user)
        client.force_login(user)
    for url in ("/ladder/", "/ladder/?format=csv", "/ladder/?format=json", "/ladder/?field=memory_bandwidth_gb_s"):
        page = client.get(url).content.decode()
        assert "sealed" not in page
        assert not re.search(r"(?<![\d.])916(?!\d)", page)  # TFLOP/s it measured
    if visitor == "nobody":
        assert without_token(client.get("/ladder/")) == before


def without_token(response) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", response.content.decode())


def test_private_lab_disappears_with_next_request(client, dgx, lab):
    assert "dgx-07" in client.get("/ladder/").content.decode()
    lab.is_public = False
    lab.save()
    assert measured("bf16_tensor_tflops") == {}
    assert "dgx-07" not in client.get("/ladder/").content.decode()


def test_corrections_and_hidden_sheets_show_at_once(client, curated, db):
    address = "/ladder/?field=bf16_tensor_tflops&vendor=nvidia"
    client.get(address)
    of_h100 = SpecValue.objects.filter(accelerator__slug="nvidia-h100-sxm5-80gb", is_preferred=True)
    value = of_h100.get(field="bf16_tensor_tflops", condition="sparsity=dense")
    value.value = "991.7"
    value.save()
    assert "991.7" in client.get(address).content.decode()
    hidden = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    hidden.is_public = False
    hidden.save()
    for url in ("/ladder/?vendor=nvidia", "/ladder/?vendor=nvidia&format=json"):
        assert "nvidia-h100-sxm5-80gb" not in client.get(url).content.decode()


def test_filters_narrow_and_a_year_says_what_it_leaves_out(client, curated, db):
    found = ranking(vendor="nvidia", year="2022")
    assert {row.subject.vendor for row in found.rows} == {"nvidia"}
    assert {row.subject.year for row in found.rows} == {2022}
    assert any("no source gives" in note for note in found.notes)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("field=no-such", "Unknown field"),
        ("vendor=%00%ff", "Unknown vendor"),
        ("kind=toaster", "Unknown kind"),
        ("year=-1", "Unknown year"),
        ("year=twenty", "Unknown year"),
        ("scale=cubic", "Unknown scale"),
        ("condition=sparsity%3Dhuge", "Unknown condition"),
        ("colour=red", "Unknown parameter"),
        ("field=" + "x" * 5000, "Unknown field"),
        ("page=99999999999", "bf16 tensor"),
    ],
)
def test_what_the_address_asks_in_vain_is_left_out_with_a_note(client, curated, db, query, says):
    response = client.get(f"/ladder/?{query}")
    assert response.status_code == 200
    assert says in words_of(response)


def test_a_file_is_exactly_the_view_all_its_pages(client, dgx):
    rows = list(
        csv.DictReader(io.StringIO(client.get("/ladder/?field=compute-rate&vendor=nvidia&format=csv").content.decode()))
    )
    assert [row["slug"] for row in rows] == [row.subject.slug for row in ranking("compute-rate", vendor="nvidia").rows]
    h100 = next(row for row in rows if row["slug"] == "nvidia-h100-sxm5-80gb")
    assert (h100["value"], h100["unit"], h100["condition"]) == ("989.4", "TFLOPS", "sparsity=dense")
    assert h100["measured_on"] == "/machines/north/dgx-07/"
    data = client.get("/ladder/?field=compute-rate&vendor=nvidia&format=json").json()
    assert len(data["rows"]) == len(rows)
    assert data["not_ranked"]


def test_the_queries_do_not_grow_with_machines_or_results(client, dgx, timed, django_assert_num_queries):
    client.get("/ladder/?vendor=apple")  # what is public is read from now on
    counts = []
    for number in range(2):
        for more in range(1 + 2 * number):
            timed(f"box-{number}-{more}", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.002] * 8, side=1024 + more)])
        # editions of the catalogue and of cited results; what is measured; public machines, the series of each to rank;
        # their newest results: series, results, torch, cards; machines
        with django_assert_num_queries(9):
            client.get("/ladder/")
        with django_assert_num_queries(2):
            client.get("/ladder/")
        counts.append(len(measured("bf16_tensor_tflops")))
    assert counts == [1, 1]


@pytest.mark.parametrize("field", ["memory_gb", "fp32_tflops", "memory_bandwidth_gb_s", "fp8_tensor_tflops"])
def test_the_page_stays_light(client, dgx, field):
    page = client.get(f"/ladder/?field={field}").content
    assert len(page) < LIMIT_BYTES
    assert len(gzip.compress(page)) < LIMIT_COMPRESSED


def test_every_measure_of_the_registry_can_be_ranked(client, curated, db):
    for field in read_plot_data().known.measures:
        assert client.get(f"/ladder/?field={field}").status_code == 200, field


@pytest.mark.parametrize("query", ["", "vendor=nvidia&kind=gpu", "field=tdp_w&scale=log", "page=2", "_=1"])
def test_each_choice_is_cached(client, curated, db, monkeypatch, query):
    monkeypatch.setattr("stackviz.pages.explore.views.cached_html", lambda *_given: "as before")
    assert "as before" in client.get(f"/ladder/?{query}").content.decode()


def test_those_without_a_place_are_grouped_by_reason_and_maker(curated, db, client):
    groups = {
        group.why: {subject.slug for subject, _instead in group.subjects} for group in ranking(vendor="nvidia").unranked
    }
    unable = groups["not supported: compute capability below 8.0"]
    missing = groups["not published by any source listed here"]
    assert {"nvidia-k80", "nvidia-p40", "nvidia-v100-sxm2", "nvidia-t4", "nvidia-geforce-gtx-1080"} <= unable
    assert "nvidia-h800-pcie" in missing
    assert not unable & missing
    missing = next(group for group in ranking().unranked if group.why.startswith("not published"))
    vendors = [vendor for vendor, _subjects, _more in missing.by_vendor]
    assert vendors == sorted(set(vendors), key=str.casefold)
    assert sum(len(subjects) for _vendor, subjects, _more in missing.by_vendor) == missing.count
    found = ranking(field="fp8_tensor_tflops")
    of_all = [of_vendor for group in found.unranked for of_vendor in group.by_vendor]
    vendor, subjects, more_text = max(of_all, key=lambda of_vendor: len(of_vendor[1]))
    more = len(subjects) - MOST_NAMED
    assert more > 0
    assert (vendor, more_text) == ("NVIDIA", f"and {more} more")
    link = f'<a href="/accelerators/?vendor=nvidia">and {more} more</a>'
    assert link in client.get("/ladder/?field=fp8_tensor_tflops").content.decode()
    file = client.get("/ladder/?field=fp8_tensor_tflops&format=json").json()
    assert len(file["not_ranked"]) == found.unranked_count


def test_vendor_without_ranking_names_ranked_fields(client, curated, db):
    page = client.get("/ladder/?field=bf16_tensor_tflops").content.decode()
    assert "for any product of these vendors: Apple (48):" in page
    assert '<a href="/ladder/?vendor=apple&amp;field=fp32_tflops">Rank Apple by fp32' in page
    assert "Rank NVIDIA by" not in page
    assert "Rank Apple by fp32" in client.get("/ladder/?field=bf16_tensor_tflops&vendor=apple").content.decode()
    assert "Rank Apple by" not in client.get("/ladder/?field=fp32_tflops").content.decode()


def test_the_year_is_that_of_the_date_the_list_shows(client, curated, db):
    rows = csv.DictReader(io.StringIO(client.get("/accelerators/?format=csv").content.decode()))
    listed = {row["slug"]: row["release_date"][:4] for row in rows}
    years = {subject.slug: str(subject.year or "") for subject in read_plot_data().subjects}
    assert years == listed


def test_htmx_gets_the_ranking_alone_and_text_stays_text(client, curated, db):
    response = client.get("/ladder/?vendor=apple&kind=&year=&scale=&field=memory_gb", headers={"hx-request": "true"})
    assert b"<html" not in response.content
    assert response["HX-Push-Url"] == "/ladder/?vendor=apple&field=memory_gb"
    page = client.get("/ladder/", {"field": "<script>alert(1)</script>", "<b>x": "1"}).content.decode()
    assert "<script>alert" not in page
    assert "<b>x" not in page
    second = client.get("/ladder/?field=memory_bandwidth_gb_s&page=2")
    assert "Page 2: 41–80" in words_of(second)


def test_the_first_page_says_where_apple_begins_and_leads_there(client, curated, db):
    page = client.get("/ladder/?field=compute-rate")
    choice = LadderChoice(field="compute-rate")
    first = next(row for row in rank(read_plot_data(), choice, {}).rows if row.subject.vendor == "apple")
    assert first.rank > RUNGS_PER_PAGE
    assert f"Apple from place {first.rank} ({first.subject.name}, {first.figure.text} TFLOPS)" in words_of(page)
    (address,) = re.findall(r'<a href="([^"]*)">\s*Apple from place', page.content.decode())
    there = client.get(f"/ladder/{html.unescape(address)}").content.decode()
    assert first.subject.slug in there
    assert "Apple from place" not in there
    assert "Further down" not in words_of(client.get("/ladder/?vendor=apple"))
