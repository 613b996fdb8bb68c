"""What a report may say by the letter, and no machine does: pages, charts and the API stay up and stay finite."""

import json

import pytest

from stackviz.records.series.models import Series
from stackviz.records.series.queries import SERIES_PER_MACHINE
from stackviz.report.measuring.gemm import GEMM
from stackviz.report.measuring.memory import MEMORY_COPY
from tests.pages.machines.factories import START, copy, days, gemm, make_lab, make_machine, make_report

SIDE = 999_999_999_999_999_999
ABSURD = {
    "smallest float": gemm("bf16", [5e-324] * 8),
    "too fast": gemm("bf16", [1e-300] * 8),
    "too slow": gemm("bf16", [1e300] * 8),
    "both": gemm("bf16", [1e300, 1e-300] * 8),
    "one end": gemm("bf16", [1e-300, 1e-300, *[0.0014] * 5, 1e300, 1e300]),
    "too large": gemm("bf16", [1e-300] * 8, side=SIDE),
    "smallest copy": copy([5e-324] * 8, size=1),
}


def strictly(body):
    """The JSON document, refusing the NaN and Infinity that Python would read."""

    def refuse(text):
        raise AssertionError(f"the answer holds {text}")

    return json.loads(body, parse_constant=refuse)


@pytest.fixture
def machines(db):
    lab = make_lab()
    return [make_machine(lab, name) for name in ("a", "b")]


@pytest.mark.parametrize("result", ABSURD.values(), ids=ABSURD)
@pytest.mark.parametrize("is_past", [False, True], ids=["newest", "past"])
def test_an_absurd_result_breaks_no_page(client, machines, result, is_past):
    sound = {**result, "samples": [0.0014] * 8}
    for day, one in enumerate((result, sound, sound) if is_past else (sound, sound, result)):
        make_report(machines[0], at=START + days(day), results=[one])
    make_report(machines[1], results=[sound])
    series = Series.objects.get(machine=machines[0])
    for path in (
        "/machines/north/a/",
        f"/machines/north/a/series/{series.pk}/",
        "/compare/?a=machine:north/a&a=machine:north/b",
        "/compare/?a=machine:north/b&a=machine:north/a",
        "/machines/",
    ):
        response = client.get(path)
        text = response.content.decode()
        assert response.status_code == 200, path
        assert "Infinity" not in text, path
        assert "0" * 40 not in text, path
    (answer,) = strictly(client.get("/api/v1/machines/north/a/").content)["results"]
    assert answer["rate"] is None or answer["rate"] < 1e24


def test_two_machines_nobody_can_compare_have_no_factor(client, machines):
    make_report(machines[0], results=[gemm("bf16", [1e300] * 8)])
    make_report(machines[1], results=[gemm("bf16", [1e-150] * 8)])
    response = client.get("/compare/?a=machine:north/a&a=machine:north/b")
    (row,) = response.context["comparison"].measured.rows
    assert [cell.factor for cell in row.cells] == ["", ""]


@pytest.mark.parametrize("seconds", [5e-324, 1e-300, 1e300])
def test_a_rate_no_machine_has_is_none(seconds):
    assert GEMM.rate({"m": 8192, "n": 8192, "k": 8192}, seconds) is None
    assert GEMM.rate({"m": SIDE, "n": SIDE, "k": SIDE}, seconds) is None
    assert MEMORY_COPY.rate({"bytes": 1}, seconds) is None


def test_old_series_keeps_its_page(client, machines):
    old = gemm("bf16", [0.0014] * 8)
    make_report(machines[0], results=[old])
    newer = [copy([0.001] * 8, size=size) for size in range(1, SERIES_PER_MACHINE + 1)]
    make_report(machines[0], at=START + days(1), results=newer)
    series = Series.objects.get(machine=machines[0], benchmark="gemm")
    assert client.get(f"/machines/north/a/series/{series.pk}/").status_code == 200
    page = client.get("/machines/north/a/")
    assert f"/series/{series.pk}/" not in page.content.decode()
    assert len(page.content) < 1_000_000
