"""Rules: a report and the compatibility tables in, findings out. The site runs them when it reads a report.

They need nothing but Python: the agent carries them for `diagnose`.

    findings = find(report, packaged_tables())
"""

from stackviz.report.rules.compatibility import KnownCard, Release, Requirement, RuleSource, Tables, packaged_tables
from stackviz.report.rules.registry import BRANCHES, RULES, branch_of, find, is_broken, judge, judge_breaking
from stackviz.report.rules.rule import Finding, Rule, Severity

__all__ = [
    "BRANCHES",
    "RULES",
    "Finding",
    "KnownCard",
    "Release",
    "Requirement",
    "Rule",
    "RuleSource",
    "Severity",
    "Tables",
    "branch_of",
    "find",
    "is_broken",
    "judge",
    "judge_breaking",
    "packaged_tables",
]  # fmt: skip
