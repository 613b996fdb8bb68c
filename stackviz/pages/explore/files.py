"""The ladder, the scatter and the heat map as CSV and JSON: what the page shows, all pages of it, with sources."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, TypeAlias

from django.http import HttpResponse

from stackviz.pages.explore.heatmap import HeatCell, HeatColumn, HeatMap
from stackviz.pages.explore.ladder import LadderRow, Ranking, Unranked
from stackviz.pages.explore.measures import Axis, AxisFigure, PlottedAccelerator
from stackviz.pages.explore.scatter import ScatterPlot, ScatterPoint
from stackviz.web.http.download import Columns, attributes, of_part, row_as_object, table_file

_SUBJECT: Columns[PlottedAccelerator] = attributes("slug", "name", "vendor", "kind", "year")


Figure: TypeAlias = tuple[Axis, AxisFigure]
_FIGURE: Columns[Figure] = {
    "value": lambda row: row[0].measure.scaled(row[1].amount),
    "unit": lambda row: row[0].measure.unit,
    "condition": lambda row: row[1].condition or row[0].condition,
    "basis": lambda row: row[1].basis_name,
    "accumulate_named": lambda row: not row[1].is_unnamed,
    "remark": lambda row: " · ".join(filter(None, (row[1].instead, row[1].remark))),
    "source_title": lambda row: row[1].source_title,
    "source_url": lambda row: row[1].source_url,
}
_CITED_FIGURE: Columns[Figure] = {
    **_FIGURE,
    **of_part(
        lambda row: row[1].run,
        {
            "devices": lambda run: run.devices,
            "measured_with": lambda run: run.made,
            "date": lambda run: run.date,
            "result": lambda run: run.url,
        },
    ),
}


def _figure_columns(axis: Axis) -> Columns[AxisFigure]:
    return of_part(lambda figure: (axis, figure), _CITED_FIGURE if axis.is_cited else _FIGURE)


def ranking_file(ranking: Ranking, ending: str) -> HttpResponse:
    """Return the ranking as CSV or JSON."""
    axis, scaled = ranking.axis, ranking.axis.measure.scaled
    columns: Columns[LadderRow] = {
        "place": lambda row: row.rank,
        **of_part(lambda row: row.subject, _SUBJECT),
        "field": lambda _: axis.measure.name,
        **of_part(lambda row: row.figure, _figure_columns(axis)),
        **of_part(
            lambda row: row.measured,
            {
                "measured_best": lambda measured: scaled(measured.best),
                "measured_median": lambda measured: None if measured.median is None else scaled(measured.median),
                "measured_setting": lambda measured: measured.setting,
                "measured_on": lambda measured: measured.url,
                "measured_results": lambda measured: measured.machines,
            },
        ),
    }
    return table_file(
        f"ladder {axis.measure.name}",
        columns,
        ranking.rows,
        ending,
        document=lambda rows: {**_axis_as_object(axis), "rows": rows, "not_ranked": _left_out(ranking.unranked)},
    )


def drawing_file(drawing: ScatterPlot, ending: str) -> HttpResponse:
    """Return the points, each figure with its source; whether each is on the front, and its share of a bound.

    A figure is an object in JSON, and a group of columns in CSV.
    """
    figures: Columns[ScatterPoint] = {}
    for role, axis in drawing.axes:
        figures |= _flat(role, axis) if ending == "csv" else _nested(role, axis)
    roles = dict(drawing.axes)
    document: dict[str, object] = {role: _axis_as_object(axis) for role, axis in drawing.axes}
    if drawing.bound:
        document["bound"] = drawing.bound.words
    return table_file(
        f"scatter {drawing.x.measure.name} {drawing.y.measure.name}",
        {**of_part(lambda point: point.subject, _SUBJECT), **figures, **_drawn(drawing)},
        drawing.points,
        ending,
        document=lambda points: {
            **document,
            "points": [
                {name: cell for name, cell in row.items() if cell is not None or name not in roles} for row in points
            ],
            "not_drawn": _left_out(drawing.unplaced),
        },
    )


def _flat(role: str, axis: Axis) -> Columns[ScatterPoint]:
    figures = of_part(attrgetter(role), _figure_columns(axis))
    return {f"{role}_field": lambda _: axis.measure.name, **{f"{role}_{name}": cell for name, cell in figures.items()}}


def _nested(role: str, axis: Axis) -> Columns[ScatterPoint]:
    columns = _figure_columns(axis)
    return of_part(attrgetter(role), {role: lambda figure: row_as_object(columns, figure)})


def _drawn(drawing: ScatterPlot) -> Columns[ScatterPoint]:
    """Return the columns of what is known of a point besides its figures: only what is drawn."""
    columns: Columns[ScatterPoint] = {}
    if drawing.front:
        columns["on_front"] = lambda point: point.is_on_front
    if (bound := drawing.bound) is not None:
        columns["bound"] = lambda point: bound.rate.measure.scaled(bound.most(point.subject.pk))
        columns["share_of_bound"] = lambda point: bound.share(point.subject.pk)
    return columns


def heatmap_file(heatmap: HeatMap, ending: str) -> HttpResponse:
    """Return every cell of the heat map, those of all its pages, with its source."""
    cells = [
        (row.subject, column, cell)
        for row in heatmap.rows
        for column, cell in zip(heatmap.columns, row.cells, strict=True)
        if cell is not None
    ]
    columns: Columns[tuple[PlottedAccelerator, HeatColumn, HeatCell]] = {
        **of_part(lambda row: row[0], _SUBJECT),
        "benchmark": lambda row: row[1].title,
        "setting": lambda row: row[1].setting,
        "share_of_best": lambda row: row[2].share,
        **of_part(lambda row: (row[1].axis, row[2].figure), _CITED_FIGURE),
    }
    benchmarks = [
        {"benchmark": column.title, "setting": column.setting, "best": column.best, **_axis_as_object(column.axis)}
        for column in heatmap.columns
    ]
    return table_file("heatmap", columns, cells, ending, document=lambda rows: {"columns": benchmarks, "cells": rows})


def _left_out(groups: Iterable[Unranked]) -> list[dict[str, Any]]:
    return [
        {**row_as_object(_SUBJECT, subject), "why": group.why, "instead": instead}
        for group in groups
        for subject, instead in group.subjects
    ]


def _axis_as_object(axis: Axis) -> dict[str, Any]:
    return {
        "field": axis.measure.name,
        "title": axis.measure.title,
        "unit": axis.measure.unit,
        "condition": axis.condition,
        "formula": axis.measure.formula,
        "higher_is_better": axis.measure.better,
        **({"kind": "cited", "ranking": axis.ranking_url} if axis.is_cited else {}),
    }
