"""What an embed and an oEmbed answer show: a page's address, and its picture as data. For strangers."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.utils.translation import override

from stackviz.catalog.queries import public_catalogue
from stackviz.cited.registry import CITED_BENCHMARKS
from stackviz.compare.comparison import stacks_of
from stackviz.compare.query import Address, Selection, parse_selection
from stackviz.compare.subjects import Loaded, heading, load
from stackviz.diagrams.svg import svg_of
from stackviz.results.ranking import ladder_of
from stackviz.results.selection import read_choice
from stackviz.sharing.cards import Picture
from stackviz.sharing.pictures_of import comparison_picture, ranking_picture, sheet_picture
from stackviz.web.reverse import address_by_name

__all__ = ["Shared", "public_subjects", "shared_comparison", "shared_ranking", "shared_sheet", "stacks_svg"]


@dataclass(frozen=True, slots=True)
class Shared:
    """`path`: of the page; `query`: what of its address counts; `picture`: its path below /picture/, without query.

    `make` is called within `override("en")`.
    """

    path: str
    query: str
    picture: str
    make: Callable[[], Picture]


def shared_sheet(slug: str) -> Shared | None:
    accelerator = public_catalogue().by_slug.get(slug)
    if accelerator is None:
        return None
    path = address_by_name("catalog:sheet", slug)
    return Shared(path, "", f"sheet/{slug}.png", lambda: sheet_picture(accelerator))


def public_subjects(parameters: QueryDict) -> tuple[Loaded, ...]:
    """The subjects of a comparison if a stranger may see all of them; else none."""
    selection = parse_selection(parameters.getlist("a")[:12])
    chosen, _refused = load(Selection(selection.subjects), AnonymousUser())
    return chosen if not selection.refused and len(chosen) == len(selection.subjects) else ()


def shared_comparison(parameters: QueryDict) -> Shared | None:
    chosen = public_subjects(parameters)
    if not chosen:
        return None
    query = Address(tuple(loaded.subject for loaded in chosen)).query().removeprefix("?")
    return Shared(address_by_name("compare:page"), query, "compare.png", lambda: comparison_picture(chosen))


def shared_ranking(key: str, parameters: QueryDict) -> Shared | None:
    benchmark = CITED_BENCHMARKS.get(key)
    if benchmark is None:
        return None
    choice = read_choice(parameters, benchmark)
    path = address_by_name("results:benchmark", key)
    return Shared(
        path, choice.query_string, f"benchmark/{key}.png", lambda: ranking_picture(ladder_of(benchmark, choice))
    )


def stacks_svg(chosen: tuple[Loaded, ...], address: str) -> str:
    """The diagram of the subjects' stacks, in English."""
    with override("en"):
        return svg_of(stacks_of(chosen).drawing, heading([loaded.title for loaded in chosen]), address)
