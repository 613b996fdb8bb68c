"""Measured results stand in a matrix of data type and size, and what holds for all of them is said once."""

import plotly.graph_objects as go
import pytest

from stackviz.base.stats import Summary
from stackviz.pages.compare.matrix import MOST_COLUMNS, MOST_GROUPS, MOST_NOTES
from stackviz.pages.compare.measured import measure
from stackviz.records.series.measurement import CardUsed
from stackviz.web.parts import render_part
from tests.pages.compare.test_leading import typed
from tests.pages.compare.test_measured import TWICE_AS_SLOW, result

WIDE = Summary(count=30, median=1e-3, q1=0.8e-3, q3=1.2e-3, low=0.7e-3, high=1.3e-3)
CAPPED = CardUsed(0, "NVIDIA H100", None, {"power_limit_w": 500.0, "power_default_limit_w": 700.0})


def drawn(*machines):
    """The kinds of devices of these machines, each a list of results."""
    return measure([(slot, f"box-{slot}", list(results)) for slot, results in enumerate(machines)]).kinds


def html_of(*machines) -> str:
    measured = measure([(slot, f"box-{slot}", list(results)) for slot, results in enumerate(machines)])
    return render_part(
        "compare/_measured.jinja", measured=measured, figures_url="?format=plotly", csv_url="", base=None
    )


def test_data_types_are_groups_and_sizes_columns():
    [kind] = drawn([typed("fp32", side=8192), typed("bf16", side=1024), typed("bf16", side=8192)])
    [(matrix, _chart)] = kind.matrices
    assert matrix.columns == ("1024³", "8192³")
    assert [group.title for group in matrix.groups] == ["bf16", "fp32"]
    assert [cell is None for cell in matrix.groups[1].lines[0].cells] == [True, False]


def test_a_processor_never_stands_beside_an_accelerator():
    accelerators, processors = drawn([typed("fp32"), result()], [result(TWICE_AS_SLOW)])
    assert [head.name for head in accelerators.heads] == ["box-0"]
    assert accelerators.without == ("box-1",)
    [(matrix, _chart)] = processors.matrices
    assert [line.cells[0].cell.factor for line in matrix.groups[0].lines] == ["", "0.5×"]


def test_bars_of_a_group_share_one_axis_and_unit():
    [kind] = drawn([typed("bf16", side=1024), typed("bf16", side=2048)], [typed("bf16", TWICE_AS_SLOW, side=2048)])
    group = kind.matrices[0][0].groups[0]
    meters = [[cell and cell.cell.meter.p for cell in line.cells] for line in group.lines]
    assert meters == [["12.5", "100"], [None, "50"]]
    assert (group.full, group.unit) == ("17.2", "TFLOP/s")
    assert "TFLOP/s; a full bar is 17.2" in " ".join(html_of([typed("bf16", side=2048)]).split())
    [kind] = drawn([typed("bf16", side=256), typed("fp32", side=8192), typed("bf16", side=8192)])
    (matrix, chart) = kind.matrices[0]
    assert {group.unit for group in matrix.groups} == {"TFLOP/s"}
    assert chart.panels[0].lines[0].points[0].y == pytest.approx(0.0336, rel=0.01)


def test_a_remark_on_every_result_stands_once_and_not_in_cells():
    machine = [typed(dtype, side=side, card=CAPPED) for dtype in ("bf16", "fp16") for side in (1024, 2048)]
    [kind] = drawn(machine)
    assert kind.heads[0].remarks == ("power limit 500 W of 700 W",)
    assert kind.notes == ()
    assert html_of(machine).count("power limit 500 W of 700 W") == 1


def test_comparability_is_said_once_and_exceptions_in_notes():
    other = [typed("bf16", torch_version="2.12.0"), typed("fp16", torch_version="2.12.0"), typed("fp32")]
    [kind] = drawn([typed("bf16"), typed("fp16"), typed("fp32")], other)
    assert kind.verdict == "comparable, with remarks: torch differs: 2.13.0 and 2.12.0"
    assert kind.notes == ("comparable",)


def test_remarks_and_failures_are_numbered_notes_without_a_bar():
    [kind] = drawn([typed("bf16"), typed("fp16", flags=("identical-samples",))])
    assert [note.partition(":")[0] for note in kind.notes] == ["set aside"]
    cells = {group.title: group.lines[0].cells[0] for group in kind.matrices[0][0].groups}
    assert (cells["bf16"].notes, cells["fp16"].notes) == ((), (1,))
    assert cells["fp16"].cell.meter is None
    [kind] = drawn([typed("bf16", None)], [typed("bf16")])
    cell = kind.matrices[0][0].groups[0].lines[0].cells[0]
    assert (cell.state, cell.cell.meter, kind.notes[cell.notes[0] - 1]) == ("failed", None, "out of memory")


def test_other_parameters_than_a_size_name_the_group():
    params = {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0"}
    run = result(benchmark_key="llama-bench", params=params, params_key="tg", unit="tok/s", device="cuda:0")
    [(matrix, chart)] = drawn([run])[0].matrices
    assert (matrix.columns, matrix.groups[0].title, chart) == (("tg128",), "Llama 2 7B Q4_0", None)


@pytest.mark.parametrize("side", [10**400, -1, True, "x", None])
def test_sides_nobody_can_multiply_are_a_setting_like_any_other(side):
    params = {"dtype": "bf16", "m": side, "n": 8, "k": 8}
    [kind] = drawn([result(params=params, params_key="odd"), result()])
    assert len(kind.matrices[0][0].rows) == 2


def test_a_matrix_stays_small_and_counts_what_it_leaves_out():
    sent = [typed(f"type-{number}", side=number + 1, reason=f"r{number}") for number in range(150)]
    [kind] = drawn(sent)
    [(matrix, _chart)] = kind.matrices
    assert (len(matrix.columns), len(matrix.groups), len(matrix.rows)) == (MOST_COLUMNS, MOST_GROUPS, 150)
    shown = sum(cell is not None for group in matrix.groups for line in group.lines for cell in line.cells)
    assert shown + kind.left_out == 150
    assert "have no place in these tables" in html_of(sent)


def test_notes_have_an_end():
    failed = [typed(f"type-{number % 12}", None, side=number // 12 + 1) for number in range(96)]
    for number, run in enumerate(failed):
        run.__dict__["reason"] = f"reason {number}"
    [kind] = drawn(failed)
    assert len(kind.notes) == MOST_NOTES + 1
    assert kind.notes[-1] == "a remark that is in the CSV and JSON files"


def test_the_chart_has_a_panel_a_type_and_a_line_a_machine():
    first = [typed(dtype, side=side) for dtype in ("bf16", "fp16") for side in (1024, 4096)]
    second = [typed("bf16", TWICE_AS_SLOW, side=side) for side in (1024, 4096)]
    [(_matrix, chart)] = drawn(first, second)[0].matrices
    assert [(panel.title, [line.name for line in panel.lines]) for panel in chart.panels] == [
        ("bf16", ["box-0", "box-1"]),
        ("fp16", ["box-0"]),
    ]
    figure = go.Figure(chart.figure)
    assert [trace.name for trace in figure.data] == ["box-0", "box-1", "box-0"]
    assert figure.layout.height == chart.height


def test_a_name_from_a_report_is_only_text_in_the_chart():
    runs = [typed("bf16", side=side) for side in (1024, 2048, 4096)]
    measured = measure([(0, "<b>a</b>", runs)])
    assert "<b>a" not in str(measured.figures)
    html = render_part("compare/_measured.jinja", measured=measured, figures_url="", csv_url="", base=None)
    assert "<b>a" not in html


def test_an_interval_is_drawn_where_it_can_be_seen():
    [(_matrix, chart)] = drawn([typed("bf16", WIDE, side=side) for side in (1024, 2048, 4096)])[0].matrices
    assert chart.placed.panels[0].lines[0].whiskers.count("V") == 3
