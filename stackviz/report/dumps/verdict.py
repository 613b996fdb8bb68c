"""What the dumps of one machine come to: its findings, without what they settle or ask again, and the verdict in words.

One place for pages, the API, Markdown, previews and the agent.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from stackviz.base.sentence import Sentence, say
from stackviz.report.format import Report
from stackviz.report.importers import BY_KIND
from stackviz.report.messages import BY_KEY
from stackviz.report.messages.of_findings import EXPLAINS_MESSAGES, message_keys
from stackviz.report.rules import Finding, Severity, Tables, judge

__all__ = ["NOTHING_CHECKED", "command_wanted_by", "has_error", "is_pasted", "judge_dump", "proven_use", "verdict"]


def judge_dump(report: Report, kinds: Sequence[str], tables: Tables) -> tuple[Finding, ...]:
    """Every answer of the rules, worst first, but those that nobody who pasted a text needs.

    `kinds`: of the dumps of this machine.
    """
    findings = judge(report, tables)
    return tuple(
        _without_pasted(finding, kinds, report)
        for finding in _without_settled(findings)
        if not (finding.rule == "driver-branch-ended" and finding.severity == Severity.NOTE and has_error(report))
    )


def has_error(report: Report) -> bool:
    """Whether the text has an error message: it was pasted for that, whatever else it tells of the machine."""
    return "message.symptoms" in report.facts or "message.unexplained" in report.facts


def _without_settled(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out open questions below a cause that is known, or a kernel that ran.

    Below a message those stay that find its cause.
    """
    broken = [finding for finding in findings if finding.severity == Severity.BROKEN]
    is_decided = any(finding.rule != EXPLAINS_MESSAGES for finding in broken) or bool(proven_use(findings))
    telling = set(_rules_telling(broken)) if broken else None
    for finding in findings:
        is_open = finding.severity == Severity.CANNOT_TELL
        if not is_open or not (is_decided or _is_unrelated(finding, telling)):
            yield finding


def _is_unrelated(finding: Finding, rules: Set[str] | None) -> bool:
    """Whether a question has nothing to do with the messages, of which these rules find the cause; None for none."""
    return rules is not None and finding.rule not in rules


def _rules_telling(messages: Iterable[Finding]) -> Iterator[str]:
    for message in messages:
        for key in message_keys(message):
            yield from BY_KEY[key].rules
            yield from (rule for cause in BY_KEY[key].causes for rule in cause.excluded_by)


# ---- what is asked for ----------------------------------------------------------------------------------------------

_WANTS = re.compile(r"Run this and paste what it prints: (.{2,300})$", re.DOTALL)
_KERNEL_LOG = re.compile(r"\bNVRM\b|\bXid\b")


def command_wanted_by(finding: Finding) -> str:
    """Return what a message wants run; "" for other findings."""
    match = _WANTS.search(finding.advice)
    return match[1].strip() if match else ""


def is_pasted(command: str, kinds: Iterable[str], facts: Mapping[str, object]) -> bool:
    """Whether what the command prints is in the text. nvidia-smi with other options is another question."""
    if "dmesg" in command:
        return bool(_KERNEL_LOG.search(f"{facts.get('message.quotes')} {facts.get('message.unexplained')}"))
    importers = (BY_KIND[kind] for kind in kinds if kind in BY_KIND)
    return any(command == importer.tool or command in importer.answers for importer in importers)


def _without_pasted(finding: Finding, kinds: Sequence[str], report: Report) -> Finding:
    """Return the finding without its advice where that only wants what is there, and told nothing of the cause."""
    is_done = is_pasted(command_wanted_by(finding), kinds, report.facts)
    return replace(finding, advice=_WANTS.sub("", finding.advice).strip()) if is_done else finding


# ---- the verdict ----------------------------------------------------------------------------------------------------

PROVES_USE = "gpu-unused"  # the rule of checks: what one has shown to work is more than that nothing is wrong
NOTHING_CHECKED = say("nothing in this text could be checked")
_TOPICS = {
    "busy_ratio": say("utilisation"),
    "power_w": say("power"),
    "temperature_c": say("temperature"),
    "memory_used_bytes": say("memory in use"),
}
"""Facts of a card on which a rule may have nothing to say -> the topic that nothing looked at then."""


def verdict(findings: Iterable[Finding], report: Report) -> str:
    """Return how many faults there are, what a check has proven, or that nothing is wrong.

    The last only where rules had something to compare and nothing to note, with what none of them looked at.
    """
    findings = list(findings)
    counted = Counter(finding.severity for finding in findings)
    broken, warnings = counted[Severity.BROKEN], counted[Severity.WARNING]
    if broken or warnings:
        return _fault_counts(broken, warnings)
    if not counted[Severity.FITS]:
        return NOTHING_CHECKED
    if proven := proven_use(findings):
        return proven[0].title
    sound = _nothing_broken(counted[Severity.NOTE])
    unseen = _unread_topics(findings, report)
    return say("{sound}; nothing here looks at {topics}", sound, _listed(unseen)) if unseen else sound


def _nothing_broken(notes: int) -> Sentence:
    """A note is something to do or to know, if no fault: where there is one, not all is well."""
    if not notes:
        return say("no problem found")
    return say("nothing broken, 1 note") if notes == 1 else say("nothing broken, {n_notes} notes", notes)


def proven_use(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return what checks have shown to work, among the findings of a text without faults."""
    is_fits = Severity.FITS.value
    return tuple(finding for finding in findings if (finding.rule, finding.severity) == (PROVES_USE, is_fits))


def _fault_counts(broken: int, warnings: int) -> Sentence:
    if not warnings:
        return say("{n_broken} broken", broken)
    counts = say("1 warning") if warnings == 1 else say("{n_warnings} warnings", warnings)
    return say("{n_broken} broken, {warnings}", broken, counts) if broken else counts


def _unread_topics(findings: Iterable[Finding], report: Report) -> list[Sentence]:
    """Topics of which the text has figures, and no rule has read one."""
    stated = {name for card in report.cards for name in card.facts}
    read = {name.rpartition(" ")[2].rpartition(".")[2] for finding in findings for name in finding.evidence}
    return [topic for fact, topic in _TOPICS.items() if fact in stated - read]


def _listed(topics: Sequence[Sentence]) -> Sentence:
    listed = topics[0]
    for topic in topics[1:]:
        listed = say("{topics}, {topic}", listed, topic)
    return listed
