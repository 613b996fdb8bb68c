"""The ladder and the scatter as files: exactly what is shown, all pages of it, with sources."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse

from stackviz.explore.axes import Axis, Figure, Subject
from stackviz.explore.ladder import Ranking, Row, Unranked
from stackviz.explore.scatter import Drawing, Point
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


def drawing_file(drawing: Drawing, ending: str) -> HttpResponse:
    """The points as CSV or JSON, every figure with its source."""
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
                {**subject_out(point.subject), **{role: figure_out(axes[role], one) for role, one in _figures(point)}}
                for point in drawing.points
            ],
            "not_drawn": _left_out(drawing.unplaced),
        },
    )


def _figures(point: Point) -> list[tuple[str, Figure]]:
    found = [("x", point.x), ("y", point.y), ("size", point.size)]
    return [(role, figure) for role, figure in found if figure is not None]


def _drawn_cells(point: Point, axes: Mapping[str, Axis]) -> list[object]:
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


def subject_out(subject: Subject) -> dict[str, Any]:
    return {
        "slug": subject.slug,
        "name": subject.name,
        "vendor": subject.vendor,
        "kind": subject.kind,
        "year": subject.year,
    }


def figure_out(axis: Axis, figure: Figure) -> dict[str, Any]:
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


def _ranked(axis: Axis, row: Row) -> dict[str, Any]:
    one = row.measured
    return {
        "place": row.place,
        **subject_out(row.subject),
        "field": axis.measure.name,
        **figure_out(axis, row.figure),
        "measured_best": axis.measure.scaled(one.best) if one else None,
        "measured_median": axis.measure.scaled(one.median) if one else None,
        "measured_setting": one.setting if one else None,
        "measured_on": one.url if one else None,
        "measured_results": one.results if one else None,
    }
