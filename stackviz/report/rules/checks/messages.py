"""Error messages found in a text: explained where no rule has found the cause from the facts."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from stackviz.base.sentence import Sentence, join_sentences, say
from stackviz.report.messages import BETWEEN_QUOTES, BY_KEY, Cause, Symptom
from stackviz.report.rules.checks.builds import age_of_card, which_builds
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look, capabilities_by_name
from stackviz.report.rules.origin import command_here, is_of, origin_hints, programs_of
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
    """What only says that something failed is left out where another message is there."""
    keys = (look.get("message.symptoms") or "").split()
    quotes = (look.get("message.quotes") or "").split(BETWEEN_QUOTES)
    written = [(BY_KEY[key], quote) for key, quote in zip_longest(keys, quotes, fillvalue="") if key in BY_KEY]
    written = [pair for pair in written if not pair[0].is_general] or written[:1]
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
    causes = _fitting(look, tables, symptom, quote)
    typed = command_here(look, origin_hints(look), symptom.ask)
    command: str = say(symptom.ask) if typed == symptom.ask else typed
    of_program = [program.advice for program in programs_of(look)[:1] if symptom.component in _OF_TORCH]
    return Conclusion(
        severity=Severity(symptom.severity),
        title=quote or symptom.message,
        explanation=join_sentences(
            [say(symptom.meaning), follow, *_causes(look, causes), *_builds_for_card(look, tables, causes)]
        ),
        advice=join_sentences([*of_program, say("Run this and paste what it prints: {ask}", command)]),
        component=symptom.component,
        source=RuleSource(symptom.key, symptom.source_title, symptom.source_url),
    )


_OF_TORCH = frozenset({"pytorch", "torchvision", "torchaudio", "triton", "xformers", "flash-attn", "bitsandbytes"})


def _builds_for_card(look: Look, tables: Tables, causes: Sequence[Cause]) -> Iterator[Sentence]:
    """Of the one card that the text names: its capability, and the builds of torch that have code for it."""
    capabilities = _capabilities(look, tables)
    if len(capabilities) == 1 and any(cause.card_age for cause in causes):
        capability = next(iter(capabilities))
        cards = look.cards("nvidia")
        name = cards[0].name if cards else (look.get("message.cards") or "").split("; ")[0]
        yield say("The {card} has compute capability {capability}.", name, capability)
        yield join_sentences([which_builds(look, tables, look.get("torch.version") or "", capability)])


_EITHER = Cause(
    text=say("The card is newer than the build, or the build has dropped it; no card is named here."),
    sign=say("torch.cuda.get_arch_list() lacks its capability."),
    remedy=say("Install a build that has code for the card."),
    excluded_by=("kernels-missing",),
)


def _fitting(look: Look, tables: Tables, symptom: Symptom, quote: str) -> list[Cause]:
    """The causes that may be here, those first that something speaks for; by the age of the cards, as far as known."""
    hints = origin_hints(look)
    here = [cause for cause in symptom.causes if is_of(hints, cause.only_on)] or list(symptom.causes)
    favour = hints | look.problem_rules
    return sorted(_of_age(look, tables, here, quote), key=lambda cause: favour.isdisjoint(cause.favoured_by))


def _of_age(look: Look, tables: Tables, causes: Sequence[Cause], quote: str) -> list[Cause]:
    """Those for cards of the ages here; where none is known, those of every age as one."""
    ages = {age_of_card(tables, capability) for capability in _capabilities(look, tables)}
    if "because it is too old" in quote:
        ages = {"old"}
    if ages:
        fitting = [cause for cause in causes if not cause.card_age or cause.card_age in ages]
        return fitting or list(causes)
    return list(dict.fromkeys(_EITHER if cause.card_age else cause for cause in causes))


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
        yield say("Not the cause here ({held}): {text}", held, say(cause.text))


def _speaks_against(look: Look, cause: Cause) -> str:
    """What was compared and holds, so that it is not this cause; "" where nothing was."""
    return next((look.holds[rule] for rule in cause.excluded_by if rule in look.holds), "")
