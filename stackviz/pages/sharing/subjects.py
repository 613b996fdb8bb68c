"""What a picture, an embed and an oEmbed answer show: a page's address, and its picture as data. For strangers."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.utils.translation import override

from stackviz.draw.diagrams.svg import svg_of
from stackviz.pages.benchmarks.ranking import ladder_of
from stackviz.pages.benchmarks.selection import read_choice
from stackviz.pages.compare.comparison import stacks_of
from stackviz.pages.compare.query import Address, Selection, parse_selection
from stackviz.pages.compare.subjects import Loaded, heading, load
from stackviz.pages.sharing.cards import Picture
from stackviz.pages.sharing.pictures_of import comparison_picture, ranking_picture, sheet_picture
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.series.models import ResultDecision
from stackviz.records.stacks.models import Edition
from stackviz.web.reverse import address_by_name

__all__ = [
    "Shared",
    "public_subjects",
    "shared_comparison",
    "shared_ranking",
    "shared_sheet",
    "shared_subjects",
    "stacks_svg",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """`path`: of the page; `query`: what of its address counts; `picture`: its path below /picture/, without query.

    `state`: moves with whatever `make` shows, which is called within `override("en")`. `has_machines`: of public labs.
    """

    path: str
    query: str = ""
    picture: str
    state: tuple[object, ...]
    has_machines: bool = False
    make: Callable[[], Picture]


def shared_sheet(slug: str) -> Shared | None:
    catalogue = public_catalogue()
    accelerator = catalogue.by_slug.get(slug)
    if accelerator is None:
        return None
    return Shared(
        path=address_by_name("accelerators:sheet", slug),
        picture=f"sheet/{slug}.png",
        state=("sheet", slug, catalogue.edition),
        make=lambda: sheet_picture(accelerator),
    )


def public_subjects(parameters: QueryDict) -> tuple[Loaded, ...]:
    """The subjects of a comparison if a stranger may see all of them; else none."""
    selection = parse_selection(parameters.getlist("a")[:12])
    chosen, _refused = load(Selection(selection.subjects), AnonymousUser())
    return chosen if not selection.refused and len(chosen) == len(selection.subjects) else ()


def shared_comparison(parameters: QueryDict) -> Shared | None:
    chosen = public_subjects(parameters)
    return shared_subjects(chosen) if chosen else None


def shared_subjects(chosen: tuple[Loaded, ...]) -> Shared:
    """A comparison of these, which a stranger may see. One query for its state where machines are among them."""
    return Shared(
        path=address_by_name("compare:page"),
        query=Address(tuple(loaded.subject for loaded in chosen)).query().removeprefix("?"),
        picture="compare.png",
        state=("compare", *map(_state_of, chosen), *_decided(chosen), CatalogueEdition.current(), Edition.current()),
        has_machines=any(loaded.machine for loaded in chosen),
        make=lambda: comparison_picture(chosen),
    )


def _state_of(loaded: Loaded) -> tuple[object, ...]:
    """A machine's results change with what is read, withdrawn or deleted, its newest snapshot or not."""
    machine = loaded.machine
    return loaded.subject.name, loaded.title, *((machine.latest_snapshot_id, machine.times_read) if machine else ())


def _decided(chosen: tuple[Loaded, ...]) -> tuple[object, ...]:
    """The last decision about any result, where results are shown."""
    if not any(loaded.machine for loaded in chosen):
        return ()
    return (ResultDecision.objects.order_by("-pk").values_list("pk", flat=True).first(),)


def shared_ranking(key: str, parameters: QueryDict) -> Shared | None:
    benchmark = CITED_BENCHMARKS.get(key)
    if benchmark is None:
        return None
    choice = read_choice(parameters, benchmark)
    return Shared(
        path=address_by_name("benchmarks:benchmark", key),
        query=choice.query_string,
        picture=f"benchmark/{key}.png",
        state=("ranking", key, choice.query_string, edition_of_cases()),
        make=lambda: ranking_picture(ladder_of(benchmark, choice)),
    )


def stacks_svg(chosen: tuple[Loaded, ...], address: str) -> str:
    """The diagram of the subjects' stacks, in English."""
    with override("en"):
        return svg_of(stacks_of(chosen).drawing, heading([loaded.title for loaded in chosen]), address)
