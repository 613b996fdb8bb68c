"""How a machine is asked: one short function per fact, and a machine to ask that a test can fake.

A function returns the value, or None for "asked, no answer", or raises Missing with the reason. Whatever else it
raises makes that one fact absent, never its neighbours. To add a fact: docs/recipes/fact.md.
"""

import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from stackviz.report.format.agent_texts import COMMAND_FORBIDDEN, NO_COMMAND, NOT_SET, OTHER_SYSTEM
from stackviz.report.format.facts.fact import Scalar

__all__ = [
    "COMMAND_TIMEOUT_S",
    "AnswerSheet",
    "MissingFact",
    "Question",
    "Questions",
    "Surroundings",
    "only_on",
    "run_command",
    "variable",
]  # fmt: skip

COMMAND_TIMEOUT_S = 15.0
_MOST_OUTPUT_CHARS = 16 * 1024 * 1024


class MissingFact(Exception):
    """Why a fact is absent: a reason of ABSENT_REASONS, and a detail for people."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def run_command(argv: Sequence[str], timeout_s: float) -> str:
    """What a command prints. Raises Missing; the parent process ends us if the command cannot be ended."""
    try:
        done = subprocess.run(  # noqa: S603 - lists that facts declare, no shell
            argv, capture_output=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL, env=_plain_environ()
        )
    except FileNotFoundError:
        raise MissingFact("not_installed", NO_COMMAND.format(argv=argv[0])) from None
    except PermissionError:
        raise MissingFact("failed", COMMAND_FORBIDDEN.format(argv=argv[0])) from None
    except subprocess.TimeoutExpired:
        raise MissingFact("timeout", f"{argv[0]} did not end in {timeout_s:g} s") from None
    text = done.stdout.decode("utf-8", "replace")[:_MOST_OUTPUT_CHARS]
    if done.returncode:
        messages = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        detail = f"{argv[0]} ended with {done.returncode}"
        raise MissingFact("failed", f"{detail}: {messages[-1][:300]}" if messages else detail)
    return text


def _plain_environ() -> dict[str, str]:
    """Our environment, with the language of messages set to one we can read."""
    return {**os.environ, "LC_ALL": "C", "LANG": "C"}


@dataclass(kw_only=True)
class Surroundings:
    """The machine a probe asks: files under `root`, commands, environment. Tests hand in another one.

    `torch`: the module, imported, for the questions of the torch probe; None for all others. `within_s`: the time that
    all questions of a probe have together.
    """

    root: Path = Path("/")
    system: str = field(default_factory=platform.system)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    run_command: Callable[[Sequence[str], float], str] = run_command
    torch: Any = None  # torch has no types to rely on
    within_s: float = 60.0
    _outputs: dict[tuple[str, ...], str | MissingFact] = field(default_factory=dict)

    def run(self, *argv: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        """What a command prints; it runs once, however many facts come from it. Raises Missing."""
        if argv not in self._outputs:
            try:
                self._outputs[argv] = self.run_command(argv, timeout_s)
            except MissingFact as missing:
                self._outputs[argv] = missing
        answer = self._outputs[argv]
        if isinstance(answer, MissingFact):
            raise MissingFact(answer.reason, answer.detail)
        return answer

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str | None:
        """A small text file's content, trimmed; None if there is none or it may not be read."""
        try:
            with self.path(name).open(encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_OUTPUT_CHARS).strip("\x00 \n\t") or None
        except OSError:
            return None


Question = Callable[[Surroundings], Scalar | None]


def only_on(around: Surroundings, *systems: str) -> None:
    """Raises Missing on every other system: the question has no meaning there, or another probe asks it."""
    if around.system not in systems:
        raise MissingFact("not_applicable", OTHER_SYSTEM.format(systems=" and ".join(systems)))


def variable(around: Surroundings, name: str) -> str:
    """An environment variable as set. Raises Missing where it is not."""
    value = around.environ.get(name)
    if value is None:
        raise MissingFact("not_applicable", NOT_SET.format(name=name))
    return value or "(empty)"


class AnswerSheet(Protocol):
    """Where answers go: `importers.FactSheet` is one."""

    def state(self, name: str, value: object) -> None: ...

    def mark_missing(self, name: str, reason: str, detail: str | None = None) -> None: ...


class Questions:
    """Facts to ask a machine for, in order.

    >>> QUESTIONS = Questions()
    >>> @QUESTIONS.about("os.arch")
    ... def arch(around: Surroundings) -> str:
    ...     return platform.machine()
    """

    def __init__(self) -> None:
        self._questions: list[tuple[str, Question]] = []

    def about(self, name: str) -> Callable[[Question], Question]:
        def add(question: Question) -> Question:
            self._questions.append((name, question))
            return question

        return add

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._questions)

    def ask(self, around: Surroundings, sheet: AnswerSheet, after_each: Callable[[], None] = lambda: None) -> None:
        """Ask all; each ends as a fact or as an absent fact with its reason."""
        for name, question in self._questions:
            try:
                value = question(around)
            except MissingFact as missing:
                sheet.mark_missing(name, missing.reason, missing.detail)
            except Exception as error:  # noqa: BLE001 - one fact must not break its neighbours
                sheet.mark_missing(name, "failed", f"{type(error).__name__}: {error}")
            else:
                if value is None:
                    sheet.mark_missing(name, "not_reported")
                else:
                    sheet.state(name, value)
            after_each()
