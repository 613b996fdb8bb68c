"""All rules, by name, in the order they are checked; and what they find in a report.

Every module of `checks/` that names a RuleSet RULES is found; to add a rule: docs/recipes/rule.md.
"""

from collections.abc import Iterator

from stackviz.discovery import modules_of
from stackviz.rules import checks
from stackviz.rules.compatibility import Tables
from stackviz.rules.finding import Finding, Severity
from stackviz.rules.rule import Rule, run
from stackviz.wire import Report

__all__ = ["RULES", "find", "judge", "needs_of"]


def _declared() -> Iterator[Rule]:
    """The rules of every module of `checks/` that has some, in the order of their sets."""
    sets = [module.RULES for module in modules_of(checks) if hasattr(module, "RULES")]
    for rules in sorted(sets, key=lambda rules: rules.order):
        yield from rules


RULES: tuple[Rule, ...] = tuple(_declared())
_NEEDS = {rule.id: rule.needs for rule in RULES}
_WORST_FIRST = [severity.value for severity in Severity]
_EXPLAINING = frozenset({"nvidia-driver", "cuda-driver-api", "cuda-runtime", "pytorch", "linux"})
"""Boxes that keep a card from torch when they are broken."""


def needs_of(rule_id: str) -> tuple[str, str] | tuple[()]:
    """The component that asks for something and the one that has to give it; () for a rule about one, or unknown."""
    return _NEEDS.get(rule_id, ())


def judge(report: Report, tables: Tables) -> tuple[Finding, ...]:
    """Every answer, worst first, what holds included (`fits`): what a diagram shows beside its boxes."""
    answers = [finding for rule in RULES if not rule.last_resort for finding in run(rule, report, tables)]
    for rule in (rule for rule in RULES if rule.last_resort):
        if not any(finding.severity == Severity.BROKEN and finding.component in _EXPLAINING for finding in answers):
            answers += run(rule, report, tables)
    return tuple(sorted(answers, key=lambda finding: _WORST_FIRST.index(finding.severity)))


def find(report: Report, tables: Tables) -> tuple[Finding, ...]:
    """The findings of a report, worst first: broken, warning, note, cannot-tell. What holds is left out."""
    return tuple(finding for finding in judge(report, tables) if finding.severity != Severity.FITS)
