"""The CSV of a machine's results has exactly the bars that its page draws."""

import csv
import html
import io
import re

import pytest

from stackviz.base.units import quantity_label
from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import copy, gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db

URL = "/machines/north/dgx-07/"
GEMM_S = [0.001405, 0.001406, 0.001407, 0.0014078, 0.001409, 0.00141, 0.001412]
COPY_S = [0.002816, 0.002817, 0.002818, 0.002819, 0.00282, 0.002821]


@pytest.fixture
def measured(curated, db):
    machine = make_machine(make_lab(), "dgx-07")
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    failed = gemm("fp32", [], state="failed", reason="out of memory")
    make_report(machine, cards=[h100(0, sheet)], results=[gemm("bf16", GEMM_S), failed, copy(COPY_S)])
    return machine


def rows_of(client):
    answer = client.get(f"{URL}?format=csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_each_bar_is_a_row_with_its_rate_interval_and_share(client, measured):
    rows = rows_of(client)
    page = html.unescape(client.get(URL).content.decode())
    section = page[page.index('aria-labelledby="measured"') :]
    drawn = re.findall(r'href="series/(\d+)/"', section)
    assert drawn == [row["series"] for row in rows]
    assert len(rows) == 3
    for row in rows:
        line = next(text for text in section.split("<tr")[1:] if f'href="series/{row["series"]}/"' in text)
        assert row["setting"] in line
        if row["rate"]:
            assert quantity_label(float(row["rate"]), row["unit"], digits=3) in line
            assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
        else:
            assert (row["state"], row["reason"]) == ("failed", "out of memory")
            assert "out of memory" in line
    (bf16,) = [row for row in rows if "bf16" in row["setting"]]
    p = float(re.search(r"--p:([\d.]+)", section[section.index(f'href="series/{bf16["series"]}/"') :])[1])
    assert p == pytest.approx(float(bf16["rate"]) / float(bf16["peak"]) * 100, abs=0.1)
    assert {row["kind"] for row in rows} == {"measured"}


def test_the_page_leads_to_the_file_once_something_was_measured(client, measured):
    assert 'href="?format=csv"' in client.get(URL).content.decode()
    make_report(make_machine(measured.lab, "idle"))
    assert 'href="?format=csv"' not in client.get("/machines/north/idle/").content.decode()
    assert len(client.get("/machines/north/idle/?format=csv").content.decode().splitlines()) == 1


def test_without_a_report_or_access_there_is_no_file(client, measured):
    make_machine(measured.lab, "announced")
    assert client.get("/machines/north/announced/?format=csv").status_code == 404
    sealed = make_machine(make_lab("south", is_public=False), "sealed")
    make_report(sealed, results=[gemm("bf16", GEMM_S)])
    assert client.get("/machines/south/sealed/?format=csv").status_code == 404


def test_the_file_costs_few_queries(client, measured, django_assert_num_queries):
    client.get(URL)
    with django_assert_num_queries(6):
        client.get(f"{URL}?format=csv")
