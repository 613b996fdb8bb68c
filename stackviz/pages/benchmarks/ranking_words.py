"""The form and the texts of a ranking's page: counts, notes, other settings, results left out, its preview.

Made of cited results and sheets alone, so it is prepared once for each edition, language and choice: a report that
comes in changes the measured part of the page only.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from urllib.parse import urljoin

from django.http import QueryDict
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from stackviz.base.units import format_in
from stackviz.draw.colours import hue_of
from stackviz.pages.benchmarks.chart_page import ChoiceOption
from stackviz.pages.benchmarks.ranking import (
    CitedLadder,
    CitedRow,
    DrawnLadder,
    VendorBest,
    best_of_vendors,
    draw_ladder,
    ladder_of,
    place_text,
)
from stackviz.pages.benchmarks.selection import ANY_NUMBER, CitedChoice, read_choice
from stackviz.records.catalog.bare_names import family_slugs
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CitedCase, CitedFacet, benchmark_cases, edition_of_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import best_first_order
from stackviz.records.cited.ranking import readable_symbol
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import (
    HostLink,
    devices_text,
    facet_title,
    host_link,
    listed,
    no_first_text,
    result_address,
    setting_text,
)
from stackviz.web.http.address import Note
from stackviz.web.http.addresses import address_by_name
from stackviz.web.preview import Introduction

MOST_LEFT_OUT = 50  # results without a place in the ranking that are listed
MOST_PREPARED = 24  # choices, of 60 kB on average: drawn rows and texts, no rows of the database


MOST_OPTIONS = 120  # of one parameter as a list; longer ones are typed, with the most common to choose from
MOST_CASES = 8


@dataclass(frozen=True, slots=True)
class FacetControl:
    """One parameter. `usual`: what holds without a choice; `typed`: the value in the text field, None for a list."""

    name: str
    label: str
    usual: str
    options: tuple[ChoiceOption, ...]
    typed: str | None = None


@dataclass(frozen=True, slots=True)
class OtherCase:
    words: str
    query: str
    accelerators: int


def facet_form(choice: CitedChoice, ladder: CitedLadder) -> tuple[FacetControl, ...]:
    """A control for each parameter there is something to choose in."""
    facets = benchmark_cases(ladder.benchmark.key).cited_facets(choice.chosen)
    controls = [
        _control(facet, choice, ladder) for facet in facets if len(facet.options) > 1 or facet.name in choice.chosen
    ]
    return (*controls, *_devices(choice, ladder))


def _control(facet: CitedFacet, choice: CitedChoice, ladder: CitedLadder) -> FacetControl:
    is_compared = facet.name in ladder.benchmark.compared
    known = ladder.case.params.get(facet.name) if ladder.case else None
    fixed = _("not stated") if known is None else str(known)
    usual = _("automatic: %(value)s") % {"value": fixed} if is_compared else _("all")
    if facet.name in choice.chosen:
        usual = _("automatic") if is_compared else _("all")
    options = tuple(
        ChoiceOption(str(option.value), f"{option.value} ({option.results})", option.is_chosen)
        for option in facet.options[:MOST_OPTIONS]
    )
    typed = choice.chosen.get(facet.name, "") if len(facet.options) > MOST_OPTIONS else None
    return FacetControl(facet.name, facet_title(facet.name), usual, options, typed)


def _devices(choice: CitedChoice, ladder: CitedLadder) -> list[FacetControl]:
    if len(ladder.counts) < 2:
        return []
    is_automatic = not choice.devices
    adds_up = ladder.benchmark.adds_up
    usual = _("any, for each device") if adds_up else _("automatic: %(value)s") % {"value": ladder.devices or ""}
    options = [
        ChoiceOption(str(number), f"{number} ({count})", not is_automatic and ladder.devices == number)
        for number, count in ladder.counts
    ]
    if not adds_up:
        options.append(ChoiceOption(ANY_NUMBER, _("any"), choice.devices == ANY_NUMBER))
    return [FacetControl("devices", _("devices"), usual if is_automatic or adds_up else _("automatic"), tuple(options))]


def other_cases(choice: CitedChoice, ladder: CitedLadder) -> tuple[OtherCase, ...]:
    """Return the other settings that most accelerators have results of, each with its address."""
    return tuple(
        OtherCase(setting_text(ladder.benchmark, case.params), _case_query(case, ladder, choice), case.accelerators)
        for case in ladder.cases[:MOST_CASES]
    )


def _case_query(case: CitedCase, ladder: CitedLadder, choice: CitedChoice) -> str:
    """Readable where the parameters that can be chosen lead to the case; else by its key."""
    facets = {name: str(value) for name, value in case.params.items() if name in ladder.benchmark.facets}
    others = {name: value for name, value in choice.chosen.items() if name not in ladder.benchmark.compared}
    chosen = {**others, **facets}
    leading = benchmark_cases(case.benchmark).leading_case(chosen)
    is_found = leading is not None and leading.params_key == case.params_key
    query = CitedChoice(chosen=chosen) if is_found else CitedChoice(chosen=others, case=case.params_key)
    return query.query_string


def plain_choice(choice: CitedChoice) -> bool:
    """Whether the page is common enough to cache: at most two parameters."""
    return len(replace(choice, format="").query) <= 2


def devices_note(ladder: CitedLadder) -> str:
    """How numbers of devices are treated in this ranking; "" where all results are of one device."""
    if ladder.is_shared_out:
        return _("Ranked by the rate of one device: the printed figure divided by the number of devices.")
    if ladder.devices and ladder.devices > 1:
        return _("Only results of %(devices)s together.") % {"devices": devices_text(ladder.devices)}
    if ladder.devices:
        return _("Only results of one device.")
    if len(ladder.counts) > 1:
        return _("Results of different numbers of devices stand beside one another: the figures are not of one device.")
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A result of this setting that is not ranked, and why."""

    name: str
    devices: str
    value: str
    why: str
    source: str
    source_url: str
    url: str
    host: HostLink | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderWords:
    """`headline`: what the ranking shows; `setting`: the case in words; `key`: how to read the drawing.

    `compared`: parameters that agree.

    `no_first`: why none is first, "" where one is; `overtaken`: what is better than the best and not ranked, "" for
    nothing.
    """

    headline: str
    setting: str
    counts: str
    compared: str
    key: str
    notes: tuple[str | Note, ...]
    no_first: str
    overtaken: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingShare:
    """The rows of a vendor or a kind. `css`: the vendor's, "" for a kind; `query`: shows them alone, or all again."""

    title: str
    css: str
    rows: int
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRanking:
    """`params_key`: of the case, "" where the choice leaves none. `rows`: those of `drawn` that the choice shows."""

    params_key: str
    drawn: DrawnLadder
    rows: tuple[CitedRow, ...]
    shares: tuple[RankingShare, ...]
    words: LadderWords
    form: tuple[FacetControl, ...]
    best: tuple[VendorBest, ...]
    cases: tuple[OtherCase, ...]
    left_out: Sequence[LeftOut]


def shown_ranking(benchmark: CitedBenchmark, choice: CitedChoice) -> ShownRanking:
    """Three queries in a process that has not prepared this choice in this edition and language."""
    query = replace(choice, measured="", format="").query_string
    return _prepared(edition_of_cases(), get_language(), benchmark.key, query)


@lru_cache(maxsize=MOST_PREPARED)
def _prepared(_edition: str, _language: str | None, key: str, query: str) -> ShownRanking:
    benchmark = CITED_BENCHMARKS[key]
    choice = read_choice(QueryDict(query), benchmark)
    ladder = ladder_of(benchmark, choice)
    drawn = draw_ladder(ladder)
    return ShownRanking(
        params_key=ladder.case.params_key if ladder.case else "",
        drawn=drawn,
        rows=tuple(shown for row, shown in zip(ladder.rows, drawn.rows, strict=True) if choice.shows(row.accelerator)),
        shares=tuple(ranking_shares(choice, ladder)),
        words=_words(ladder, drawn),
        form=facet_form(choice, ladder),
        best=best_of_vendors(ladder, drawn, chosen=choice.vendor),
        cases=other_cases(choice, ladder),
        left_out=left_out(ladder.case),
    )


def ranking_shares(choice: CitedChoice, ladder: CitedLadder) -> Iterator[RankingShare]:
    """Yield the vendors, those with most rows first, then the kinds, where there are several."""
    vendors = Counter(row.accelerator.vendor for row in ladder.rows if choice.kind in ("", row.accelerator.kind))
    kinds = Counter(row.accelerator.kind for row in ladder.rows if choice.vendor in ("", row.accelerator.vendor.slug))
    for vendor, rows in vendors.most_common() if len(vendors) > 1 or choice.vendor else ():
        of_vendor = replace(choice, vendor=vendor.slug), replace(choice, vendor="")
        yield _share_of(choice, *of_vendor, title=vendor.name, rows=rows, css=hue_of(vendor.slug).css)
    for kind, rows in kinds.most_common() if len(kinds) > 1 or choice.kind else ():
        of_kind = replace(choice, kind=kind), replace(choice, kind="")
        yield _share_of(choice, *of_kind, title=str(Accelerator.Kind(kind).label), rows=rows)


def _share_of(
    choice: CitedChoice, alone: CitedChoice, everything: CitedChoice, *, title: str, rows: int, css: str = ""
) -> RankingShare:
    is_chosen = choice == alone
    query = (everything if is_chosen else alone).query_string
    return RankingShare(title=title, css=css, rows=rows, query=query, is_chosen=is_chosen)


def _words(ladder: CitedLadder, drawn: DrawnLadder) -> LadderWords:
    families = sum(bool(row.family) for row in ladder.rows)
    accelerators, results = len(ladder.rows) - families, ladder.results
    number = ngettext("%(n)d result", "%(n)d results", results) % {"n": results}
    notes: list[str | Note] = [*ladder.notes, *filter(None, [devices_note(ladder)])]
    if ladder.case and ladder.case.results > ladder.results_read:
        words = _("This setting has %(all)d results; %(n)d are read, the best of each accelerator first.")
        notes.append(words % {"all": ladder.case.results, "n": ladder.results_read})
    notes += filter(None, [_price_note(drawn)])
    return LadderWords(
        headline=_headline(ladder, drawn),
        setting=setting_text(ladder.benchmark, ladder.case.params) if ladder.case else "",
        counts=f"{_ranked_text(accelerators, families)}, {number}",
        compared=listed(ladder.benchmark.compared),
        key=_key(ladder, drawn),
        notes=tuple(notes),
        no_first=no_first_text(ladder.lead) if ladder.rows else "",
        overtaken=overtaken_text(ladder),
    )


def _headline(ladder: CitedLadder, drawn: DrawnLadder) -> str:
    """`RTX 4090: 187.7 token/s, 71 % of its bound`; the benchmark's title in a ranking without a first."""
    if ladder.lead.row is None:
        return str(ladder.benchmark.title)
    best = drawn.rows[0]
    words = {"name": best.name, "figure": f"{best.text} {drawn.unit}".rstrip(), "share": best.share}
    if not best.share:
        return _("%(name)s: %(figure)s") % words
    return _("%(name)s: %(figure)s, %(share)s of its bound") % words


def _ranked_text(accelerators: int, families: int) -> str:
    """`12 accelerators, 3 names of several sheets`: what has a row in the ranking."""
    counts = [ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators}]
    if families:
        names = ngettext("%(n)d name of several sheets", "%(n)d names of several sheets", families)
        counts.append(names % {"n": families})
    return ", ".join(counts)


def _direction(benchmark: CitedBenchmark) -> str:
    """Which figures are better; "" where a figure alone is no merit."""
    if not benchmark.has_first:
        return ""
    return _("Higher is better.") if benchmark.higher_is_better else _("Lower is better.")


def _price_note(drawn: DrawnLadder) -> str:
    """How results are priced; "" where none of them has a price of its month."""
    if not drawn.has_prices:
        return ""
    return _("A result is priced by the cheapest street price or rent of its own month only, derived: see its formula.")


def overtaken_text(ladder: CitedLadder) -> str:
    """Which results without a certain sheet are better than the best that is ranked; "" for none."""
    better = ladder.lead.better
    if ladder.case is None or not better:
        return ""
    words = ngettext(
        "%(n)d result without a certain sheet is better: %(best)s (%(name)s)",
        "%(n)d results without a certain sheet are better, the best %(best)s (%(name)s)",
        len(better),
    )
    best = format_in(better[0].amount_per_device, readable_symbol(ladder.rows, ladder.case.si)).label
    return words % {"n": len(better), "best": best, "name": better[0].reported_name}


def _key(ladder: CitedLadder, drawn: DrawnLadder) -> str:
    sentences = [
        _direction(ladder.benchmark),
        _("The ring is the highest result of an accelerator; paler rings are its other results.")
        if ladder.benchmark.higher_is_better
        else _("The ring is the lowest result of an accelerator; paler rings are its other results."),
        _("The tick is the most that published values allow.") if drawn.has_bounds else "",
    ]
    return " ".join(filter(None, sentences))


def left_out(case: CitedCase | None) -> Sequence[LeftOut]:
    """Results of a case that are not public, the best MOST_LEFT_OUT and one more. One query."""
    if case is None:
        return ()
    unranked = CitedResult.objects.filter(benchmark=case.benchmark, params_key=case.params_key)
    unranked = unranked.exclude(state=CitedResult.State.PUBLIC).select_related("source", "host")
    ordered = unranked.order_by(best_first_order(CITED_BENCHMARKS[case.benchmark]), "pk")
    hidden = (row for row in ordered if row.state != CitedResult.State.UNMATCHED or not family_slugs(row.reported_name))
    return [
        LeftOut(
            name=row.reported_name,
            devices=devices_text(row.count) if row.count > 1 else "",
            value=row.printed,
            why=row.reason or str(row.get_state_display()),
            source=row.source.title,
            source_url=row.source.url,
            url=result_address(row),
            host=host_link(row),
        )
        for row in islice(hidden, MOST_LEFT_OUT + 1)
    ]


DATA_NAME = "accelweb: all public data"


def introduce_ranking(benchmark: CitedBenchmark, drawn: DrawnLadder, texts: LadderWords) -> Introduction:
    """`Llama 2 7B decode: B200 is first with 262 token/s`, or why none is; the answer has the best three."""
    title = str(benchmark.title)
    if not drawn.rows:
        return Introduction(title, str(benchmark.measures))
    best = drawn.rows[0]
    words = {
        "benchmark": title,
        "name": best.name,
        "figure": f"{best.text} {drawn.unit}".rstrip(),
        "best": ", ".join(f"{place_text(row)} {row.text} {drawn.unit}".rstrip() for row in drawn.rows[:3]),
        "setting": ranking_setting(benchmark, drawn, texts.setting),
        "why": texts.no_first,
        "overtaken": texts.overtaken,
    }
    answer = _("%(best)s. %(overtaken)s. %(setting)s") if texts.overtaken else _("%(best)s. %(setting)s")
    if texts.no_first:
        return Introduction(_("%(benchmark)s: %(why)s") % words, answer % words)
    if texts.overtaken:
        name = _("%(benchmark)s: of those with a sheet, %(name)s is first with %(figure)s")
        return Introduction(name % words, answer % words)
    return Introduction(_("%(benchmark)s: %(name)s is first with %(figure)s") % words, answer % words)


def ranking_setting(benchmark: CitedBenchmark, drawn: DrawnLadder, setting: str) -> str:
    """`tg128 · Llama 2 7B: 56 accelerators, each result with its source. Higher is better.`"""
    accelerators = sum(bool(row.slug) for row in drawn.rows)
    words = {
        "setting": setting,
        "counts": _ranked_text(accelerators, len(drawn.rows) - accelerators),
        "better": _direction(benchmark),
    }
    return (_("%(setting)s: %(counts)s, each result with its source. %(better)s") % words).rstrip()


def ranking_data(benchmark: CitedBenchmark, introduction: Introduction, url: str) -> Mapping[str, object]:
    """The ranking as a `Dataset` of schema.org, with its files and where the benchmark is defined."""
    return dataset(str(benchmark.title), f"{benchmark.measures} {introduction.answer}", url, benchmark.units) | {
        "measurementTechnique": benchmark.definition.title,
        "citation": benchmark.definition.url,
    }


def dataset(name: str, description: str, url: str, units: Sequence[str]) -> dict[str, object]:
    """What every page of a benchmark says of its results as a `Dataset` of schema.org; a part of all public data."""
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": name,
        "description": description,
        "url": url,
        "creator": {"@type": "Organization", "name": "accelweb", "url": urljoin(url, "/")},
        "isAccessibleForFree": True,
        "isPartOf": {"@type": "Dataset", "name": DATA_NAME, "url": urljoin(url, address_by_name("data:index"))},
        "variableMeasured": [{"@type": "PropertyValue", "name": name, "unitText": unit} for unit in units],
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": f"{url}?format={form}"}
            for form, kind in (("csv", "text/csv"), ("json", "application/json"))
        ],
    }
