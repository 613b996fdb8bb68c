"""What a benchmark's page shows of a choice beside its rows: words, form, other settings, what is not ranked.

Made of cited results and sheets alone, so it is prepared once for each edition, language and choice: a report that
comes in changes the measured part of the page only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.http import QueryDict
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from stackviz.base.units import format_in
from stackviz.pages.benchmarks.drawing import DrawnLadder, VendorBest, best_of_vendors, draw_ladder
from stackviz.pages.benchmarks.forms import FacetControl, OtherCase, devices_note, facet_form, other_cases
from stackviz.pages.benchmarks.priced import is_priced
from stackviz.pages.benchmarks.ranking import CitedLadder, ladder_of
from stackviz.pages.benchmarks.selection import CitedChoice, read_choice
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CitedCase, edition_of_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import best_first_order, having, without_sheet
from stackviz.records.cited.ranking import better_than, readable_symbol
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import devices_text, listed, result_address, setting_text
from stackviz.web.address import Note

MOST_LEFT_OUT = 50  # results without a place in the ranking that are listed
MOST_PREPARED = 24  # choices, of 60 kB on average: drawn rows and texts, no rows of the database


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderWords:
    """`setting`: the case in words; `compared`: parameters that agree; `key`: how to read the drawing.

    `overtaken`: what is better than the first and not ranked, "" for nothing.
    """

    setting: str
    counts: str
    compared: str
    key: str
    notes: tuple[str | Note, ...]
    overtaken: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRanking:
    """`params_key`: of the case, "" where the choice leaves none."""

    params_key: str
    drawn: DrawnLadder
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
        words=_words(ladder, drawn, choice),
        form=facet_form(choice, ladder),
        best=best_of_vendors(ladder, drawn),
        cases=other_cases(choice, ladder),
        left_out=left_out(ladder.case),
    )


def _words(ladder: CitedLadder, drawn: DrawnLadder, choice: CitedChoice) -> LadderWords:
    accelerators, results = len(ladder.rows), ladder.results
    counts = [
        ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators},
        ngettext("%(n)d result", "%(n)d results", results) % {"n": results},
    ]
    notes: list[str | Note] = [*ladder.notes, *filter(None, [devices_note(ladder)])]
    if ladder.case and ladder.case.results > ladder.results_read:
        words = _("This setting has %(all)d results; %(n)d are read, the best of each accelerator first.")
        notes.append(words % {"all": ladder.case.results, "n": ladder.results_read})
    notes += filter(None, [_price_note(ladder, drawn)])
    return LadderWords(
        setting=setting_text(ladder.benchmark, ladder.case.params) if ladder.case else "",
        counts=", ".join(counts),
        compared=listed(ladder.benchmark.compared),
        key=_key(ladder, drawn),
        notes=tuple(notes),
        overtaken=overtaken_text(ladder, choice),
    )


def _price_note(ladder: CitedLadder, drawn: DrawnLadder) -> str:
    """How results are priced, or that no price of their months is known; "" where a price cannot be divided by them."""
    si = ladder.case.si if ladder.case else ""
    if not drawn.rows or not is_priced(si, higher_is_better=ladder.benchmark.higher_is_better):
        return ""
    if not drawn.has_prices:
        return _("Price per result: no price of that time, for none of these results.")
    return _("A result is priced by the cheapest street price or rent of its own month only, derived: see its formula.")


def overtaken_text(ladder: CitedLadder, choice: CitedChoice) -> str:
    """Which results without a certain sheet are better than the first. One query."""
    if ladder.case is None or not ladder.rows:
        return ""
    others = having(ladder.benchmark, choice.chosen, without_sheet([ladder.case.params_key]))
    better = better_than(ladder.rows[0], ladder.benchmark, others)
    if not better:
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
        _("Higher is better.") if ladder.benchmark.higher_is_better else _("Lower is better."),
        _("The ring is the best result of an accelerator; paler rings are its other results."),
        _("The tick is the most that published values allow.") if drawn.has_bounds else "",
    ]
    return " ".join(filter(None, sentences))


def left_out(case: CitedCase | None) -> Sequence[LeftOut]:
    """Results of a case that are not public, the best MOST_LEFT_OUT and one more. One query."""
    if case is None:
        return ()
    unranked = CitedResult.objects.filter(benchmark=case.benchmark, params_key=case.params_key)
    unranked = unranked.exclude(state=CitedResult.State.PUBLIC).select_related("source")
    ordered = unranked.order_by(best_first_order(CITED_BENCHMARKS[case.benchmark]), "pk")
    return [
        LeftOut(
            name=row.reported_name,
            devices=devices_text(row.count) if row.count > 1 else "",
            value=f"{row.value} {row.unit}",
            why=row.reason or str(row.get_state_display()),
            source=row.source.title,
            source_url=row.source.url,
            url=result_address(row),
        )
        for row in ordered[: MOST_LEFT_OUT + 1]
    ]
