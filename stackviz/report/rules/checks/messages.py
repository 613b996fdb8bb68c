"""Error messages found in a text: explained where no rule has found the cause from the facts."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from stackviz.base.sentence import Sentence, join_sentences, say
from stackviz.report.messages import BETWEEN_QUOTES, BY_KEY, Cause, Symptom
from stackviz.report.rules.checks.builds import age_of_card
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look, capabilities_by_name
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=2000)  # after every rule that may find the cause, those without an order too

CUDA_ERRORS = RuleSource(
    "cuda-driver-api-errors",
    "CUDA Driver API, CUresult",
    "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html",
)


@RULES.rule(
    "error-message",
    "pytorch",
    asks="the program runs without an error message",
    worst=Severity.BROKEN,
    source=CUDA_ERRORS,
)
def check_messages(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """A message whose rules have found a problem is explained by what they found.

    Of two that are one line, the one that says more of it; of a series, the one that the others follow from.
    """
    written = list(_explainable(look))
    for symptom, quote in written:
        series = [other for other, _quote in written if other.series and other.series == symptom.series]
        if not series or symptom is min(series, key=lambda other: other.rank):
            others = dict.fromkeys(other.short for other in series if other.short not in {symptom.short, ""})
            yield _explained(look, tables, symptom, quote, ", ".join(others))


def _explainable(look: Look) -> Iterator[tuple[Symptom, str]]:
    keys = (look.get("message.symptoms") or "").split()
    quotes = (look.get("message.quotes") or "").split(BETWEEN_QUOTES)
    written = [(BY_KEY[key], quote) for key, quote in zip_longest(keys, quotes, fillvalue="") if key in BY_KEY]
    for symptom, quote in written:
        others = [other for known, other in written if not (symptom.series and known.series == symptom.series)]
        is_part = any(quote in other for other in others if other != quote)
        if not (quote and is_part) and look.problem_rules.isdisjoint(symptom.rules):
            yield symptom, quote


def _explained(look: Look, tables: Tables, symptom: Symptom, quote: str, others: str) -> Conclusion:
    """`quote`: how the message is written in the text, which may be a part of it; "" where only its kind is known.

    `others`: messages of its series in the same text.
    """
    follow = say("The text also has {others}, which often follow from it.", others) if others else ""
    causes = _causes(look, _fitting(look, tables, symptom, quote))
    return Conclusion(
        severity=Severity(symptom.severity),
        title=symptom.message if quote.casefold() in symptom.message.casefold() else quote,
        explanation=join_sentences([say(symptom.meaning), follow, *causes]),
        advice=say("Run this and paste what it prints: {ask}", say(symptom.ask)),
        component=symptom.component,
        source=RuleSource(symptom.key, symptom.source_title, symptom.source_url),
    )


_EITHER = Cause(
    text=say("The card is newer than the build, or the build has dropped it; no card is named here."),
    sign=say("torch.cuda.get_arch_list() lacks its capability."),
    remedy=say("Install a build that has code for the card."),
    excluded_by=("kernels-missing",),
)


def _fitting(look: Look, tables: Tables, symptom: Symptom, quote: str) -> list[Cause]:
    """The causes that may be, by the age of the cards; where none is known, those of every age as one."""
    ages = {age_of_card(tables, capability) for capability in _capabilities(look, tables)}
    if "because it is too old" in quote:
        ages = {"old"}
    if ages:
        fitting = [cause for cause in symptom.causes if not cause.card_age or cause.card_age in ages]
        return fitting or list(symptom.causes)
    return list(dict.fromkeys(_EITHER if cause.card_age else cause for cause in symptom.causes))


def _capabilities(look: Look, tables: Tables) -> set[str]:
    """Of the cards that are listed; else of those that the text names in prose, as far as a name tells."""
    cards = look.cards("nvidia")
    if cards:
        return {capability for card in cards if (capability := card.get("compute_capability"))}
    names = (look.get("message.cards") or "").split("; ")
    return {capability for name in names for capability in capabilities_by_name(tables, name)}


def _causes(look: Look, causes: Sequence[Cause]) -> Iterator[Sentence]:
    """The causes in a sentence or two each, the likeliest first; then those that what was compared speaks against."""
    excluded = [(cause, held) for cause in causes if (held := _speaks_against(look, cause))]
    left = [cause for cause in causes if not _speaks_against(look, cause)]
    for index, cause in enumerate(left):
        text = join_sentences(map(say, (cause.text, cause.sign, cause.remedy)))
        if len(causes) == 1:
            yield text
        elif index == 0:
            yield say("Most likely: {cause}", text)
        elif index < len(left) - 1:
            yield say("Also possible: {cause}", text)
        else:
            yield say("Less likely: {cause}", text)
    if excluded and not left:
        yield say(
            "The text contradicts itself: it has the message, and what rules out every cause of it. It may be of two "
            "installations, or it was changed."
        )
    for cause, held in excluded:
        yield say("Not the cause here, for {held}: {text}", held, say(cause.text))


def _speaks_against(look: Look, cause: Cause) -> str:
    """What was compared and holds, so that it is not this cause; "" where nothing was."""
    return next((look.holds[rule] for rule in cause.excluded_by if rule in look.holds), "")
