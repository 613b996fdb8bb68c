"""A public host's page: what its source states, what follows from it, and what is left open."""

import re
from datetime import date

import pytest

from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor
from stackviz.records.cited.models import CitedResult, CitedSource
from tests.records.hosts.factories import add_host, card_fields

pytestmark = pytest.mark.django_db


@pytest.fixture
def sheet():
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    sheet = Accelerator.objects.create(slug="rtx-5090", name="RTX 5090", vendor=vendor, is_public=True)
    source = Source.objects.create(title="RTX 5090", url="https://www.nvidia.com/5090/")
    bandwidth = SpecValue(
        accelerator=sheet, field="memory_bandwidth_gb_s", value="1792", unit="GB/s", source=source, status="public"
    )
    bandwidth.is_preferred = True
    bandwidth.normalise()
    bandwidth.save()
    return sheet


@pytest.fixture
def host(sheet):
    return make_host(sheet, "Two cards in a desktop", cards=2)


def make_host(sheet, title, *, cards=1, **fields):
    usual = {"form": "desktop", "system": "Ubuntu 24.04.4 LTS", "memory_bytes": 64 << 30, "virtualisation": "bare"}
    return add_host(
        sheet.vendor,
        title=title,
        cards=[card_fields(sheet, driver_version="610.43.03", index=index) for index in range(cards)],
        components={"vllm": "0.25.1", "rocm": None},
        **(usual | fields),
    )


def make_result(host, sheet, value, *, benchmark="llama-bench", unit="token/s", params=None, **more):
    source, _new = CitedSource.objects.get_or_create(
        key="owner", defaults={"title": "The owner", "url": "https://example.org/owner"}
    )
    result = CitedResult(
        host=host,
        accelerator=sheet,
        reported_name="RTX 5090",
        benchmark=benchmark,
        params=params or {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128", **more},
        value=str(value),
        unit=unit,
        source=source,
    )
    result.save()
    return result


def text_of(client, host, status=200):
    response = client.get(f"/hosts/{host.slug}/")
    assert response.status_code == status
    return re.sub(r"\s+", " ", response.content.decode())


def part_of(text, heading):
    start = text.index(f'aria-labelledby="{heading}"')
    return text[start : text.index("</section>", start)]


def test_page_says_what_the_host_is_and_runs(client, host, sheet):
    make_result(host, sheet, 216)
    text = text_of(client, host)
    assert "A desktop with 2 × RTX 5090, 64 GiB of memory. It runs Ubuntu 24.04.4" in text
    assert "Best-known figure: 216 tokens/s" in text
    assert "described by its owner on 2026-07-01, not a lab’s machine" in text
    assert 'href="https://github.com/example/benchmarks/issues/1"' in text


def test_sentence_names_the_engine_before_libraries(client, sheet):
    host = add_host(
        sheet.vendor,
        title="Many packages",
        system="Linux",
        cards=[card_fields(sheet)],
        components={"numpy": "2.3.0", "gcc": "13", "cudnn": "9", "python": "3.12", "sglang": "0.4.7", "pytorch": "2.7"},
    )
    assert "It runs Linux, SGLang 0.4.7, pytorch 2.7" in text_of(client, host)


def test_chip_is_named_once(client):
    apple = Vendor.objects.create(slug="apple", name="Apple")
    sheet = Accelerator.objects.create(slug="m4", name="Apple M4 (10-core GPU)", vendor=apple, is_public=True)
    host = add_host(apple, title="A mini", cpu="Apple M4", form="mini", cards=[card_fields(sheet)])
    assert "A mini computer or board with Apple M4 (10-core GPU)." in text_of(client, host)


def test_month_is_no_day(client, sheet):
    host = make_host(sheet, "Of a month", seen_on=date(2026, 5, 1), is_month_only=True)
    assert "described by its owner on 2026-05, not" in text_of(client, host)


@pytest.mark.usefixtures("stacks")
def test_stack_has_eight_layers_and_guesses_none(client, host):
    stack = part_of(text_of(client, host), "stack")
    assert len(re.findall(r'<div class="layer layer-', stack)) == 8
    assert "4 of 8 layers are described" in stack
    assert "vLLM" in stack
    assert "610.43.03" in stack
    assert stack.count("not reported") >= 4


def test_foot_names_what_is_not_reported_or_absent(client, host):
    facts = part_of(text_of(client, host), "facts")
    assert 'Not reported:</b> <span class="miss">processor, kernel, Python, PyTorch, CUDA of the driver,' in facts
    assert re.search(r"Not installed.{0,20}rocm", facts)


def test_lesson_of_a_host_comes_first(client, sheet):
    host = make_host(sheet, "A lesson", teaches="hipBLASLt off and on.")
    text = text_of(client, host)
    assert text.index("hipBLASLt off and on.") < text.index('aria-labelledby="stack"')


def test_findings_are_those_of_the_day(client, sheet):
    host = add_host(
        sheet.vendor,
        title="Old branch",
        cards=[card_fields(sheet, driver_version="565.57.01")],
        seen_on=date(2026, 6, 1),
        system="Ubuntu 24.04",
    )
    findings = part_of(text_of(client, host), "findings")
    assert "565.57.01" in findings
    earlier = add_host(
        sheet.vendor,
        title="Same branch before its end",
        cards=[card_fields(sheet, driver_version="565.57.01")],
        seen_on=date(2024, 12, 1),
        system="Ubuntu 24.04",
    )
    assert "is no longer supported" not in part_of(text_of(client, earlier), "findings")


def test_result_is_drawn_with_its_bound(client, host, sheet):
    make_result(host, sheet, 896, benchmark="memory-bandwidth", unit="GB/s", params={"test": "copy"})
    results = part_of(text_of(client, host), "results")
    assert "50 % of its bound" in results
    assert '<u style="--p:100"></u>' in results
    assert '<b style="--p:50"></b>' in results


def test_decoding_is_held_against_reading_the_weights(client, host, sheet):
    make_result(host, sheet, 64, model="Llama 8B", quant="Q8_0")  # 8 GB a token: 512 of 1,792 GB/s
    assert "29 % of its bound" in part_of(text_of(client, host), "results")


def test_limit_below_the_published_power_is_named(client, sheet):
    source = Source.objects.get()
    power = SpecValue(accelerator=sheet, field="tdp_w", value="575", unit="W", source=source, status="public")
    power.is_preferred = True
    power.normalise()
    power.save()
    capped = add_host(sheet.vendor, title="Capped", cards=[card_fields(sheet, power_limit_w=400.0)])
    assert "RTX 5090: power limit 400 W, the vendor publishes 575 W." in part_of(text_of(client, capped), "cards")
    full = add_host(sheet.vendor, title="Full", cards=[card_fields(sheet, power_limit_w=575.0)])
    assert "the vendor publishes" not in text_of(client, full)


def test_doubtful_result_is_listed_and_counts_nowhere(client, host, sheet):
    make_result(host, sheet, 216)
    doubtful = make_result(host, sheet, 99999, backend="Vulkan")
    CitedResult.objects.filter(pk=doubtful.pk).update(state="doubtful", reason="above its bound")
    page = text_of(client, host)
    before, folded = part_of(page, "results").split("<details")
    assert "1 doubtful result, counted nowhere" in folded
    assert re.search(r"Vulkan.*99,999 tokens/s.*above its bound", folded)
    assert "216 tokens/s" in before
    assert "99,999" not in page.replace(folded, "")
    assert 'aria-labelledby="changed"' not in page


def test_pair_that_differs_in_one_setting_is_shown(client, host, sheet):
    make_result(host, sheet, 322, test="pp512")
    make_result(host, sheet, 975, test="pp512", flags="hipBLASLt")
    make_result(host, sheet, 49, test="tg128")
    pairs = part_of(text_of(client, host), "changed")
    assert "without" in pairs
    assert "hipBLASLt" in pairs
    assert "3×" in pairs
    assert pairs.count('class="panel"') == 1


def test_same_setting_elsewhere_is_compared(client, host, sheet):
    other = make_host(sheet, "Another desktop")
    make_result(host, sheet, 100)
    make_result(other, sheet, 150)
    make_result(other, sheet, 777, model="Another model")
    peers = part_of(text_of(client, host), "peers")
    assert "Another desktop" in peers
    assert "1.5×" in peers
    assert "777" not in peers


def test_like_hosts_lead_to_comparisons(client, host, sheet):
    make_host(sheet, "Like it", cards=2)
    alike = part_of(text_of(client, host), "alike")
    assert f"/compare/?a=host:{host.slug}&amp;a=host:like-it" in alike
    assert "the same accelerator" in alike


def test_proposed_host_does_not_exist(client, sheet):
    text_of(client, make_host(sheet, "Proposed", state="proposed"), status=404)


def test_withdrawn_host_says_why(client, sheet):
    host = make_host(sheet, "Withdrawn")
    host.state, host.reason = "withdrawn", "Its owner asked for it."
    host.save()
    text = text_of(client, host, status=410)
    assert "Its owner asked for it." in text
    assert "Withdrawn" not in text.replace("withdrawn", "")


def test_host_refused_before_a_yes_does_not_exist(client, sheet):
    host = make_host(sheet, "Refused", state="proposed")
    host.state, host.reason = "withdrawn", "The text names its owner."
    host.save()
    assert "names its owner" not in text_of(client, host, status=404)


def test_stack_is_a_file(client, host):
    response = client.get(f"/hosts/{host.slug}/?format=svg")
    assert response["Content-Type"].startswith("image/svg+xml")
    assert b"RTX 5090" in b"".join(response)


def test_page_in_chinese(client, host, sheet):
    make_result(host, sheet, 216)
    response = client.get(f"/zh-hans/hosts/{host.slug}/")
    assert "公开主机" in response.content.decode()
    assert "Best-known figure" not in response.content.decode()


def test_note_and_lesson_in_chinese(client, sheet):
    texts = {"note": "Power limit 200 W.", "teaches": "There is no ROCm for RISC-V; Vulkan works."}
    host = make_host(sheet, "A host with a note", **texts)
    page = client.get(f"/zh-hans/hosts/{host.slug}/").content.decode()
    assert "<p>功耗上限 200 W。</p>" in page
    assert "RISC-V 上没有 ROCm；Vulkan 可用。" in page
    assert not [text for text in texts.values() if text in page]
    assert "RISC-V 上没有 ROCm；Vulkan 可用。" in client.get("/zh-hans/machines/").content.decode()
    assert texts["teaches"] in client.get(f"/api/v1/hosts/{host.slug}/").content.decode()


def test_page_moves_with_the_host(client, host):
    assert "0.25.1" in text_of(client, host)
    row = host.components.get(name="vllm")
    row.value = "0.26.0"
    row.save()
    assert "0.26.0" in text_of(client, host)


def test_queries_stay_at_ten_times_as_many_hosts(client, host, sheet, django_assert_num_queries):
    def fill(count, name):
        for number in range(count):
            made = make_host(sheet, f"{name} {number}")
            make_result(made, sheet, 100 + number)

    fill(1, "first")
    client.get("/hosts/first-0/")  # reads what a process reads once for all pages
    fill(3, "few")
    make_result(host, sheet, 216)
    with django_assert_num_queries(11):
        client.get(f"/hosts/{host.slug}/")
    fill(30, "many")
    with django_assert_num_queries(11):
        client.get(f"/hosts/{host.slug}/")
    with django_assert_num_queries(4):
        client.get(f"/hosts/{host.slug}/")


def test_one_machine_on_two_days_shows_what_changed(client, sheet):
    before = make_host(sheet, "One card", seen_on=date(2026, 7, 1), kernel="6.8.0", cpu="Ryzen 9 9950X")
    after = make_host(
        sheet, "Two cards", cards=2, seen_on=date(2026, 8, 1), kernel="7.0.0", same_machine_as=before.slug
    )
    make_result(before, sheet, 100)
    make_result(after, sheet, 150)
    make_result(after, sheet, 30, params={"model": "Llama 3 70B", "quant": "Q4_0", "test": "tg128"})
    for host in (before, after):
        days = part_of(text_of(client, host), "days")
        assert re.search(r"System</th>.*6\.8\.0.*7\.0\.0", days)
        assert re.search(r"Llama 2 7B.*>100 tokens/s<.*>150 tokens/s<.*1\.5", days)
        assert "Llama 3 70B" not in days
        assert "Ryzen" not in days  # the later source does not say
    before.state, before.reason = "withdrawn", "gone"
    before.save()
    assert 'aria-labelledby="days"' not in text_of(client, after)
