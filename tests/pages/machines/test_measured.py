"""What machines measured on one kind of card, in the list of the machines that have it: a sheet includes it."""

import re

import pytest

from stackviz.base.units import format_quantity
from stackviz.pages.machines.rows import measured_on
from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor
from stackviz.report.measuring import RUNNABLE
from tests.pages.machines.factories import START, copy, days, gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db

URL = "/machines/?accelerator=h100-sxm5-80gb"
HTMX = {"HX-Request": "true"}
BF16 = 2 * 8192**3  # FLOP of one product


@pytest.fixture
def sheet() -> Accelerator:
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    source = Source.objects.create(key="sheet", title="Data sheet", url="https://example.org/h100", kind="maker")
    made = Accelerator.objects.create(slug="h100-sxm5-80gb", name="NVIDIA H100 SXM5 80GB", vendor=vendor)
    for field, value, unit, condition in (
        ("bf16_tensor_tflops", "989.4", "TFLOPS", "sparsity=dense"),
        ("memory_bandwidth_gb_s", "3350", "GB/s", ""),
    ):
        SpecValue.objects.create(
            accelerator=made, field=field, value=value, unit=unit, condition=condition, source=source, status="public",
            is_preferred=True,
        )  # fmt: skip
    return made


@pytest.fixture
def machine(sheet):
    made = make_machine(make_lab(), "dgx-07")
    results = [
        gemm("bf16", [BF16 / 742e12] * 9),
        gemm("bf16", [2 * 4096**3 / 610e12] * 9, side=4096),
        gemm("fp8", [1.0], state="failed", reason="no kernel"),
        gemm("fp32", [BF16 / 3e12] * 9, device="cpu", card=None),
        copy([2 * 4_294_967_296 / 2.68e12] * 9),
    ]
    make_report(made, cards=[h100(0, sheet)], results=results)
    return made


def text_of(client, url: str = URL) -> str:
    response = client.get(url, headers=HTMX)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_best_newest_figures_show_peak_share_and_series(client, machine, sheet, django_assert_num_queries):
    text = text_of(client)
    assert "bf16 8192³ 742 TFLOP/s 75 %" in text
    assert "Memory copy 4.29 GB 2.68 TB/s 80 %" in text
    for left_out in ("4096³", "fp8", "fp32"):  # a smaller product, a failed run, one without a card
        assert left_out not in text
    page = client.get(URL, headers=HTMX).content.decode()
    links = re.findall(r'<a href="(/machines/[\w-]+/dgx-07/series/\d+/)">', page)
    assert len(links) == 2
    assert client.get(links[0]).status_code == 200
    assert "742 TFLOP/s" not in text_of(client, "/machines/")
    make_report(machine, at=START + days(1), cards=[h100(0, sheet)], results=[gemm("bf16", [BF16 / 500e12] * 9)])
    text = text_of(client)
    assert "500 TFLOP/s 51 %" not in text  # the smaller product is older, and now the faster one
    assert "bf16 4096³ 610 TFLOP/s 62 %" in text
    with django_assert_num_queries(0):
        assert measured_on(1, []) == {}


@pytest.mark.parametrize("benchmark", RUNNABLE.values(), ids=lambda benchmark: benchmark.key)
def test_every_benchmark_has_a_figure_on_the_sheet(client, sheet, benchmark):
    run = {"benchmark": benchmark.key, "device": "cuda:0", "card": 0, "params": benchmark.light}
    run |= {"samples": [0.02] * 9, "unit": benchmark.sample_unit}
    make_report(make_machine(make_lab(), "one"), cards=[h100(0, sheet)], results=[run])
    assert format_quantity(benchmark.rate(benchmark.light, 0.02), benchmark.unit, digits=3).label in text_of(client)


def test_capped_cards_and_machines_without_results_say_so(client, sheet):
    lab = make_lab()
    mixed = [gemm("bf16", [BF16 / 100e12] * 9, card=1, device="cuda:1")]
    make_report(make_machine(lab, "mixed"), cards=[h100(0, sheet), h100(1, None)], results=mixed)
    text = text_of(client)
    assert "not measured yet" in text
    assert "100 TFLOP/s" not in text  # it ran on another card
    capped = [gemm("bf16", [BF16 / 500e12] * 9)]
    make_report(make_machine(lab, "dgx-08"), cards=[h100(0, sheet, power_limit_w=500.0)], results=capped)
    assert "500 TFLOP/s 51 % power limit 500 W of 700 W" in text_of(client)


def test_a_private_machine_and_its_figures_are_not_there(client, sheet, django_user_model):
    lab = make_lab("secret", is_public=False)
    hidden = make_machine(lab, "hidden-01")
    make_report(hidden, cards=[h100(0, sheet)], results=[gemm("bf16", [BF16 / 742e12] * 9)])
    assert "742 TFLOP/s" not in text_of(client)
    assert "hidden-01" not in text_of(client)
    member = django_user_model.objects.create_user("mei")
    lab.memberships.create(user=member)
    client.force_login(member)
    assert "742 TFLOP/s" in text_of(client)


def test_any_number_of_machines_costs_the_same_queries(client, sheet, django_assert_num_queries):
    lab = make_lab()
    counts = []
    for number in range(4):
        made = make_machine(lab, f"m-{number}")
        make_report(made, cards=[h100(0, sheet)], results=[gemm("bf16", [BF16 / 742e12] * 9), copy([0.003] * 9)])
        with django_assert_num_queries(12):
            counts.append(text_of(client).count("742 TFLOP/s"))
    assert counts == [1, 2, 3, 4]
