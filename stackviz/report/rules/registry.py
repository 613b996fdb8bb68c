"""All rules, by name, in the order they are checked; and what they find in a report.

Every module of `checks/` that names a RuleSet RULES is found; to add a rule: docs/recipes/rule.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stackviz.base.discovery import modules_of
from stackviz.base.sentence import say
from stackviz.report.format import Report
from stackviz.report.rules import checks
from stackviz.report.rules.compatibility import Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Finding, Rule, Severity, run

__all__ = ["BRANCHES", "RULES", "SlowBranch", "branch_of", "find", "is_broken", "judge", "judge_breaking", "needs_of"]


def _declared() -> Iterator[Rule]:
    """The rules of every module of `checks/` that has some, in the order of their sets."""
    sets = [module.RULES for module in modules_of(checks) if hasattr(module, "RULES")]
    for rules in sorted(sets, key=lambda rules: rules.order):
        yield from rules


RULES: tuple[Rule, ...] = tuple(_declared())
_LAST_RESORTS = tuple(rule for rule in RULES if rule.last_resort)
_ORDINARY = tuple(rule for rule in RULES if not rule.last_resort)
_BREAKING = tuple(rule for rule in _ORDINARY if rule.worst == Severity.BROKEN)
_MESSAGES, _DRIVER = "error-message", "nvidia-driver"
_NEEDS = {rule.id: rule.needs for rule in RULES}
_BRANCHES = {rule.id: rule.branch for rule in RULES}
_WORST_FIRST = [severity.value for severity in Severity]
_EXPLAINING = frozenset({"nvidia-driver", "cuda-driver-api", "cuda-runtime", "pytorch", "linux"})
"""Boxes that keep a card from torch when they are broken."""


def needs_of(rule_id: str) -> tuple[str, str] | tuple[()]:
    """The component that asks for something and the one that has to give it; () for a rule about one, or unknown."""
    return _NEEDS.get(rule_id, ())


class SlowBranch(NamedTuple):
    """A section of the chapter "Why is it slow?": its anchor and its title."""

    anchor: str
    title: str


BRANCHES = {
    "wait-or-work": say("First: does it wait?"),
    "data": say("It waits for data"),
    "host": say("It waits for Python"),
    "works": say("It works, but slowly"),
    "checkpoints": say("Checkpoints and logs"),
    "several": say("Several machines"),
}
"""Anchor -> title of the sections that rules lead to."""


def branch_of(rule_id: str) -> SlowBranch | None:
    """The section of "Why is it slow?" that goes on from what a rule finds; None for a rule about something else."""
    anchor = _BRANCHES.get(rule_id, "")
    return SlowBranch(anchor, BRANCHES[anchor]) if anchor else None


def judge(report: Report, tables: Tables) -> tuple[Finding, ...]:
    """Every answer, worst first, what holds included (`fits`): what a diagram shows beside its boxes."""
    return tuple(sorted(_answers(_ORDINARY, report, tables), key=lambda finding: _WORST_FIRST.index(finding.severity)))


def judge_breaking(report: Report, tables: Tables) -> Iterator[Finding]:
    """The answers of the rules that may find something broken, in the order of the rules, each rule run when asked for.

    What these rules find is what `judge` finds of them: the others cannot silence a last resort.
    """
    return _answers(_BREAKING, report, tables)


def is_broken(report: Report, tables: Tables) -> bool:
    """Whether `judge` finds anything broken: no more rules are run than it takes to tell."""
    return any(finding.severity == Severity.BROKEN for finding in judge_breaking(report, tables))


def _answers(rules: Iterable[Rule], report: Report, tables: Tables) -> Iterator[Finding]:
    """The rules' answers; those of a last resort unless there is nothing to restate."""
    look, is_explained = Look(report, tables), False
    for rule in _in_order(tuple(rules)):
        if not (rule.last_resort and is_explained):
            for finding in run(rule, look, tables):
                is_explained = is_explained or _explains(finding)
                _remember(look, finding)
                yield finding


def _in_order(rules: Sequence[Rule]) -> Iterator[Rule]:
    """A driver that does not answer causes messages; a card that torch does not see is only one more symptom."""
    yield from (rule for rule in rules if rule.id != _MESSAGES)
    yield from (rule for rule in _LAST_RESORTS if rule.component == _DRIVER)
    yield from (rule for rule in rules if rule.id == _MESSAGES)
    yield from (rule for rule in _LAST_RESORTS if rule.component != _DRIVER)


def _remember(look: Look, finding: Finding) -> None:
    """For the rules that come later."""
    if finding.severity == Severity.FITS and finding.rule not in look.problem_rules:
        look.holds.setdefault(finding.rule, finding.title)
    if finding.severity in (Severity.BROKEN, Severity.WARNING):
        look.problem_rules.add(finding.rule)
        look.holds.pop(finding.rule, None)
    if finding.severity == Severity.BROKEN:
        look.broken_rules.add(finding.rule)


def _explains(finding: Finding) -> bool:
    return finding.severity == Severity.BROKEN and finding.component in _EXPLAINING


def find(report: Report, tables: Tables) -> tuple[Finding, ...]:
    """The findings of a report, worst first: broken, warning, note, cannot-tell. What holds is left out."""
    return tuple(finding for finding in judge(report, tables) if finding.severity != Severity.FITS)
