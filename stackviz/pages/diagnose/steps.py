"""A diagnosis in several steps: what was pasted before comes back in the form, signed; nothing of it is stored.

The texts themselves are carried, not what was read from them: each step is diagnosed from all of them, as if they had
been pasted together, but for one that shows the machine after a repair (`stepped.py`). A saved text
holds its steps one below the other, with MARK between two.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core import signing

from stackviz.intake.report_parts.tool_names import tools_of
from stackviz.report.importers import BY_KIND, read_all
from stackviz.report.importers.deadline import Deadline
from stackviz.report.importers.paste import join_texts

__all__ = [
    "MOST_STEPS",
    "Step",
    "StepsRefused",
    "describe_steps",
    "join_steps",
    "read_state",
    "sign_state",
    "split_steps",
    "under_command",
]

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
