"""What a further step of a diagnosis changed: causes found, causes excluded, questions still open; what to run next."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackviz.pages.diagnose.diagnosis import Diagnosis
from stackviz.pages.diagnose.wanted import is_pasted, typed_first, wanted_by
from stackviz.report.messages import BY_KEY
from stackviz.report.rules import Finding
from stackviz.web.message_pages import message_keys

__all__ = ["Narrowed", "next_command", "what_changed"]

MOST_LISTED = 12
_SYMPTOMS = "message.symptoms"


@dataclass(frozen=True, slots=True)
class RemainingCause:
    """A cause of a message. `excluded_by`: what was compared and holds, so that it is not this one; "" for one left."""

    text: str
    sign: str
    excluded_by: str


@dataclass(frozen=True, slots=True)
class OpenMessage:
    """A message whose cause no rule has found, with each of its causes, the likeliest first."""

    title: str
    causes: tuple[RemainingCause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The findings of a step beside those of the step before, of all machines together.

    `confirmed`: faults that are known only now. `excluded`: checks that hold, and could not be made before.
    `explained`: messages whose cause was found. `settled`: what was thought before and is no longer. `messages`: those
    whose cause is still open.
    """

    confirmed: tuple[Finding, ...]
    excluded: tuple[Finding, ...]
    explained: tuple[Finding, ...]
    settled: tuple[Finding, ...]
    messages: tuple[OpenMessage, ...]

    @property
    def is_unchanged(self) -> bool:
        return not (self.confirmed or self.excluded or self.explained or self.settled)


def what_changed(before: Diagnosis, after: Diagnosis) -> Narrowed:
    """Findings are the same where rule, severity and title are: a title names the figures it is about."""
    earlier = {_identity(finding) for finding in _faults(before)}
    faults = list(_faults(after))
    held = {finding.rule for finding in _fits(before)}
    present = {_identity(finding) for finding in faults}
    settled = [finding for finding in _faults(before) if _identity(finding) not in present]
    return Narrowed(
        confirmed=_first(finding for finding in faults if _identity(finding) not in earlier),
        excluded=_first(sorted(_newly_holding(after, held), key=lambda finding: not _is_suspected(finding, before))),
        explained=_first(finding for finding in settled if message_keys(finding)),
        settled=_first(finding for finding in settled if not message_keys(finding)),
        messages=tuple(_open_messages(after)),
    )


def _open_messages(after: Diagnosis) -> Iterator[OpenMessage]:
    for machine in after.machines:
        held = {finding.rule: finding.title for finding in reversed(machine.report.findings.fits)}
        for finding in machine.report.findings.faults:
            for key in message_keys(finding):
                causes = (
                    RemainingCause(
                        cause.text, cause.sign, next((held[rule] for rule in cause.excluded_by if rule in held), "")
                    )
                    for cause in BY_KEY[key].causes
                )
                yield OpenMessage(finding.title, tuple(causes))


def _identity(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.severity, finding.title


def _faults(diagnosis: Diagnosis) -> Iterator[Finding]:
    for machine in diagnosis.machines:
        yield from machine.report.findings.faults


def _fits(diagnosis: Diagnosis) -> Iterator[Finding]:
    for machine in diagnosis.machines:
        yield from machine.report.findings.fits


def _newly_holding(after: Diagnosis, held: set[str]) -> Iterator[Finding]:
    """The first answer of each rule that holds now on every machine, and was not known to hold."""
    wrong = {finding.rule for finding in _faults(after)}
    rules: dict[str, Finding] = {}
    for finding in _fits(after):
        if finding.rule not in held and finding.rule not in wrong:
            rules.setdefault(finding.rule, finding)
    yield from rules.values()


def _is_suspected(finding: Finding, before: Diagnosis) -> bool:
    """Whether its rule could have been the cause of a message of the step before."""
    return finding.rule in {rule for key in _symptoms(before) for rule in BY_KEY[key].rules}


def _symptoms(diagnosis: Diagnosis) -> Iterator[str]:
    for machine in diagnosis.machines:
        for finding in machine.report.findings.faults:
            yield from (key for key in finding.evidence.get(_SYMPTOMS, "").split() if key in BY_KEY)


def _first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(findings)[:MOST_LISTED]


# ---- what to run next -----------------------------------------------------------------------------------------------


def next_command(diagnosis: Diagnosis, kinds: Sequence[str]) -> str:
    """The one command whose output tells most now; "" where nothing is asked for that is not there already.

    `kinds`: of the dumps that were read. A message asks before a check that lacks a fact.
    """
    wanted = (wanted_by(finding) for finding in _faults(diagnosis))
    missing = (
        typed_first(finding.advice)
        for machine in diagnosis.machines
        for finding in machine.report.findings.open_questions
    )
    return next((command for command in (*wanted, *missing) if command and not is_pasted(command, kinds)), "")
