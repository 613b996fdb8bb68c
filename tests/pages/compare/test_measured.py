"""Results stand side by side only when they are of the same thing, and failures keep their reason."""

import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from stackviz.base.stats import Summary
from stackviz.pages.compare.measured import measure
from stackviz.records.series.measurement import Measurement
from stackviz.web.parts import render_part

STEADY = Summary(count=30, median=1e-3, q1=0.99e-3, q3=1.01e-3, low=0.995e-3, high=1.005e-3)
TWICE_AS_SLOW = Summary(count=30, median=2e-3, q1=1.99e-3, q3=2.01e-3, low=1.995e-3, high=2.005e-3)


def result(summary: Summary | None = STEADY, side: int = 1024, **changes) -> Measurement:
    params = {"dtype": "fp32", "m": side, "n": side, "k": side}
    fields = {
        "machine_id": 1, "series_id": 1, "report_id": uuid4(), "benchmark_key": "gemm", "version": 1, "device": "cpu", "card_index": None,
        "params": params, "params_key": f"fp32-{side}", "measured_at": datetime(2026, 11, 20, tzinfo=UTC), "state": "ok" if summary else "failed",
        "reason": "" if summary else "out of memory", "unit": "s", "summary": summary, "torch_version": "2.13.0",
    }  # fmt: skip
    return Measurement(**{**fields, **changes})


def test_faster_machine_is_marked_with_factor():
    (row,) = measure([(0, "box-a", [result()]), (2, "box-b", [result(TWICE_AS_SLOW)])]).rows
    assert [cell.is_best for cell in row.cells] == [True, False]
    assert row.cells[0].label == "2.15 TFLOP/s"
    assert row.cells[1].factor == "0.5×"
    assert [cell.css for cell in row.cells] == ["s1", "s3"]
    assert row.cells[1].meter.p == "50"


def test_other_parameters_are_another_row():
    measured = measure([(0, "box-a", [result(side=1024)]), (1, "box-b", [result(side=2048)])])
    assert [[cell.missing for cell in row.cells] for row in measured.rows] == [
        ["", "not measured"],
        ["not measured", ""],
    ]
    assert all(row.verdict is None for row in measured.rows)
    assert not any(cell.is_best for row in measured.rows for cell in row.cells)


def test_failures_torch_and_several_cards_are_named():
    (row,) = measure([(0, "box-a", [result()]), (1, "box-b", [result(None)])]).rows
    assert (row.cells[1].missing, row.cells[1].meter) == ("out of memory", None)
    (row,) = measure([(0, "a", [result()]), (1, "b", [result(torch_version="2.12.0")])]).rows
    assert any("2.12.0" in reason for reason in row.verdict.reasons)
    slow, fast = result(TWICE_AS_SLOW, device="cuda:1"), result(device="cuda:0")
    (row,) = measure([(0, "dgx", [slow, fast])]).rows
    assert row.cells[0].result is fast
    assert measure([]).rows == ()
    assert measure([(0, "a", [])]).charts == ()


@pytest.mark.parametrize("others", [[], [result(TWICE_AS_SLOW)], [result(TWICE_AS_SLOW), result()]])
def test_a_result_set_aside_has_a_reason_and_no_bar(others):
    flagged = result(flags=("identical-samples",))
    subjects = [(slot, f"box-{slot}", [shown]) for slot, shown in enumerate([flagged, *others])]
    measured = measure(subjects)
    cell = measured.rows[0].cells[0]
    assert (cell.label, cell.meter, cell.is_best, cell.factor) == ("2.15 TFLOP/s", None, False, "")
    html = render_part("compare/_measured.jinja", measured=measured, figures_url="", csv_url="", base=None)
    assert re.search(r"</small>\s+2\.15\s", html)
    assert "set aside: all samples are identical" in html


def test_the_others_are_ranked_beside_a_result_that_is_set_aside():
    flagged = result(flags=("identical-samples",))
    subjects = [(0, "a", [flagged]), (1, "b", [result(TWICE_AS_SLOW)]), (2, "c", [result()])]
    (row,) = measure(subjects).rows
    assert [cell.is_best for cell in row.cells] == [False, False, True]
