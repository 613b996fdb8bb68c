"""The ladder and the scatter as files: exactly what is shown, all pages of it, with sources."""

from typing import Any

from django.http import HttpResponse

from stackviz.explore.axes import Axis, Figure, Subject
from stackviz.explore.ladder import Ranking, Row
from stackviz.web.download import csv_response, json_response


def ranking_file(ranking: Ranking, ending: str) -> HttpResponse:
    """The ranking as CSV or JSON."""
    rows = [_ranked(ranking.axis, row) for row in ranking.rows]
    name = f"ladder {ranking.axis.measure.name}"
    if ending == "csv":
        return csv_response(name, list(_ranked_header()), [list(row.values()) for row in rows])
    return json_response(
        name,
        {
            **axis_out(ranking.axis),
            "rows": rows,
            "not_ranked": [
                {**subject_out(subject), "why": group.why, "instead": instead}
                for group in ranking.unranked
                for subject, instead in group.subjects
            ],
        },
    )


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


def _ranked_header() -> tuple[str, ...]:
    return (
        "place", "slug", "name", "vendor", "kind", "year", "field", "value", "unit", "condition", "basis",
        "accumulate_named", "remark", "source_title", "source_url", "measured_best", "measured_median",
        "measured_setting", "measured_on", "measured_results",
    )  # fmt: skip
