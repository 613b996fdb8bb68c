"""What the pages of charts share: the answer, the whole page or for htmx its part; the form; the words of a drawing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django_htmx.http import push_url

from stackviz.draw.charts.scale import ScaleKind
from stackviz.draw.colours import Hue, hues_of
from stackviz.records.catalog.models import Accelerator
from stackviz.web.http.address import Note
from stackviz.web.http.htmx import wants_partial
from stackviz.web.parts import render_part

CACHE_S = 600  # keys move with sheets, cited results and measured ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPage:
    """`title`, `lead`: of the page; `query`: of its address; `body`: the part that htmx swaps."""

    title: str
    lead: str
    query: str
    body: SafeString
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotWords:
    """The words of a drawing, and how its axes run. `unit`: of notes at its points.

    `has_names_outside`: names of lines are right of the drawing, for lines that do not end level.
    """

    title: str
    x: str
    y: str
    key: str
    count_text: str
    unit: str = ""
    x_kind: ScaleKind = "log"
    y_kind: ScaleKind = "log"
    has_names_outside: bool = False


def answer_chart(request: HttpRequest, page: ChartPage) -> HttpResponse:
    if wants_partial(request):
        part = render_part("web/_notes.jinja", notes=page.notes) + page.body
        return push_url(HttpResponse(part), request.path + (f"?{page.query}" if page.query else ""))
    return render(request, "benchmarks/page.html", {"page": page})


@dataclass(frozen=True, slots=True)
class ChosenAccelerator:
    """`query`: of the address without it. `is_removable`: whether others are left then."""

    slug: str
    name: str
    css: str
    query: str
    is_removable: bool


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """A list to choose from; `id` is also the name of the parameter."""

    id: str
    label: str
    options: tuple[ChoiceOption, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Check boxes of one parameter."""

    id: str
    label: str
    options: tuple[ChoiceOption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartForm:
    """`address`: of the page; `names`: of accelerators to add, () where there is no room for another."""

    address: str
    chosen: tuple[ChosenAccelerator, ...] = ()
    names: tuple[str, ...] = ()
    lists: tuple[OneOf, ...] = ()
    boxes: tuple[AnyOf, ...] = ()


def chosen_accelerators(
    accelerators: Sequence[Accelerator], query_without: Callable[[str], str]
) -> tuple[ChosenAccelerator, ...]:
    """`query_without(slug)`: the query of the address without this accelerator."""
    return tuple(
        ChosenAccelerator(item.slug, item.name, hue.css, query_without(item.slug), len(accelerators) > 1)
        for hue, item in zip(accelerator_hues(accelerators), accelerators, strict=True)
    )


def accelerator_hues(accelerators: Sequence[Accelerator]) -> tuple[Hue, ...]:
    return hues_of(item.vendor.slug for item in accelerators)


def short_label(accelerator: Accelerator) -> str:
    """`RTX 4090`, `M3 Max 40`: without vendor and brand, cores as a number: labels in a drawing are short."""
    name = accelerator.short_name.removeprefix("GeForce ").removeprefix("Radeon ")
    return name.removesuffix("-core GPU)").replace(" (", " ") if name.endswith("-core GPU)") else name


def options(words: Mapping[str, str], chosen: Iterable[str]) -> tuple[ChoiceOption, ...]:
    marked = set(chosen)
    return tuple(ChoiceOption(value, text, value in marked) for value, text in words.items())
