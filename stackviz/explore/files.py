"""The ladder and the scatter as CSV and JSON: what the page shows, all pages of it, with sources."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse

from stackviz.explore.axes import Axis, AxisFigure, PlottedAccelerator
from stackviz.explore.ladder import LadderRow, Ranking, Unranked
from stackviz.explore.scatter import ScatterPlot, ScatterPoint
from stackviz.web.download import csv_response, json_response

_SUBJECT = ("slug", "name", "vendor", "kind", "year")
_FIGURE = ("value", "unit", "condition", "basis", "accumulate_named", "remark", "source_title", "source_url")
_MEASURED = ("measured_best", "measured_median", "measured_setting", "measured_on", "measured_results")


def ranking_file(ranking: Ranking, ending: str) -> HttpResponse:
    """The ranking as CSV or JSON."""
    rows = [_ranked(ranking.axis, row) for row in ranking.rows]
    name = f"ladder {ranking.axis.measure.name}"
    if ending == "csv":
        return csv_response(
            name, ["place", *_SUBJECT, "field", *_FIGURE, *_MEASURED], [list(row.values()) for row in rows]
        )
    return json_response(
        name,
        {
            **axis_out(ranking.axis),
            "rows": rows,
            "not_ranked": _left_out(ranking.unranked),
        },
    )


def drawing_file(drawing: ScatterPlot, ending: str) -> HttpResponse:
    """The points as CSV or JSON, each figure with its source."""
    axes = {"x": drawing.x, "y": drawing.y} | ({"size": drawing.size} if drawing.size else {})
    name = f"scatter {drawing.x.measure.name} {drawing.y.measure.name}"
    if ending == "csv":
        header = [*_SUBJECT, *(f"{role}_{part}" for role in axes for part in ("field", *_FIGURE))]
        return csv_response(name, header, [_drawn_cells(point, axes) for point in drawing.points])
    return json_response(
        name,
        {
            **{role: axis_out(axis) for role, axis in axes.items()},
            "points": [
                {
                    **subject_out(point.subject),
                    **{role: figure_out(axes[role], figure) for role, figure in _figures(point)},
                }
                for point in drawing.points
            ],
            "not_drawn": _left_out(drawing.unplaced),
        },
    )


def _point_out(point: ScatterPoint, axes: Mapping[str, Axis]) -> dict[str, Any]:
    return {**subject_out(point.subject), **{role: figure_out(axes[role], figure) for role, figure in _figures(point)}}


def _figures(point: ScatterPoint) -> list[tuple[str, AxisFigure]]:
    figures = [("x", point.x), ("y", point.y), ("size", point.size)]
    return [(role, figure) for role, figure in figures if figure is not None]


def _drawn_cells(point: ScatterPoint, axes: Mapping[str, Axis]) -> list[object]:
    figures = dict(_figures(point))
    cells: list[object] = list(subject_out(point.subject).values())
    for role, axis in axes.items():
        figure = figures.get(role)
        cells += [axis.measure.name, *(figure_out(axis, figure).values() if figure else [None] * len(_FIGURE))]
    return cells


def _left_out(groups: Iterable[Unranked]) -> list[dict[str, Any]]:
    return [
        {**subject_out(subject), "why": group.why, "instead": instead}
        for group in groups
        for subject, instead in group.subjects
    ]


def axis_out(axis: Axis) -> dict[str, Any]:
    return {
        "field": axis.measure.name,
        "title": axis.measure.title,
        "unit": axis.measure.unit,
        "condition": axis.condition,
        "formula": axis.measure.formula,
        "higher_is_better": axis.measure.better,
    }


def subject_out(subject: PlottedAccelerator) -> dict[str, Any]:
    return {
        "slug": subject.slug,
        "name": subject.name,
        "vendor": subject.vendor,
        "kind": subject.kind,
        "year": subject.year,
    }


def figure_out(axis: Axis, figure: AxisFigure) -> dict[str, Any]:
    return {
        "value": axis.measure.scaled(figure.amount),
        "unit": axis.measure.unit,
        "condition": axis.condition,
        "basis": figure.basis_name,
        "accumulate_named": not figure.is_unnamed,
        "remark": figure.remark,
        "source_title": figure.source_title,
        "source_url": figure.source_url,
    }


def _ranked(axis: Axis, row: LadderRow) -> dict[str, Any]:
    measured = row.measured
    return {
        "place": row.rank,
        **subject_out(row.subject),
        "field": axis.measure.name,
        **figure_out(axis, row.figure),
        "measured_best": axis.measure.scaled(measured.best) if measured else None,
        "measured_median": axis.measure.scaled(measured.median) if measured else None,
        "measured_setting": measured.setting if measured else None,
        "measured_on": measured.url if measured else None,
        "measured_results": measured.results if measured else None,
    }
