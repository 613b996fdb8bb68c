"""A rule, how it is run, and what it says about a report."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from stackviz.base.backports import StrEnum
from stackviz.base.sentence import Sentence, say
from stackviz.report.format import facts
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look, NotReported

__all__ = ["Check", "Conclusion", "Finding", "Rule", "RuleSet", "Severity", "command_to_read", "run"]


class Severity(StrEnum):
    """How bad it is. `fits` and `cannot-tell` are answers too; only the first three are problems."""

    BROKEN = "broken"  # something does not work
    WARNING = "warning"  # it works, and not as it should
    NOTE = "note"  # worth knowing; nothing needs fixing
    CANNOT_TELL = "cannot-tell"  # a fact the rule needs was not reported
    FITS = "fits"  # the rule compared, and it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a check yields; the runner adds the rule's name, the evidence and the rule's own source.

    `cards`: indexes of the cards it is about; () for the machine. `component` and `source` override the rule's.
    """

    severity: Severity
    title: str
    explanation: str = ""
    advice: str = ""
    cards: tuple[int, ...] = ()
    component: str = ""
    source: RuleSource | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One answer of one rule, with the facts it used (`evidence`: name -> value as text)."""

    rule: str
    severity: str
    component: str
    title: str
    evidence: Mapping[str, str] = field(default_factory=dict)
    explanation: str = ""
    advice: str = ""
    source_title: str = ""
    source_url: str = ""


_COMMANDS_OF_COMPONENTS = {
    "triton": 'python -c "import triton; print(triton.__version__)"',
    "tensorflow": "python -m pip list",
}


def command_to_read(name: str) -> str:
    """What to type to learn a fact or a component's version that a rule lacked; "" where no command prints it."""
    return _COMMANDS_OF_COMPONENTS.get(name) or facts.command_to_read(name)


Check = Callable[[Look, Tables], Iterator[Conclusion]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One question put to every report.

    `asks` completes "Cannot tell whether ...". `component` is the box the answer colours. `worst` is the most severe
    answer the check gives. A check that yields nothing says that the question does not arise on this machine. `needs`:
    the component that asks for something and the one that has to give it, where the rule is about two: the diagram
    draws the link. `last_resort`: it restates what a person sees, and is silent where a rule about the driver, CUDA,
    torch or the system finds something broken. `branch`: the section of the chapter "Why is it slow?" that goes on
    from what it finds.
    """

    id: str
    component: str
    asks: Sentence
    worst: Severity
    source: RuleSource
    check: Check
    needs: tuple[str, str] | tuple[()] = ()
    last_resort: bool = False
    branch: str = ""


class RuleSet:
    """The rules of one module of `checks/`, which names it RULES; the registry finds it there.

    `order`: findings of one severity are listed by it, lowest first; a set without one comes after all others.

    >>> RULES = RuleSet()
    >>> @RULES.rule("mig-on", "hardware", asks="the card is split into instances", worst=Severity.NOTE, source=MIG)
    ... def check_mig(look: Look, tables: Tables) -> Iterator[Conclusion]: ...
    """

    def __init__(self, order: int = 1000) -> None:
        self.order = order
        self._rules: list[Rule] = []

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def rule(
        self,
        rule_id: str,
        component: str,
        *,
        asks: str,
        worst: Severity,
        source: RuleSource,
        needs: tuple[str, str] | tuple[()] = (),
        last_resort: bool = False,
        branch: str = "",
    ) -> Callable[[Check], Check]:
        """Add a check as a rule; the arguments are those of Rule."""

        def add(check: Check) -> Check:
            self._rules.append(
                Rule(
                    id=rule_id,
                    component=component,
                    asks=asks if isinstance(asks, Sentence) else say(asks),
                    worst=worst,
                    source=source,
                    check=check,
                    needs=needs,
                    last_resort=last_resort,
                    branch=branch,
                )
            )
            return check

        return add


def run(rule: Rule, look: Look, tables: Tables) -> Iterator[Finding]:
    """The rule's findings, in its own order; a missing fact ends the check with "cannot tell"."""
    look.forget_reads()
    try:
        for conclusion in rule.check(look, tables):
            yield _finding(rule, conclusion, look)
    except NotReported as missing:
        yield _finding(rule, _not_reported(rule, missing), look)


def _not_reported(rule: Rule, missing: NotReported) -> Conclusion:
    fact = missing.name.rpartition(" ")[2]
    name = say("card {n_index} {fact}", missing.cards[0], fact) if missing.cards else missing.name
    return Conclusion(
        severity=Severity.CANNOT_TELL,
        title=say("Cannot tell whether {asks}: {name} not reported", rule.asks, name),
        explanation=say("The report gives the reason: {reason}.", missing.reason) if missing.reason else "",
        advice=command_to_read(fact),
        cards=missing.cards,
    )


def _finding(rule: Rule, conclusion: Conclusion, look: Look) -> Finding:
    source = conclusion.source or rule.source
    return Finding(
        rule=rule.id,
        severity=conclusion.severity.value,
        component=conclusion.component or rule.component,
        title=conclusion.title,
        evidence=look.evidence_for(conclusion.cards),
        explanation=conclusion.explanation,
        advice=conclusion.advice,
        source_title=source.title,
        source_url=source.url,
    )
