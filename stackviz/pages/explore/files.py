"""The ladder, the scatter and the heat map as CSV and JSON: what the page shows, all pages of it, with sources."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse

from stackviz.pages.explore.heatmap import HeatMap
from stackviz.pages.explore.ladder import LadderRow, Ranking, Unranked
from stackviz.pages.explore.measures import Axis, AxisFigure, CitedRun, PlottedAccelerator
from stackviz.pages.explore.scatter import ScatterPlot, ScatterPoint
from stackviz.web.download import csv_response, json_response

_SUBJECT = ("slug", "name", "vendor", "kind", "year")
_FIGURE = ("value", "unit", "condition", "basis", "accumulate_named", "remark", "source_title", "source_url")
_RUN = ("devices", "measured_with", "date", "result")  # of cited figures only
_MEASURED = ("measured_best", "measured_median", "measured_setting", "measured_on", "measured_results")


def ranking_file(ranking: Ranking, ending: str) -> HttpResponse:
    """The ranking as CSV or JSON."""
    rows = [_ranked(ranking.axis, row) for row in ranking.rows]
    name = f"ladder {ranking.axis.measure.name}"
    if ending == "csv":
        header = ["place", *_SUBJECT, "field", *_parts(ranking.axis), *_MEASURED]
        return csv_response(name, header, [list(row.values()) for row in rows])
    return json_response(
        name,
        {
            **axis_out(ranking.axis),
            "rows": rows,
            "not_ranked": _left_out(ranking.unranked),
        },
    )


def drawing_file(drawing: ScatterPlot, ending: str) -> HttpResponse:
    """The points as CSV or JSON, each figure with its source; whether it is on the front, and its share of a bound."""
    name = f"scatter {drawing.x.measure.name} {drawing.y.measure.name}"
    points = [_point_out(point, drawing) for point in drawing.points]
    if ending == "csv":
        header = [*_SUBJECT, *(f"{role}_{part}" for role, axis in drawing.axes for part in ("field", *_parts(axis)))]
        return csv_response(name, [*header, *_drawn(drawing)], [_cells(point, drawing) for point in points])
    return json_response(
        name,
        {
            **{role: axis_out(axis) for role, axis in drawing.axes},
            **({"bound": drawing.bound.words} if drawing.bound else {}),
            "points": points,
            "not_drawn": _left_out(drawing.unplaced),
        },
    )


def heatmap_file(heatmap: HeatMap, ending: str) -> HttpResponse:
    """Every cell of the heat map, those of all its pages: a line each, with its source."""
    lines = [
        {
            **subject_out(row.subject),
            "benchmark": column.title,
            "setting": column.setting,
            "share_of_best": cell.share,
            **figure_out(column.axis, cell.figure),
        }
        for row in heatmap.rows
        for column, cell in zip(heatmap.columns, row.cells, strict=True)
        if cell is not None
    ]
    if ending == "csv":
        header = [*_SUBJECT, "benchmark", "setting", "share_of_best", *_FIGURE, *_RUN]
        return csv_response("heatmap", header, [list(line.values()) for line in lines])
    columns = [
        {"benchmark": column.title, "setting": column.setting, "best": column.best, **axis_out(column.axis)}
        for column in heatmap.columns
    ]
    return json_response("heatmap", {"columns": columns, "cells": lines})


def _drawn(drawing: ScatterPlot) -> tuple[str, ...]:
    """What is known of a point beside its figures: only what is drawn."""
    return (*(("on_front",) if drawing.front else ()), *(("bound", "share_of_bound") if drawing.bound else ()))


def _point_out(point: ScatterPoint, drawing: ScatterPlot) -> dict[str, Any]:
    axes = dict(drawing.axes)
    out = {**subject_out(point.subject), **{role: figure_out(axes[role], figure) for role, figure in _figures(point)}}
    if drawing.front:
        out["on_front"] = point.is_on_front
    if drawing.bound:
        rate, pk = drawing.bound.rate.measure, point.subject.pk
        out |= {"bound": rate.scaled(drawing.bound.most(pk)), "share_of_bound": drawing.bound.share(pk)}
    return out


def _cells(point: dict[str, Any], drawing: ScatterPlot) -> list[object]:
    cells: list[object] = [point[name] for name in _SUBJECT]
    for role, axis in drawing.axes:
        figure = point.get(role, {})
        cells += [axis.measure.name, *(figure.get(part) for part in _parts(axis))]
    return [*cells, *(point[name] for name in _drawn(drawing))]


def _parts(axis: Axis) -> tuple[str, ...]:
    return (*_FIGURE, *_RUN) if axis.is_cited else _FIGURE


def _figures(point: ScatterPoint) -> list[tuple[str, AxisFigure]]:
    figures = [("x", point.x), ("y", point.y), ("size", point.size)]
    return [(role, figure) for role, figure in figures if figure is not None]


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
        **({"kind": "cited", "ranking": axis.ranking_url} if axis.is_cited else {}),
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
        "condition": figure.condition or axis.condition,
        "basis": figure.basis_name,
        "accumulate_named": not figure.is_unnamed,
        "remark": " · ".join(filter(None, (figure.instead, figure.remark))),
        "source_title": figure.source_title,
        "source_url": figure.source_url,
        **(_run_out(figure.run) if figure.run else {}),
    }


def _run_out(run: CitedRun) -> dict[str, Any]:
    return {"devices": run.devices, "measured_with": run.made, "date": run.date, "result": run.url}


def _ranked(axis: Axis, row: LadderRow) -> dict[str, Any]:
    measured = row.measured
    return {
        "place": row.rank,
        **subject_out(row.subject),
        "field": axis.measure.name,
        **figure_out(axis, row.figure),
        "measured_best": axis.measure.scaled(measured.best) if measured else None,
        "measured_median": axis.measure.scaled(measured.median) if measured and measured.median is not None else None,
        "measured_setting": measured.setting if measured else None,
        "measured_on": measured.url if measured else None,
        "measured_results": measured.machines if measured else None,
    }
