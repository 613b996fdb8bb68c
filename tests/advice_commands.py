"""Every command that any advice prints, and how far it is tried.

From the code: the texts of the rules (what a rule fills in is PLACEHOLDER), the table of messages, the commands of
facts, what is named where nothing is recognised, and what `doctor` runs.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackviz.agent.doctor_questions import QUESTIONS
from stackviz.base.advice import parts_of
from stackviz.base.sentence import cut_at_places
from stackviz.report.format.facts import CARD_FACTS, FACTS
from stackviz.report.messages import SYMPTOMS
from stackviz.report.messages.named_programs import NAMED_PROGRAMS
from stackviz.report.rules import checks
from stackviz.report.rules.rule import command_to_read

__all__ = ["PLACEHOLDER", "AdvisedCommand", "advised_commands", "filled", "python_code", "way_of_checking"]

PLACEHOLDER = "X"
LOOKS_ONLY = re.compile(
    r"(?:cat /|ls |lsmod\b|uname\b|df |ldd |echo \$|dkms status|mokutil --sb-state|ldconfig -p|lspci\b|lscpu\b"
    r"|nvcc --version"
    r"|nvidia-smi\b(?!.* -(?:c|dm|e|pl|pm|r)\b)|rocminfo|rocm-smi|docker info|systemctl status|free |env\b|groups\b|which "
    r"|journalctl -|xpu-smi discovery|llama-bench --list-devices|accelerate env|vulkaninfo|clinfo|sysctl -n"
    r"|python3? (?:-VV|--version|-m pip (?:list|check|--version|show)|-m torch\.utils|-m bitsandbytes|-m xformers))"
)
_PIP = re.compile(r"(?:python3? -m |uv )?pip3? (?:install|uninstall|config|list|check|show)\b")
_PYTHON = re.compile(r"python3? -c (?P<quote>['\"])(?P<code>.{1,400})(?P=quote)$", re.DOTALL)
_ELSEWHERE = re.compile(r"(?:sw_vers|system_profiler|wsl|Get-|\$env:|powermetrics)")


@dataclass(frozen=True, slots=True)
class AdvisedCommand:
    """A command of bash as it is printed. `origin`: the module, message or fact that prints it."""

    text: str
    origin: str


def advised_commands() -> list[AdvisedCommand]:
    """Each once, in the order of its text."""
    first: dict[str, AdvisedCommand] = {}
    for command in sorted(_all_of_them(), key=lambda command: (command.text, command.origin)):
        first.setdefault(command.text, command)
    return list(first.values())


def _all_of_them() -> Iterator[AdvisedCommand]:
    folder = Path(next(iter(checks.__path__)))
    for module in sorted(folder.glob("*.py")):
        yield from _typed((text for text in _texts_of(module)), f"rules/checks/{module.name}")
    for symptom in SYMPTOMS:
        origin = f"message {symptom.key}"
        yield AdvisedCommand(symptom.ask, origin)
        yield from _typed((text for cause in symptom.causes for text in (cause.sign, cause.remedy)), origin)
    for fact in (*FACTS.values(), *CARD_FACTS.values()):
        if fact.command:
            yield AdvisedCommand(fact.command, f"fact {fact.name}")
    yield AdvisedCommand(command_to_read("triton"), "rules/rule.py")
    for program in NAMED_PROGRAMS:
        yield AdvisedCommand(program.ask, f"program {program.key}")
    for question in QUESTIONS:
        yield AdvisedCommand(question.shown, "doctor")


def _typed(texts: Iterator[str], origin: str) -> Iterator[AdvisedCommand]:
    for text in texts:
        yield from (AdvisedCommand(part.text, origin) for part in parts_of(text) if part.is_typed)


def _texts_of(module: Path) -> Iterator[str]:
    """The texts of a module, those that it fills in with PLACEHOLDER for each gap."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    inside = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else PLACEHOLDER for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            parts = cut_at_places(node.value)
            yield "".join(PLACEHOLDER if index % 2 else part for index, part in enumerate(parts))


def filled(command: str) -> str:
    """The command with a word in each gap that a reader fills in: `<watts>` would read a file."""
    return re.sub(r"<[\w .-]{1,60}>", "1", command)


def way_of_checking(command: str) -> str:
    """pip, python, run, elsewhere or syntax; the first four on top of the syntax."""
    if _PIP.match(command):
        return "pip"
    if _PYTHON.search(command):
        return "python"
    if _ELSEWHERE.match(command):
        return "elsewhere"
    return "run" if LOOKS_ONLY.match(command) and "sudo" not in command else "syntax"


def python_code(command: str) -> str:
    """The program of a `python -c`. Raises ValueError for another command."""
    match = _PYTHON.search(command)
    if match is None:
        raise ValueError(command)
    return match["code"]
