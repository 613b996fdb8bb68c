"""The doors of the site and the pages behind each: the two lines of navigation that every page has."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import NoReverseMatch
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.web.http.addresses import address_by_name

Words = str | Promise


@dataclass(frozen=True, slots=True)
class Door:
    """`pages`: title and address by name; the first is where the door leads. `below`: further addresses behind it."""

    title: Words
    pages: tuple[tuple[Words, str], ...]
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """`current`: what aria-current says: "page", "true" for a page below it, or ""."""

    title: str
    url: str
    current: str


TOOLS = Door(
    _("Tools"),
    (
        (_("Compare"), "compare:page"),
        (_("Fit"), "fit:page"),
        (_("Plan"), "plan:page"),
        (_("Diagnose"), "diagnose:page"),
    ),
    ("causes/",),
)
DOORS = (
    Door(
        _("Hardware"),
        (
            (_("List"), "accelerators:list"),
            (_("Ladder"), "explore:ladder"),
            (_("Scatter"), "explore:scatter"),
            (_("Timeline"), "explore:timeline"),
        ),
    ),
    Door(
        _("Software"),
        (
            (_("Stacks"), "stacks:list"),
            (_("Releases"), "stacks:releases"),
            (_("Operators"), "stacks:operators"),
        ),
        ("components/", "drivers/"),
    ),
    Door(
        _("Benchmarks"),
        (
            (_("Rankings"), "benchmarks:index"),
            (_("Roofline"), "benchmarks:roofline"),
            (_("Scaling"), "benchmarks:scaling"),
            (_("Heat map"), "explore:heatmap"),
        ),
    ),
    TOOLS,
    Door(_("Machines"), ((_("Machines"), "machines:list"),), ("hosts/",)),
    Door(
        _("Learn"),
        (
            (_("Chapters"), "learn:index"),
            (_("Glossary"), "learn:glossary"),
            (_("Claims checked"), "accelerators:claims"),
        ),
    ),
)
FOOT = ((_("Data"), "data:index"), (_("What is new"), "accelerators:changes"), (_("Freshness"), "freshness:freshness"))


def door_of(path: str) -> int | None:
    """Return which of DOORS a page is behind, by the longest address that its own begins with; None for no door."""
    home = _url_of("home:home")
    behind: dict[str, int] = {}
    for index, door in enumerate(DOORS):
        addresses = [_url_of(name) for _title, name in door.pages] + [home + below for below in door.below]
        behind |= {address: index for address in addresses if address and path.startswith(address)}
    return behind[max(behind, key=len)] if behind else None


def door_links(current: int | None) -> list[NavigationLink]:
    """Return a link for each door; a door without any page is left out."""
    titled = ((door.title, _url_of(door.pages[0][1]), index) for index, door in enumerate(DOORS))
    return [NavigationLink(str(title), url, "true" if index == current else "") for title, url, index in titled if url]


def links_of_pages(pages: Iterable[tuple[Words, str]], path: str) -> list[NavigationLink]:
    """Return a link for each page; the current one is the page itself, else the one that it is below."""
    links = [(str(title), url) for title, name in pages if (url := _url_of(name))]
    nearest = max((url for _title, url in links if path.startswith(url)), key=len, default="")
    return [
        NavigationLink(title, url, "" if url != nearest else "page" if url == path else "true") for title, url in links
    ]


def _url_of(name: str) -> str:
    try:
        return address_by_name(name)
    except NoReverseMatch:
        return ""
