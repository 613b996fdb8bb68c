"""The query of the list of public hosts: what its address asks for, which match, how many each choice finds."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.pages.machines.hosts_rows import ABSENT, ENGINES, NOT_REPORTED, HostRow, HostTest, KnownHosts
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.hosts.models import Host
from stackviz.report.rules.versions import numbers
from stackviz.web.http.address import AddressReader, Note
from stackviz.web.i18n.words import MISSING

FORMATS = ("csv", "json")
FEWEST_OF_TEST = 3  # hosts: fewer make no order
SORTS: Mapping[str, str | Promise] = {
    "seen": gettext_lazy("last described first"),
    "accelerator": gettext_lazy("by accelerator"),
}
SYSTEMS: Mapping[str, str | Promise] = {
    "macos": "macOS",
    "ubuntu": "Ubuntu",
    "debian": "Debian, Raspberry Pi OS",
    "fedora": "Fedora, Bazzite",
    "arch": "Arch, CachyOS",
    "jetpack": "JetPack",
    "linux": gettext_lazy("Linux, other or unnamed"),
    "wsl2": "WSL2",
    "windows": "Windows",
    "other": gettext_lazy("other"),
}
SHOWS: Mapping[str, str | Promise] = {
    "fault": gettext_lazy("a fault or a setting"),
    "results": gettext_lazy("results"),
}


@dataclass(frozen=True, slots=True)
class HostFacet:
    """A filter. `values(row)`: those of a host; `known`: labels in their order, where they are fixed.

    `is_folded`: no menu of its own; pictures lead to its values.
    """

    name: str
    title: str | Promise
    values: Callable[[HostRow], Iterable[str]]
    known: Mapping[str, str | Promise] | None = None
    what: str | Promise = ""
    is_folded: bool = False


def _given(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _shows(row: HostRow) -> Iterable[str]:
    return [*(["fault"] if row.teaches else []), *(["results"] if row.counted_results else [])]


FACETS = (
    HostFacet("vendor", gettext_lazy("Vendor"), lambda row: (row.vendor,), what=gettext_lazy("vendor")),
    HostFacet(
        "generation",
        gettext_lazy("Generation"),
        lambda row: _given(row.generation),
        what=gettext_lazy("generation"),
    ),
    HostFacet(
        "accelerator", gettext_lazy("Accelerator"), lambda row: row.accelerators, what=gettext_lazy("accelerator")
    ),
    HostFacet(
        "form",
        gettext_lazy("Form"),
        lambda row: (row.form,),
        dict(Host.Form.choices) | {NOT_REPORTED: MISSING["not_reported"]},
        gettext_lazy("form"),
    ),
    HostFacet(
        "system",
        gettext_lazy("System"),
        lambda row: (row.family,),
        {**SYSTEMS, NOT_REPORTED: MISSING["not_reported"]},
        gettext_lazy("system"),
    ),
    HostFacet("macos", "macOS", lambda row: _given(row.macos), what=gettext_lazy("release of macOS"), is_folded=True),
    HostFacet("driver", gettext_lazy("NVIDIA driver"), lambda row: _given(row.driver), what=gettext_lazy("driver")),
    HostFacet("cuda", "CUDA", lambda row: (row.cuda,) if row.vendor == "nvidia" else (), what="CUDA", is_folded=True),
    HostFacet("mlx", "MLX", lambda row: (row.mlx,) if row.vendor == "apple" else (), what="MLX", is_folded=True),
    HostFacet("torch", "PyTorch", lambda row: (row.torch,), what=gettext_lazy("release of PyTorch")),
    HostFacet(
        "engine",
        gettext_lazy("Engine"),
        lambda row: row.engines or (NOT_REPORTED,),
        {
            **{engine: title for engine, (title, _names) in ENGINES.items()},
            NOT_REPORTED: MISSING["not_reported"],
        },
        gettext_lazy("engine"),
    ),
    HostFacet("shows", gettext_lazy("Shows"), _shows, SHOWS, gettext_lazy("value")),
)
FACETS_BY_NAME = {facet.name: facet for facet in FACETS}
# What the picture of the stacks counts by -> the facet of NVIDIA's hosts and that of Apple's.
STACKED: Mapping[str, tuple[str | Promise, str, str]] = {
    "system": (gettext_lazy("Driver and macOS"), "driver", "macos"),
    "compute": (gettext_lazy("CUDA and MLX"), "cuda", "mlx"),
    "torch": ("PyTorch", "torch", "torch"),
    "engine": (gettext_lazy("Engine"), "engine", "engine"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsQuery:
    """What an address asks of the list. `chosen`: facet -> values; a host matches one value of each facet.

    `stack`: what the picture of the stacks counts by, a key of STACKED.
    """

    q: str = ""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sort: str = "seen"
    stack: str = "system"
    format: str = ""
    notes: tuple[Note, ...] = ()

    def values(self, facet: str) -> tuple[str, ...]:
        return dict(self.chosen).get(facet, ())

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.chosen)

    @property
    def query(self) -> QueryDict:
        """All of it as parameters, in one order: what links carry on."""
        query = QueryDict(mutable=True)
        if self.q:
            query["q"] = self.q
        for name, values in self.chosen:
            query.setlist(name, [*values])
        if self.sort != "seen":
            query["sort"] = self.sort
        if self.stack != "system":
            query["stack"] = self.stack
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()

    def address(self, **changes: object) -> str:
        """The query string of the list with something changed."""
        return "?" + replace(self, **changes).query_string  # type: ignore[arg-type]

    def without(self, name: str, value: str = "") -> str:
        """The query string without a facet, or without one of its values; `q` for the text."""
        chosen = tuple(
            (facet, tuple(each for each in values if facet != name or (value and each != value)))
            for facet, values in self.chosen
        )
        left = tuple((facet, values) for facet, values in chosen if values)
        return self.address(chosen=left, q="" if name == "q" else self.q)


def read_hosts_query(parameters: QueryDict, known: KnownHosts, also: frozenset[str] = frozenset()) -> HostsQuery:
    """Read the parameters; `also` are those that the caller reads itself. Never raises: see `HostsQuery.notes`."""
    reader = AddressReader(parameters)
    chosen = tuple(
        (facet.name, values)
        for facet in FACETS
        if (values := reader.choices(facet.name, _known_values(facet, known), facet.what))
    )
    query = HostsQuery(
        q=reader.text("q"),
        chosen=chosen,
        sort=reader.choice("sort", {*SORTS, *known.tests}, _("sort key"), default="seen"),
        stack=reader.choice("stack", STACKED, _("value"), default="system"),
        format=reader.text("format"),
    )
    return replace(query, notes=reader.notes({*FACETS_BY_NAME, "q", "sort", "stack", "format", *also}))


def _known_values(facet: HostFacet, known: KnownHosts) -> Collection[str]:
    """Values that an address may name: an accelerator without a host is known all the same."""
    if facet.known is not None:
        return facet.known
    if facet.name == "accelerator":
        return public_catalogue().by_slug
    if facet.name == "vendor":
        return {row.vendor.slug for row in public_catalogue().accelerators} | counted_values(facet, known).keys()
    return counted_values(facet, known).keys() | {NOT_REPORTED}


# --- which hosts match ---


def matching_hosts(rows: Iterable[HostRow], query: HostsQuery, without: str = "") -> list[HostRow]:
    """The hosts that have all words of `q` and one value of each facet but `without`."""
    pieces = query.q.casefold().split()
    filters = [
        (facet.values, frozenset(values))
        for facet in FACETS
        if facet.name != without and (values := query.values(facet.name))
    ]
    return [
        row
        for row in rows
        if all(piece in row.words for piece in pieces)
        and all(not chosen.isdisjoint(values(row)) for values, chosen in filters)
    ]


def ordered_hosts(rows: Sequence[HostRow], query: HostsQuery, known: KnownHosts) -> list[HostRow]:
    """As they come, last described first; by accelerator; or by a test, those without a result of it last."""
    if query.sort == "accelerator":
        return sorted(rows, key=lambda row: (not row.accelerators, row.vendor_name, natural(row.name)))
    test = known.tests.get(query.sort)
    if test is None:
        return list(rows)
    sign = -1 if CITED_BENCHMARKS[test.benchmark].higher_is_better else 1
    ran = [row for row in rows if test.key in row.results]
    ran.sort(key=lambda row: sign * row.results[test.key].amount)
    return [*ran, *(row for row in rows if test.key not in row.results)]


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts `RTX 980` before `RTX 4090` and `M5` before `M10`."""
    parts = [part.strip() for part in re.split(r"(\d+)", text.casefold())]
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def tests_to_sort_by(known: KnownHosts) -> list[HostTest]:
    """The tests that enough hosts have results of."""
    return [test for test in known.tests.values() if test.hosts >= FEWEST_OF_TEST]


# --- what each choice finds ---


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """`count`: hosts with this value under the other filters."""

    value: str
    label: str
    count: int
    is_chosen: bool
    element: str


@dataclass(frozen=True, slots=True)
class ShownFacet:
    name: str
    title: str
    choices: tuple[FacetChoice, ...]
    is_folded: bool

    @property
    def chosen(self) -> list[FacetChoice]:
        return [choice for choice in self.choices if choice.is_chosen]


def shown_facets(known: KnownHosts, query: HostsQuery) -> list[ShownFacet]:
    """The filters with their counts, those with a choice at all; values without a host at all are left out."""
    facets = []
    matching = matching_hosts(known.rows, query) if query.is_filtered else known.rows
    for facet in FACETS:
        everywhere, chosen = counted_values(facet, known), query.values(facet.name)
        others = matching_hosts(known.rows, query, without=facet.name) if chosen else matching
        counts = _count(facet, others) if query.is_filtered else everywhere
        labels = facet_labels(facet, known)
        shown = [value for value in ordered_values(facet, everywhere) if everywhere[value]]
        shown += [value for value in chosen if value not in shown]
        choices = tuple(
            FacetChoice(
                value, str(labels.get(value, value)), counts[value], value in chosen, f"n-{facet.name}-{slugify(value)}"
            )
            for value in shown
        )
        if choices:
            facets.append(ShownFacet(facet.name, str(facet.title), choices, facet.is_folded))
    return facets


def counted_values(facet: HostFacet, known: KnownHosts) -> Counter[str]:
    """Value -> how many of all hosts have it, counted once of each edition."""
    if facet.name not in known.counts:
        known.counts[facet.name] = _count(facet, known.rows)
    return known.counts[facet.name]


def _count(facet: HostFacet, rows: Iterable[HostRow]) -> Counter[str]:
    return Counter(chain.from_iterable(map(facet.values, rows)))


def facet_labels(facet: HostFacet, known: KnownHosts) -> Mapping[str, str | Promise]:
    """Value -> how it is called."""
    if facet.known is not None:
        return facet.known
    not_reported = {NOT_REPORTED: MISSING["not_reported"], ABSENT: MISSING["not_installed"]}
    if facet.name == "vendor":
        return {row.vendor: row.vendor_name for row in known.rows}
    if facet.name == "accelerator":
        return {slug: sheet.name for slug, sheet in public_catalogue().by_slug.items()}
    return not_reported


def ordered_values(facet: HostFacet, counts: Mapping[str, int]) -> list[str]:
    """Fixed orders as they are; versions newest first, what is not reported last; vendors with the most hosts first."""
    if facet.known is not None:
        return [value for value in facet.known if value in counts]
    if facet.name == "vendor":
        return sorted(counts, key=lambda value: (-counts[value], value))
    if facet.name in ("accelerator", "generation"):
        return sorted(counts, key=natural)
    return sorted(counts, key=lambda value: (bool(numbers(value)), numbers(value), value), reverse=True)
