"""A diagnosis of one or several steps: all texts together, what the last one changed, and what to paste next."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from django.utils.translation import gettext as _

from stackviz.intake.report_parts.pasted import MOST_BYTES, MOST_KB, Pasted, Refused, read_pasted
from stackviz.pages.diagnose.causes import Command, shown_command
from stackviz.pages.diagnose.diagnosis import Diagnosis, diagnose
from stackviz.pages.diagnose.narrowed import Narrowed, next_command, what_changed
from stackviz.pages.diagnose.steps import (
    Step,
    StepsRefused,
    describe_steps,
    join_steps,
    read_state,
    sign_state,
    split_steps,
)
from stackviz.report.dumps import DumpedMachine
from stackviz.report.importers.deadline import Deadline

__all__ = ["NextStep", "SteppedDiagnosis", "diagnose_steps", "steps_before"]


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
    together = read_pasted(whole, deadline.share(0.6) if len(texts) > 1 else deadline)
    afterwards = _afterwards(texts, together, deadline)
    pasted = afterwards or together
    diagnosis = diagnose(pasted)
    command = next_command(diagnosis, pasted.kinds)
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
        return what_changed(diagnose(read_pasted(join_steps(texts[:-1]), deadline)), diagnosis)
    except Refused:  # nothing was recognised before
        return None


def _nothing_read(steps: Sequence[Step]) -> str:
    if not steps or steps[-1].tools:
        return ""
    return _(
        "Nothing in the last text is known here, so it changed nothing. Paste everything that the command printed, "
        "with the command itself."
    )
