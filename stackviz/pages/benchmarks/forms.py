"""The form of a benchmark's page: a list for each parameter, with counts."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.pages.benchmarks.ranking import CitedLadder
from stackviz.pages.benchmarks.selection import ANY_NUMBER, CitedChoice
from stackviz.records.cited.cases import CitedCase, CitedFacet, benchmark_cases
from stackviz.records.cited.words import devices_text, facet_title, setting_text

MOST_OPTIONS = 120  # of one parameter as a list; longer ones are typed, with the most common to choose from
MOST_CASES = 8


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class FacetControl:
    """One parameter. `usual`: what holds without a choice; `typed`: the value in the text field, None for a list."""

    name: str
    label: str
    usual: str
    options: tuple[FacetValue, ...]
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
        FacetValue(str(option.value), f"{option.value} ({option.results})", option.is_chosen)
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
        FacetValue(str(number), f"{number} ({count})", not is_automatic and ladder.devices == number)
        for number, count in ladder.counts
    ]
    if not adds_up:
        options.append(FacetValue(ANY_NUMBER, _("any"), choice.devices == ANY_NUMBER))
    return [FacetControl("devices", _("devices"), usual if is_automatic or adds_up else _("automatic"), tuple(options))]


def other_cases(choice: CitedChoice, ladder: CitedLadder) -> tuple[OtherCase, ...]:
    """The settings that most accelerators have results of, beside the one shown, each with its address."""
    return tuple(
        OtherCase(setting_text(ladder.benchmark, case.params), _case_query(case, ladder, choice), case.accelerators)
        for case in ladder.cases[:MOST_CASES]
    )


def _case_query(case: CitedCase, ladder: CitedLadder, choice: CitedChoice) -> str:
    """Readable where the parameters that can be chosen lead to the case; else by its key."""
    facets = {name: str(value) for name, value in case.params.items() if name in ladder.benchmark.facets}
    others = {name: value for name, value in choice.chosen.items() if name not in ladder.benchmark.compared}
    chosen = {**others, **facets}
    matching = benchmark_cases(case.benchmark).cases_matching(chosen)
    is_found = bool(matching) and matching[0].params_key == case.params_key
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
