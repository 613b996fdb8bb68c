"""Which findings of a report are new on its machine. No queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stackviz.records.labs.models import Finding

# Only these are events: a note asks nobody to act.
_RANK: Mapping[str, int] = {Finding.Severity.WARNING: 1, Finding.Severity.BROKEN: 2}

Subject = tuple[str, str]  # rule, component


def new_findings(before: Iterable[Finding], after: Iterable[Finding]) -> list[Finding]:
    """Broken things and warnings that the report before had not, or had less severe; in the order of `after`.

    Of one rule and component they are told apart by how many there are: titles name versions, which change.
    """
    earlier, new = _by_subject(before), set[int]()
    for subject, findings in _by_subject(after).items():
        known = earlier.get(subject, ())
        titles = {finding.title for finding in known}
        ranks = sorted((_RANK[finding.severity] for finding in known), reverse=True)
        unknown_last = sorted(findings, key=lambda finding: (-_RANK[finding.severity], finding.title not in titles))
        for index, finding in enumerate(unknown_last):
            if index >= len(ranks) or _RANK[finding.severity] > ranks[index]:
                new.add(id(finding))
    return [finding for finding in after if id(finding) in new]


def _by_subject(findings: Iterable[Finding]) -> dict[Subject, Sequence[Finding]]:
    by_subject: dict[Subject, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.severity in _RANK:
            by_subject[finding.rule, finding.component].append(finding)
    return dict(by_subject)
