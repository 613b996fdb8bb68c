"""Error messages found in a text: explained where no rule has found the cause from the facts."""

from collections.abc import Iterator

from stackviz.rules.compatibility import RuleSource, Tables
from stackviz.rules.finding import Conclusion, Severity
from stackviz.rules.look import Look
from stackviz.rules.rule import RuleSet
from stackviz.symptoms import BY_KEY, Symptom

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
def check_messages(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A message whose rules have found something broken is explained by what they found."""
    for key in (look.get("message.symptoms") or "").split():
        symptom = BY_KEY.get(key)
        if symptom is not None and look.broken_rules.isdisjoint(symptom.rules):
            yield _explained(symptom)


def _explained(symptom: Symptom) -> Conclusion:
    return Conclusion(
        severity=Severity(symptom.severity),
        title=symptom.message,
        explanation=f"{symptom.meaning} {_causes(symptom)}",
        advice=f"Run this and paste what it prints: {symptom.ask}",
        component=symptom.component,
        source=RuleSource(symptom.key, symptom.source_title, symptom.source_url),
    )


def _causes(symptom: Symptom) -> str:
    """The causes in a sentence or two each, the likeliest first."""
    causes = [" ".join(filter(None, (cause.text, cause.sign, cause.remedy))) for cause in symptom.causes]
    if len(causes) == 1:
        return causes[0]
    return "Causes, the likeliest first: " + " ".join(f"({number}) {cause}" for number, cause in enumerate(causes, 1))
