"""`/scaling/`: what is reached over size, length and batch. The address holds the whole state."""

from dataclasses import replace
from functools import partial

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number, unit_label
from stackviz.draw.charts.plane import plane_figure
from stackviz.draw.charts.scatter_plotly import AxisWords
from stackviz.pages.benchmarks.chart_page import (
    CACHE_S,
    ChartForm,
    ChartPage,
    ChoiceOption,
    OneOf,
    PlotWords,
    answer_chart,
    chosen_accelerators,
    options,
)
from stackviz.pages.benchmarks.curves import FEWEST_POINTS, KINDS, CurveKind, CurvePoint
from stackviz.pages.benchmarks.files import scaling_file
from stackviz.pages.benchmarks.scaling import (
    ScalingPlot,
    all_curves,
    assemble_scaling,
    curve_sentences,
    kinds_with_curves,
)
from stackviz.pages.benchmarks.selection import (
    FIGURE,
    FORMATS,
    MOST_ACCELERATORS,
    ScalingChoice,
    scaling_choice,
    without,
)
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.series.public_runs import measured_edition
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx
from stackviz.web.parts import cached_html, render_part

__all__ = ["scaling_page", "urlpatterns"]

MOST_SETTINGS = 150  # in the list to choose from: those of most accelerators


@require_safe
@serves_formats(*FORMATS, parts=[FIGURE])
@vary_on_htmx
def scaling_page(request: HttpRequest) -> HttpResponse:
    """The curves as a page, a file or a Plotly figure; htmx gets only the form and the drawing."""
    catalogue = public_catalogue()
    names = {item.slug: item.name for item in catalogue.accelerators}
    choice = scaling_choice(request.GET, names, {key: partial(_settings, kind) for key, kind in KINDS.items()})
    if choice.format == FIGURE:
        return JsonResponse(_figure(assemble_scaling(catalogue, choice)))
    if choice.format:
        return scaling_file(assemble_scaling(catalogue, choice), choice.format)
    page = ChartPage(
        title=_("Scaling"),
        lead=_("What is reached over size, length and batch"),
        query=choice.query_string,
        body=_body(catalogue, choice),
        notes=choice.notes,
    )
    return answer_chart(request, page)


def _settings(kind: CurveKind) -> set[str]:
    return {curve.setting for curve in all_curves(kind)}


def _body(catalogue: PublicCatalogue, choice: ScalingChoice) -> SafeString:
    """The form, the drawing and its tables, cached."""

    def draw() -> str:
        scaling = assemble_scaling(catalogue, choice)
        return render_part(
            "benchmarks/_scaling.jinja",
            form=_form(scaling, choice),
            choice=choice,
            scaling=scaling,
            plot=_words(scaling),
            table=_table(scaling),
            sentences=tuple(curve_sentences(scaling)),
        )

    return cached_html(("scaling", choice.query_string, edition_of_cases(), measured_edition()), draw, CACHE_S)


def _form(scaling: ScalingPlot, choice: ScalingChoice) -> ChartForm:
    accelerators = list(dict.fromkeys(item.accelerator for item in scaling.curves))
    slugs = tuple(item.slug for item in accelerators)
    value = scaling.setting.value if scaling.setting else ""
    settings = tuple(
        ChoiceOption(known.value, f"{known.words} ({known.accelerators})", known.value == value)
        for known in scaling.settings[:MOST_SETTINGS]
    )
    is_full = len(accelerators) >= MOST_ACCELERATORS
    return ChartForm(
        address=reverse("benchmarks:scaling"),
        chosen=chosen_accelerators(accelerators, lambda slug: replace(choice, slugs=without(slugs, slug)).query_string),
        names=() if is_full else tuple(item.name for item in scaling.others),
        lists=(
            OneOf("curve", _("Curve"), _kinds(scaling.kind)),
            *([OneOf("setting", _("Setting"), settings)] if len(settings) > 1 else []),
        ),
    )


def _kinds(chosen: CurveKind) -> tuple[ChoiceOption, ...]:
    """Those with a curve, and the one that the address names."""
    offered = {kind.key for kind in (*kinds_with_curves(), chosen)}
    return options({key: str(kind.title) for key, kind in KINDS.items() if key in offered}, [chosen.key])


def _axis_words(scaling: ScalingPlot) -> tuple[str, str]:
    """The words of the horizontal and of the vertical axis."""
    return str(scaling.kind.x_title), unit_label(scaling.unit)


def _words(scaling: ScalingPlot) -> PlotWords:
    x, y = _axis_words(scaling)
    setting = scaling.setting.words if scaling.setting else ""
    return PlotWords(
        title=f"{scaling.kind.title}: {setting}" if setting else str(scaling.kind.title),
        x=x,
        y=y,
        key=_key(scaling),
        count_text=ngettext("%(n)d curve", "%(n)d curves", len(scaling.curves)) % {"n": len(scaling.curves)},
        unit=scaling.kind.x_unit,
        y_kind=scaling.y_kind,
        has_names_outside=True,
    )


def _key(scaling: ScalingPlot) -> str:
    caches = _("Dotted: published sizes of caches.") if scaling.content.steps else ""
    return " ".join([_("Hollow points: cited results. Filled points: measured here."), caches]).strip()


def _figure(scaling: ScalingPlot) -> dict[str, object]:
    x, y = _axis_words(scaling)
    nothing = _("No source has a curve of %(n)d points or more.") % {"n": FEWEST_POINTS}
    return plane_figure(
        scaling.content,
        AxisWords(x, "log"),
        AxisWords(y, scaling.y_kind),
        nothing,
        has_names_outside=True,
    )


def _table(scaling: ScalingPlot) -> list[tuple[str, list[CurvePoint | None]]]:
    """(place on the axis, the point of each curve there or None), in order."""
    columns = [{point.x: point for point in item.curve.points} for item in scaling.curves]
    rows = []
    for x in sorted({x for column in columns for x in column}):
        points = [column.get(x) for column in columns]
        position = next(scaling.position(point) for point in points if point)
        rows.append((format_number(position), points))
    return rows


urlpatterns = [path("scaling/", scaling_page, name="scaling")]
