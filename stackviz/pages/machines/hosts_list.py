"""The public hosts of `/machines/`: the finding and its pictures, filters, cards, and all that match as a file."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.base.units import quantity_label
from stackviz.pages.machines.hosts_charts import hosts_headline, memory_chart, stack_tables
from stackviz.pages.machines.hosts_like import (
    LIKE_PARAMETERS,
    LIKE_SYSTEMS,
    accelerators_of_hosts,
    hosts_like,
    read_my_machine,
)
from stackviz.pages.machines.hosts_query import (
    FACETS,
    FORMATS,
    SORTS,
    STACKED,
    HostsQuery,
    facet_labels,
    matching_hosts,
    ordered_hosts,
    read_hosts_query,
    shown_facets,
    tests_to_sort_by,
)
from stackviz.pages.machines.hosts_rows import NOT_REPORTED, HostRow, KnownHosts, known_hosts
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address, setting_text
from stackviz.web.http.download import Columns, attributes, table_file
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import Page, page_as, page_number, page_of
from stackviz.web.parts import cached_html, render_part

PAGE = "hosts"  # the parameter; `page` is that of lab machines
PER_PAGE = 24
CACHE_S = 600  # the key moves with hosts, results, sheets and releases
READ_ELSEWHERE = LIKE_PARAMETERS | {"page", PAGE}
_NAMED_PARAMS = ("test", "model", "quant", "precision", "dtype", "op", "task", "shape")


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One cited result of a host in words: `63 token/s`, `tg128 · Bonsai-27B · Q2_0`."""

    rate: str
    setting: str
    url: str


@dataclass(frozen=True, slots=True)
class HostCardShown:
    """A host in the list. `software`: driver, CUDA, frameworks and engines; `same`: as on the reader's machine."""

    row: HostRow
    software: str
    result: ShownResult | None
    same: str = ""


@require_safe
@serves_formats(*FORMATS)
@vary_on_htmx
def hosts(request: HttpRequest) -> HttpResponse:
    """The hosts that match: for htmx cards and counts, as a file where `format` is given, else on `/machines/`."""
    known = known_hosts()
    query = read_hosts_query(request.GET, known, READ_ELSEWHERE)
    if query.format:
        return refuse_notes(query.notes) if query.notes else hosts_file(request, known, query)
    address = reverse("machines:list") + query.address().removesuffix("?")
    if not wants_partial(request):
        return redirect(address + "#hosts")
    number = page_number(request, PAGE)
    response = HttpResponse(cards_html(known, query, number) + _counts_html(known, query))
    return push_url(response, address) if number == 1 else response


def hosts_context(request: HttpRequest, known: KnownHosts, query: HostsQuery) -> dict[str, object]:
    """Return what `machines/list.html` shows of hosts; the finding and its pictures only where none are left out."""
    context: dict[str, object] = {"hosts": _hosts_html(request, known, query), "counted_hosts": len(known.rows)}
    mine, notes = read_my_machine(request.GET)
    context["like"] = render_part(
        "machines/_hosts_like.jinja",
        accelerators=accelerators_of_hosts(known, mine),
        systems=LIKE_SYSTEMS,
        mine=mine,
        cards=[_card(row, known, same=same) for row, same in (hosts_like(known, mine) if mine else ())],
        notes=notes,
    )
    if query.is_filtered or mine:
        return context
    title, basis = hosts_headline(known)
    return context | {"finding": title, "basis": basis, "charts": _charts_html(known, query)}


def _hosts_html(request: HttpRequest, known: KnownHosts, query: HostsQuery) -> SafeString:
    """The filters and the hosts that match."""
    state = ("hosts filters", query.query_string, *known.edition)
    filters = cached_html(state, lambda: _filters_html(known, query), CACHE_S)
    return SafeString(filters + cards_html(known, query, page_number(request, PAGE), is_whole=True))


def _charts_html(known: KnownHosts, query: HostsQuery) -> SafeString:
    """The two pictures."""

    def draw() -> str:
        return render_part(
            "machines/_hosts_charts.jinja",
            tables=stack_tables(known, query.stack),
            choices=[
                (str(title), query.address(stack=name), name == query.stack)
                for name, (title, *_facets) in STACKED.items()
            ],
            memory=memory_chart(known),
        )

    return cached_html(("hosts finding", query.stack, *known.edition), draw, CACHE_S)


def cards_html(known: KnownHosts, query: HostsQuery, number: int, *, is_whole: bool = False) -> SafeString:
    """The cards of one page; `is_whole`: inside the element that htmx fills."""

    def draw() -> str:
        listed = ordered_hosts(matching_hosts(known.rows, query), query, known)
        page = page_as(page_of(listed, number, PER_PAGE), lambda row: _card(row, known, query.sort))
        return _drawn_cards(page, len(listed), known, query)

    notes = render_part("web/_notes.jinja", notes=query.notes)
    cards = cached_html(("hosts found", number, query.query_string, *known.edition), draw, CACHE_S)
    return SafeString(f'<div id="hosts-found" data-swap>{notes}{cards}</div>' if is_whole else notes + cards)


def _drawn_cards(page: Page[HostCardShown], count: int, known: KnownHosts, query: HostsQuery) -> str:
    return render_part(
        "machines/_host_cards.jinja",
        page=page,
        count=count,
        total=len(known.rows),
        chips=_chips(known, query),
        query=query.query,
        files=[(ending.upper(), reverse("machines:hosts") + _file_query(query, ending)) for ending in ("csv", "json")],
    )


def _file_query(query: HostsQuery, ending: str) -> str:
    parameters = query.query
    parameters["format"] = ending
    return "?" + parameters.urlencode()


def _chips(known: KnownHosts, query: HostsQuery) -> list[tuple[str, str]]:
    """(what is filtered by, the address without it)."""
    if not query.is_filtered:
        return []
    chips = [(f"“{query.q}”", query.without("q"))] if query.q else []
    return chips + [
        (f"{facet.title}: {facet_labels(facet, known).get(value, value)}", query.without(facet.name, value))
        for facet in FACETS
        for value in query.values(facet.name)
    ]


def _filters_html(known: KnownHosts, query: HostsQuery) -> str:
    sorts = [(name, str(title)) for name, title in SORTS.items()]
    tests = [(test.key, f"{test.title} ({test.hosts})") for test in tests_to_sort_by(known)]
    facets = shown_facets(known, query)
    return render_part("machines/_hosts_filters.jinja", asked=query, facets=facets, sorts=sorts, tests=tests)


def _counts_html(known: KnownHosts, query: HostsQuery) -> str:
    return render_part("machines/_hosts_counts.jinja", facets=shown_facets(known, query))


def _card(row: HostRow, known: KnownHosts, sort: str = "", same: str = "") -> HostCardShown:
    driver = f"driver {row.driver}" if row.driver.isdecimal() else ""
    return HostCardShown(
        row=row,
        software=" · ".join(filter(None, (driver, *row.software))),
        result=shown_result(row, known, sort),
        same=same,
    )


def shown_result(row: HostRow, known: KnownHosts, sort: str = "") -> ShownResult | None:
    """The result of the test that the list is sorted by, else of the one that most hosts have, of generation if any."""
    of_row = [test for test in known.tests.values() if test.key in row.results]
    decodes = [test for test in of_row if test.is_decode]
    key = sort if sort in row.results else next((test.key for test in (*decodes, *of_row)), "")
    result = row.results.get(key)
    if result is None:
        return None
    named = {name: result.params[name] for name in _NAMED_PARAMS if name in result.params}
    benchmark = CITED_BENCHMARKS[result.benchmark]
    setting = setting_text(benchmark, named) if named else str(benchmark.title)
    return ShownResult(quantity_label(result.amount, result.si, digits=3), setting, result_address(result))


# --- as a file ---


def hosts_file(request: HttpRequest, known: KnownHosts, query: HostsQuery) -> HttpResponse:
    """Return all hosts that match, in the order of the list, as CSV or JSON."""
    listed = ordered_hosts(matching_hosts(known.rows, query), query, known)
    return table_file("public hosts", _columns(request, known, query), listed, query.format)


def _columns(request: HttpRequest, known: KnownHosts, query: HostsQuery) -> Columns[HostRow]:
    """A cell is empty where the source does not say."""

    def shown(row: HostRow) -> ShownResult | None:
        return shown_result(row, known, query.sort)

    return {
        **attributes("slug", "title", "vendor", "cards"),
        "accelerators": lambda row: " ".join(row.accelerators),
        **{name: _stated(name) for name in ("form", "system", "driver", "macos", "cuda", "torch", "mlx")},
        "engines": lambda row: " ".join(row.engines),
        "seen_on": lambda row: row.seen_on.isoformat(),
        "results": lambda row: row.counted_results,
        "rate": lambda row: result.rate if (result := shown(row)) else "",
        "test": lambda row: result.setting if (result := shown(row)) else "",
        "share_of_bandwidth": lambda row: round(row.memory.share, 4) if row.memory else None,
        **attributes("teaches", "source_url"),
        "address": lambda row: request.build_absolute_uri(row.url),
    }


def _stated(name: str) -> Callable[[HostRow], str]:
    """The column of an attribute, empty where it is not reported."""
    return lambda row: "" if (value := str(getattr(row, name))) == NOT_REPORTED else value
