"""A machine's page: what it reports, what was found, measured and missing, at a cost that does not grow."""

import re

import pytest
from django.core.cache import cache
from django.utils import timezone

from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor
from tests.pages.machines.factories import (
    DGX_FACTS,
    START,
    copy,
    days,
    gemm,
    h100,
    make_lab,
    make_machine,
    make_report,
    make_waiting_report,
    warning,
)

pytestmark = pytest.mark.django_db

URL = "/machines/north/dgx-07/"
HTMX = {"HX-Request": "true"}
# 8192³ bf16: 1.0995e12 FLOP in 1.4078e-3 s = 781 TFLOP/s
GEMM_S = [0.001405, 0.001406, 0.001407, 0.0014078, 0.001409, 0.00141, 0.001412]
COPY_S = [0.002816, 0.002817, 0.002818, 0.002819, 0.00282, 0.002821]


def text_of(client, url=URL, **kwargs):
    response = client.get(url, **kwargs)
    assert response.status_code == 200
    return response.content.decode()


def table_of(text, heading):
    """The part of the page under this section's heading."""
    start = text.index(f'aria-labelledby="{heading}"')
    return text[start : text.find("</section>", start)]


@pytest.fixture
def sheet():
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    h100 = Accelerator.objects.create(slug="h100-sxm5-80gb", name="H100 SXM5 80GB", vendor=vendor, is_public=True)
    source = Source.objects.create(title="NVIDIA H100 data sheet", url="https://www.nvidia.com/en-us/data-center/h100/")
    public = {"source": source, "status": SpecValue.Status.PUBLIC, "is_preferred": True}
    for spec in (
        SpecValue(field="bf16_tensor_tflops", value="989.4", unit="TFLOPS", condition="sparsity=dense", **public),
        SpecValue(field="memory_bandwidth_gb_s", value="3350", unit="GB/s", **public),
    ):
        spec.accelerator = h100
        spec.normalise()
        spec.save()
    return h100


@pytest.fixture
def machine():
    return make_machine(make_lab(), "dgx-07")


def test_the_page_shows_what_the_machine_reported(client, machine, sheet):
    cards = [h100(0, sheet), h100(1, sheet)]
    make_report(machine, cards=cards)
    text = text_of(client)
    reported = ("Xeon(R) Platinum 8480C", "1.968 TiB", "Ubuntu 22.04", "2.8.0+cu128", "535.183.01")
    for shown in ("dgx-07", "North lab", *reported):
        assert shown in text
    assert '<a href="/accelerators/h100-sxm5-80gb/">2 × H100 SXM5 80GB</a>' in text
    assert text.count("<h1>") == 1
    assert "NVLinks" not in text
    make_report(machine, at=START + days(1), facts=DGX_FACTS | {"nvidia.topology": "0-1:NV17"}, cards=cards)
    linked = table_of(text_of(client), "cards")
    assert linked.count('<td class="num nvlink">NV17</td>') == 2
    assert re.search(r"<b>NV17</b>\s+17 NVLinks", linked)


def test_findings_come_before_everything_else_worst_first(client, machine):
    broken = warning("The driver cannot serve this CUDA", severity="broken", rule="cuda-driver")
    make_report(machine, findings=[warning(), broken])
    text = text_of(client)
    assert text.index("The driver cannot serve this CUDA") < text.index("The driver branch is near its end")
    assert text.index("The driver branch is near its end") < text.index('aria-labelledby="stack"')
    for part in ("Move to branch 580.", "nvidia.driver_version", "NVIDIA data center driver life cycle"):
        assert part in text


def test_measured_result_has_interval_and_peak_share(client, machine, sheet):
    make_report(machine, cards=[h100(0, sheet)], results=[gemm("bf16", GEMM_S), copy(COPY_S)])
    measured = table_of(text_of(client), "measured")
    for shown in ("781 TFLOP/s", "3.05 TB/s", "79 %", "91 %", "±"):
        assert shown in measured
    # each of its own peak
    assert re.search(r"--p:78\.\d", measured)
    assert re.search(r"--p:91;", measured)
    assert measured.count("full bar: the published peak of each setting") == 2


def test_bars_without_peaks_share_the_largest_figure(client, machine):
    cpu = {"device": "cpu", "card": None}
    results = [gemm("fp32", [0.02] * 6, side=2048, **cpu), gemm("fp32", [0.01] * 6, side=2048, card=0)]
    results.append(gemm("fp64", [0.04] * 6, side=2048, **cpu))
    make_report(machine, results=results)
    measured = table_of(text_of(client), "measured")
    assert "full bar: 859 GFLOP/s" in measured  # of the CPU: 2 · 2048³ / 0.02 s
    assert "full bar: 1.72 TFLOP/s" in measured
    assert re.findall(r"--all:([\d.]+)", measured) == ["100", "100", "50"]


def test_where_half_have_a_peak_the_others_have_no_bar(client, machine, sheet):
    make_report(machine, cards=[h100(0, sheet)], results=[gemm("bf16", GEMM_S), gemm("fp16", GEMM_S)])
    measured = table_of(text_of(client), "measured")
    assert measured.count("--p:") == 1
    assert measured.count("781 TFLOP/s") == 2
    assert 'class="meter bare"' in measured


# --- the headline, and the reports ---


def words_of(text):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).replace(" :", ":")


def headline_of(client):
    text = text_of(client)
    start = text.find('<div class="trend">')
    return words_of(text[start : text.index("</div>", start)]) if start >= 0 else None


def test_a_slower_newest_report_names_the_day_and_the_cause(client, machine):
    for day, (factor, watts) in enumerate([(1, 700.0), (1, 700.0), (1.22, 500.0)]):
        seconds = [sample * factor for sample in GEMM_S]
        make_report(
            machine, at=START + days(day), cards=[h100(0, power_limit_w=watts)], results=[gemm("bf16", seconds)]
        )
    headline = headline_of(client)
    assert "−18 % against 2026-11-21: Power limit 700 W → 500 W" in headline
    assert "3 results so far; 10 are needed to tell changes from noise" in headline
    assert text_of(client).count('class="sparkline"') == 1


def test_a_change_of_level_is_told_against_the_level_before_it(client, machine):
    for day in range(20):
        factor = (1.0 if day < 10 else 1.0526) * (1 + day % 3 / 1000)
        seconds = [sample * factor for sample in GEMM_S]
        make_report(machine, at=START + days(day), cards=[h100()], results=[gemm("bf16", seconds)])
    headline = headline_of(client)
    assert re.search(r"−\d(\.\d)? % against 2026-11-29: nothing we read changed", headline)
    assert "results so far" not in headline


def test_the_headline_is_the_first_figure_and_says_since_when(client, machine, sheet):
    results = [gemm("fp32", GEMM_S, device="cpu", card=None), gemm("fp16", GEMM_S), copy(COPY_S)]
    results += [gemm("bf16", GEMM_S, side=16384), gemm("bf16", GEMM_S)]
    make_report(machine, cards=[h100(0, sheet)], results=results)
    assert "bf16 8192³ 781 TFLOP/s measured 79 % of the published peak" in headline_of(client)
    assert "measured once so far" in headline_of(client)
    text = text_of(client)
    assert text.index('class="trend"') < text.index('class="verdict tiles"')
    make_report(machine, at=START + days(1), cards=[h100(0, sheet)], results=results)
    assert "as on 2026-11-20" in headline_of(client)


def test_each_report_names_its_stack_and_what_changed(client, machine):
    make_report(machine, cards=[h100()])
    make_report(machine, at=START + days(1), cards=[h100(power_limit_w=500.0)])
    make_report(machine, at=START + days(2), facts={"torch.version": "2.9.0+cu128"}, cards=[h100(power_limit_w=500.0)])
    make_waiting_report(machine, START + days(3))
    rows = re.findall(r"<tr>(.*?)</tr>", table_of(text_of(client), "reports"), re.DOTALL)[1:]
    expected = [
        ("received", "not read"),
        ("2.9.0+cu128 not reported PyTorch 2.8.0+cu128 → 2.9.0+cu128",),
        ("2.8.0+cu128 535.183.01 Power limit 700 W → 500 W",),
        ("first report",),
    ]
    for row, parts in zip(rows, expected, strict=True):
        assert [words for words in parts if words not in words_of(row)] == []


def test_the_last_report_of_a_page_is_compared_with_the_next(client, machine):
    for day in range(21):
        make_report(machine, at=START + days(day), cards=[h100(power_limit_w=700.0 if day else 650.0)])
    assert "Power limit 650 W → 700 W" in table_of(text_of(client), "reports")


@pytest.mark.parametrize(
    ("samples", "shown", "left_out"),
    [
        ([0.0014, 0.0015], ["too few samples"], ["--lo", "--all"]),
        ([0.001] * 7, ["above the published peak", 'class="meter over"'], []),
    ],
    ids=["an interval of two is not invented", "more than the peak"],
)
def test_a_result_that_is_odd_is_marked(client, machine, sheet, samples, shown, left_out):
    make_report(machine, cards=[h100(0, sheet)], results=[gemm("bf16", samples)])
    measured = table_of(text_of(client), "measured")
    assert [words for words in shown if words not in measured] == []
    assert [words for words in left_out if words in measured] == []


def test_a_noisy_throttled_or_capped_result_says_so(client, machine, sheet):
    noisy = [0.0010, 0.0011, 0.0014, 0.0016, 0.0019, 0.0025]
    conditions = {"throttle_reasons": "sw_power_cap", "fallback": False}
    capped = h100(0, sheet, power_limit_w=600.0)
    make_report(machine, cards=[capped], results=[gemm("bf16", noisy, conditions=conditions)])
    measured = table_of(text_of(client), "measured")
    assert "noisy" in measured
    assert "sw_power_cap" in measured
    assert "power limit 600 W of 700 W" in measured


def test_failed_and_skipped_runs_are_shown_with_their_reason(client, machine):
    failed = gemm("fp8", [], state="failed", reason="not implemented for Float8")
    skipped = gemm("fp64", [], state="skipped", reason="takes longer than a quick run")
    make_report(machine, results=[failed, skipped])
    measured = table_of(text_of(client), "measured")
    assert "not implemented for Float8" in measured
    assert "takes longer than a quick run" in measured
    assert "TFLOP/s" not in measured
    assert headline_of(client) is None


def test_a_machine_without_torch_says_what_to_type(client, machine):
    reason = "not_installed: torch is not installed for this Python"
    cpu = {"device": "cpu", "card": None, "state": "skipped", "reason": reason}
    make_report(machine, results=[gemm("fp32", [], **cpu), copy([], **cpu)])
    measured = table_of(text_of(client), "measured")
    assert "pip install torch" in measured
    assert "make run LAB=1" in measured
    assert "not_installed" not in measured
    assert "<table" not in measured


def test_a_benchmark_this_site_does_not_know_is_still_shown(client, machine):
    strange = {"benchmark": "fft", "device": "cpu", "card": None, "params": {"n": 7}, "samples": [0.5] * 6}
    make_report(machine, results=[strange])
    assert "fft" in table_of(text_of(client), "measured")


def test_what_is_unknown_is_named_with_its_reason(client, machine):
    absent = {"memory_bytes": {"reason": "not_supported"}}
    make_report(machine, cards=[{**h100(), "reported_name": "NVIDIA H999", "memory_bytes": None, "absent": absent}])
    text = text_of(client)
    cards, facts = table_of(text, "cards"), table_of(text, "facts")
    for shown in ("NVIDIA H999", "no spec sheet has this name yet", "not supported"):
        assert shown in cards
    assert "0 B" not in cards
    for shown in ("nvidia.driver_kind", "could not be read", "permission denied"):
        assert shown in facts


def test_a_mac_says_how_much_memory_its_gpu_may_use(client, machine):
    facts = {
        "os.name": "macOS", "os.version": "15.3.1", "apple.chip": "Apple M3 Max", "memory.total_bytes": 137_438_953_472,
        "memory.gpu_limit_bytes": 103_079_215_104, "mps.built": True, "mps.available": False,
    }  # fmt: skip
    make_report(machine, facts=facts, absent={}, software=[])
    text = text_of(client)
    assert "96 GiB" in text
    assert "built in, not usable" in text


def test_reports_are_listed_newest_first_twenty_a_page(client, machine):
    reports = [make_report(machine, at=START + days(number)) for number in range(21)]
    first, second = text_of(client), text_of(client, URL + "?reports=2")
    assert str(reports[-1].pk) in first
    assert str(reports[0].pk) not in first
    assert str(reports[0].pk) in second
    following = re.search(r'href="(\?reports=after\.[^"#]+)#reports"', first)[1]
    assert str(reports[0].pk) in text_of(client, URL + following)


def test_a_page_is_kept_until_a_sheet_is_corrected(client, machine, sheet, django_assert_num_queries):
    make_report(machine, cards=[h100(0, sheet)], results=[gemm("bf16", GEMM_S)])
    first = text_of(client)
    with django_assert_num_queries(3):
        again = text_of(client)
    assert table_of(first, "measured") == table_of(again, "measured")
    assert "79 %" in table_of(again, "measured")
    peak = SpecValue.objects.get(field="bf16_tensor_tflops")
    peak.value = "1562"
    peak.normalise()
    peak.save()
    assert "50 %" in table_of(text_of(client), "measured")


def test_a_private_machine_does_not_exist_for_strangers(client, django_user_model):
    lab = make_lab("secret", is_public=False)
    hidden = make_machine(lab, "hidden-01")
    make_report(hidden, results=[gemm("bf16", GEMM_S)])
    here = "/machines/secret/hidden-01/"
    urls = [here, f"{here}?format=words", f"{here}series/{hidden.series.get().pk}/"]
    assert [client.get(url).status_code for url in [*urls, f"{here}?seen=x&since=0"]] == [404] * 4
    # just as a machine that does not exist
    assert client.get("/machines/secret/no-such/").status_code == 404
    member = django_user_model.objects.create_user("mei")
    lab.memberships.create(user=member)
    client.force_login(member)
    assert [client.get(url).status_code for url in urls] == [200, 200, 200]
    for address in (here, "/machines/secret/"):
        assert client.get(address).headers["Cache-Control"] == "private, no-store"


def test_a_hostile_report_is_text_everywhere(client, machine):
    evil = "\"'><script>alert(1)</script>"
    finding = warning(
        evil, evidence={evil: evil}, explanation=evil, advice=evil, source_title=evil, source_url="javascript:alert(1)"
    )
    card = {**h100(), "reported_name": evil, "facts": {evil: evil}, "absent": {evil: {"reason": evil, "detail": evil}}}
    result = {
        "benchmark": "gemm", "device": evil, "card": 0, "params": {"dtype": evil, "m": 8, "n": 8, "k": 8},
        "samples": [0.1] * 6, "conditions": {evil: evil},
    }  # fmt: skip
    failed = gemm(evil, [], state="failed", reason=evil)
    make_report(
        machine,
        facts={"os.name": evil, "torch.version": evil, evil: evil},
        absent={"python.version": {"reason": evil, "detail": evil}},
        software=[{"component": evil, "version": evil, "found_by": evil}],
        cards=[card],
        findings=[finding],
        results=[result, {**result, "params": {"dtype": evil, "m": 9, "n": 9, "k": 9}}, failed],
    )
    for url in (URL, f"{URL}series/{machine.series.first().pk}/"):
        text = text_of(client, url)
        assert "<script>alert" not in text
        assert "javascript:alert" not in re.sub(r"<span[^>]*>", "", text).replace("&#x27;", "")


# --- while the page is open ---


def seen_in(text):
    return re.search(r'hx-get="([^"]*since=[^"]+)"', text).group(1).replace("&amp;", "&")


def test_open_page_mostly_gets_nothing_and_stops_after_hours(client, machine, django_assert_num_queries):
    make_report(machine)
    url = seen_in(text_of(client))
    with django_assert_num_queries(2):
        response = client.get(url, headers=HTMX)
    assert (response.status_code, response.content) == (204, b"")
    response = client.get(re.sub(r"since=\d+", "since=1000", url), headers=HTMX)
    assert (response.status_code, response["HX-Reswap"]) == (286, "none")


def test_open_page_updates_as_report_arrives(client, machine):
    make_waiting_report(machine, timezone.now() - days(1))
    text = text_of(client)
    assert "every 10s" in text
    assert "being read" not in text  # nobody reads that of yesterday any more
    waiting = make_waiting_report(machine, timezone.now())
    arriving = text_of(client, seen_in(text), headers=HTMX)
    assert "being read" in arriving
    assert "every 2s" in arriving
    assert "<html" not in arriving
    waiting.delete()
    make_report(machine, at=timezone.now())
    read = text_of(client, seen_in(arriving), headers=HTMX)
    assert "2.8.0+cu128" in read
    assert "being read" not in read


@pytest.mark.parametrize(
    "query", ["?seen=%00&since=x", "?seen=" + "9" * 5000, "?reports=abc", "?reports=-1", "?since=9"]
)
def test_nonsense_in_the_address_still_gives_the_page(client, machine, query):
    assert "dgx-07" in text_of(client, URL + query)


# --- one series ---


def series_url(machine):
    return f"{URL}series/{machine.series.get().pk}/"


def test_series_shows_method_and_command(client, machine, sheet):
    conditions = {"before.sm_clock_hz": 1_980_000_000.0, "throttle_reasons": "none", "fallback": False}
    results = [gemm("bf16", GEMM_S, conditions=conditions | {"timer": "CUDA events"})]
    make_report(machine, cards=[h100(0, sheet)], results=results)
    text = text_of(client, series_url(machine))
    for shown in ("781 TFLOP/s", "79 %", "1.98 GHz", "clock of the multiprocessors", "CUDA events", "2·m·n·k / s"):
        assert shown in text
    for shown in ('aria-label="Samples on one axis"', "1.405 ms", "accelweb-agent.pyz bench"):
        assert shown in text


def test_series_history_marks_failed_runs(client, machine):
    for number in range(3):
        make_report(machine, at=START + days(number), results=[gemm("bf16", GEMM_S)])
    make_report(machine, at=START + days(3), results=[gemm("bf16", [], state="failed", reason="out of memory")])
    text = text_of(client, series_url(machine))
    assert text.count("781") >= 3
    assert "out of memory" in text
    assert text.count('class="dot"') == 3
    figure = client.get(series_url(machine) + "?format=plotly").json()
    assert figure["data"][0]["y"][-1] is None


def test_the_cost_of_a_series_does_not_grow_with_its_past(client, machine, django_assert_num_queries):
    for number in range(4):
        make_report(machine, at=START + days(number), results=[gemm("bf16", GEMM_S)])
    text_of(client, series_url(machine))  # what is public is read from now on
    cache.clear()
    with django_assert_num_queries(14):
        text_of(client, series_url(machine))
    with django_assert_num_queries(4):
        text_of(client, series_url(machine))


def test_a_series_of_another_machine_is_not_found_here(client, machine):
    other = make_machine(machine.lab, "dgx-08")
    make_report(other, results=[gemm("bf16", GEMM_S)])
    assert client.get(f"{URL}series/{other.series.get().pk}/").status_code == 404
    assert client.get(f"{URL}series/{10**30}/").status_code == 404


def test_what_everybody_sees_of_a_public_lab_may_be_cached(client, db):
    make_report(make_machine(make_lab("south"), "box"))
    for address in ("/machines/south/", "/machines/south/box/"):
        assert "Cache-Control" not in client.get(address).headers
