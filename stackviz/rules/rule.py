"""A rule and how it is run. May import: the other modules of rules, wire and the standard library."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stackviz.rules.compatibility import Source, Tables
from stackviz.rules.finding import Finding, Severity, Verdict
from stackviz.rules.look import Look, NotReported
from stackviz.wire import Report

__all__ = ["Check", "Rule", "run"]

Check = Callable[[Look, Tables], Iterator[Verdict]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One question put to every report.

    `asks` completes "Cannot tell whether ...". `component` is the box the answer colours. A check that yields nothing
    says that the question does not arise on this machine. `needs`: the component that asks for something and the one
    that has to give it, where the rule is about two: the diagram draws the link.
    """

    id: str
    component: str
    asks: str
    source: Source
    check: Check
    needs: tuple[str, str] | tuple[()] = ()


def run(rule: Rule, report: Report, tables: Tables) -> Iterator[Finding]:
    """The rule's findings, in its own order; a missing fact ends the check with "cannot tell"."""
    look = Look(report, tables)
    try:
        for verdict in rule.check(look, tables):
            yield _finding(rule, verdict, look)
    except NotReported as missing:
        title = f"Cannot tell whether {rule.asks}: {missing.name} not reported"
        yield _finding(rule, Verdict(Severity.CANNOT_TELL, title, _why(missing), cards=missing.cards), look)


def _why(missing: NotReported) -> str:
    return f"The report gives the reason: {missing.reason}." if missing.reason else ""


def _finding(rule: Rule, verdict: Verdict, look: Look) -> Finding:
    source = verdict.source or rule.source
    return Finding(
        rule=rule.id,
        severity=verdict.severity.value,
        component=verdict.component or rule.component,
        title=verdict.title,
        evidence=look.evidence_for(verdict.cards),
        explanation=verdict.explanation,
        advice=verdict.advice,
        source_title=source.title,
        source_url=source.url,
    )
