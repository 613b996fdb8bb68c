"""A diagnosis of one or several steps: all texts together, what the last one changed, and what to paste next."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from django.core import signing
from django.utils.translation import gettext as _

from stackviz.intake.report_parts.pasted import MOST_BYTES, MOST_KB, Pasted, Refused, read_pasted, tools_of
from stackviz.pages.diagnose.causes import Command, shown_command
from stackviz.pages.diagnose.diagnosis import Diagnosis, diagnose, typed_first
from stackviz.report.dumps import DumpedMachine
from stackviz.report.dumps.verdict import command_wanted_by, is_pasted
from stackviz.report.importers import BY_KIND, read_all
from stackviz.report.importers.deadline import Deadline
from stackviz.report.importers.paste import join_texts
from stackviz.report.messages import BY_KEY
from stackviz.report.messages.of_findings import message_keys
from stackviz.report.rules import Finding
from stackviz.report.rules.origin import is_of

MARK = "-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-"  # no letters, so that no importer and no list of unread lines takes it
MOST_STEPS = 8
MOST_STATE_CHARS = 128 * 1024  # of a form: a longer text is not carried, and is pasted together with the next one
STEPS_HOLD_S = 24 * 3600
_LONGEST_COMMAND = 400
_LONGEST_ANSWER = 2_000
_SALT = "stackviz.diagnose.steps"


class StepsRefused(Exception):
    """The form was not made here, was changed, or is too old. `is_old` tells the last from the others."""

    def __init__(self, *, is_old: bool) -> None:
        super().__init__()
        self.is_old = is_old


def sign_state(texts: Sequence[str]) -> str:
    """What the form carries; "" where it would be too long, or there are too many steps already."""
    if len(texts) >= MOST_STEPS:
        return ""
    signed = signing.dumps(list(texts), salt=_SALT, compress=True)
    return signed if len(signed) <= MOST_STATE_CHARS else ""


def read_state(signed: str) -> list[str]:
    """The texts of the steps before, none for "". Raises StepsRefused."""
    if not signed:
        return []
    if len(signed) > MOST_STATE_CHARS:
        raise StepsRefused(is_old=False)
    try:
        texts = signing.loads(signed, salt=_SALT, max_age=STEPS_HOLD_S)
    except signing.SignatureExpired:
        raise StepsRefused(is_old=True) from None
    except (signing.BadSignature, ValueError, TypeError, zlib.error):
        raise StepsRefused(is_old=False) from None
    return [str(text) for text in texts]


def join_steps(texts: Iterable[str]) -> str:
    """All steps as one text."""
    return f"\n\n{MARK}\n\n".join(text.strip("\n") for text in texts if text.strip())


def split_steps(text: str) -> list[str]:
    """The steps of a text, at most MOST_STEPS: what has more marks keeps them in its last step."""
    lines, steps = text.replace("\r\n", "\n").split("\n"), [[]]  # type: tuple[list[str], list[list[str]]]
    for line in lines:
        if line.strip() == MARK and len(steps) < MOST_STEPS:
            steps.append([])
        else:
            steps[-1].append(line)
    texts = [join_texts(["\n".join(step)]) for step in steps]
    return [text for text in texts if text] or [text]


def under_command(text: str, command: str) -> str:
    """The text below the command that the page asked for, where only that says what it is: `True`, `12.4`.

    Else the text itself: it is read without the command, is too long for a bare answer, or is none. `command` is as the
    form sent it: one line, or it is left out.
    """
    is_line = 0 < len(command) <= _LONGEST_COMMAND and command.isprintable()
    if not is_line or len(text) > _LONGEST_ANSWER or read_all(text).kinds:
        return text
    typed = f"$ {command}\n{text}"
    return typed if read_all(typed).kinds else text


@dataclass(frozen=True, slots=True)
class Step:
    """One step as the page lists it. `tools`: what its text was read as, none where nothing was recognised."""

    number: int
    tools: tuple[str, ...]


def describe_steps(texts: Sequence[str], deadline: Deadline) -> tuple[Step, ...]:
    """None for a single step. Reads each text again: the steps before are short, or were refused."""
    if len(texts) < 2:
        return ()
    return tuple(Step(number, _tools(text, deadline)) for number, text in enumerate(texts, 1))


def _tools(text: str, deadline: Deadline) -> tuple[str, ...]:
    kinds = read_all(text, deadline).kinds
    return tuple(tool.text for tool in tools_of(kind for kind in kinds if kind in BY_KIND))


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
            hints = frozenset(finding.evidence.get("message.hints", "").split())
            for key in message_keys(finding):
                causes = (
                    RemainingCause(
                        cause.text, cause.sign, next((held[rule] for rule in cause.excluded_by if rule in held), "")
                    )
                    for cause in BY_KEY[key].causes
                    if is_of(hints, cause.only_on)
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


def next_command(diagnosis: Diagnosis, pasted: Pasted) -> str:
    """The one command whose output tells most now; "" where nothing is asked for that is not there already.

    A message asks before a check that lacks a fact.
    """
    wanted = (command_wanted_by(finding) for machine in diagnosis.machines for finding in machine.findings)
    missing = (
        typed_first(finding.advice)
        for machine in diagnosis.machines
        for finding in machine.report.findings.open_questions
    )
    facts = {name: value for machine in pasted.machines for name, value in machine.reading.facts.items()}
    commands = (command for command in (*wanted, *missing) if command)
    return next((command for command in commands if not is_pasted(command, pasted.kinds, facts)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The form for what a command printed. `state`: the texts so far, signed; "" where they are too many or too long.

    `command` None: nothing in particular is asked for. `problem`: why the text just pasted changed nothing, "" if it
    did.
    """

    number: int
    command: Command | None
    state: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedDiagnosis:
    """`text`: all steps as one. `steps`: empty for a single one; `narrowed` None then.

    `is_afterwards`: the last step is the same machine after a change, and is diagnosed alone.
    """

    diagnosis: Diagnosis
    text: str
    steps: tuple[Step, ...]
    narrowed: Narrowed | None
    is_afterwards: bool
    next_step: NextStep


def steps_before(signed: str) -> list[str]:
    """The texts that a form carries. Raises Refused."""
    try:
        return read_state(signed)
    except StepsRefused as refused:
        problem = (
            _("The steps before are more than a day old. Paste their text together with the new one.")
            if refused.is_old
            else _("The steps before were changed on the way. Paste their text together with the new one.")
        )
        raise Refused(problem, HTTPStatus.UNPROCESSABLE_ENTITY, "state") from None


def diagnose_steps(before: Sequence[str], text: str, deadline: Deadline, problem: str = "") -> SteppedDiagnosis:
    """All of it, of which `text` is new: it may hold several steps itself. Raises Refused."""
    texts = [*before, *(split_steps(text) if text else ())]
    whole = join_steps(texts)
    if len(whole.encode(errors="replace")) > MOST_BYTES:
        raise Refused(
            _("All steps together are larger than %(most)s KB. Start again with the outputs that matter.")
            % {"most": MOST_KB},
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )
    # Of several steps the whole is read first, then some of it again: what is new, what there was before.
    pace = deadline.share(0.6) if len(texts) > 1 else deadline
    together = read_pasted(whole, pace, may_be_question=True)
    afterwards = _afterwards(texts, together, deadline)
    pasted = afterwards or together
    diagnosis = diagnose(pasted)
    command = next_command(diagnosis, pasted)
    steps = describe_steps(texts, deadline)
    return SteppedDiagnosis(
        diagnosis=diagnosis,
        text=whole,
        steps=steps,
        narrowed=_narrowed(texts, diagnosis, deadline),
        is_afterwards=afterwards is not None,
        next_step=NextStep(
            number=len(texts) + 1,
            command=shown_command(command) if command else None,
            state=sign_state(texts),
            problem=problem or _nothing_read(steps),
        ),
    )


def _afterwards(texts: Sequence[str], together: Pasted, deadline: Deadline) -> Pasted | None:
    """The last step alone, where it contradicts the one machine before and has the same cards: it was repaired."""
    if len(texts) < 2 or len(together.machines) != 2:
        return None
    try:
        last = read_pasted(texts[-1], deadline)
    except Refused:
        return None
    before = together.machines[0]
    is_same = len(last.machines) == 1 and _card_names(last.machines[0]) == _card_names(before) != []
    return last if is_same and before.reading.facts.get("torch.version") else None


def _card_names(machine: DumpedMachine) -> list[str]:
    return sorted(card.reported_name for card in machine.reading.cards)


def _narrowed(texts: Sequence[str], diagnosis: Diagnosis, deadline: Deadline) -> Narrowed | None:
    if len(texts) < 2:
        return None
    try:
        return what_changed(diagnose(read_pasted(join_steps(texts[:-1]), deadline, may_be_question=True)), diagnosis)
    except Refused:  # nothing was recognised before
        return None


def _nothing_read(steps: Sequence[Step]) -> str:
    if not steps or steps[-1].tools:
        return ""
    return _(
        "Nothing in the last text is known here, so it changed nothing. Paste everything that the command printed, "
        "with the command itself."
    )
