"""The command that a finding wants the output of, and whether it was pasted already."""

import re
from collections.abc import Sequence
from dataclasses import replace

from stackviz.base.advice import parts_of
from stackviz.report.importers import BY_KIND
from stackviz.report.rules import Finding

__all__ = ["is_pasted", "typed_first", "wanted_by", "without_pasted"]

_WANTS = re.compile(r"Run this and paste what it prints: (.{2,300})$", re.DOTALL)


def wanted_by(finding: Finding) -> str:
    """What a message wants run; "" for other findings."""
    match = _WANTS.search(finding.advice)
    return match[1].strip() if match else ""


def typed_first(advice: str) -> str:
    """The first command of an advice; the advice of a check that lacks a fact is a command and nothing else."""
    typed = next((part.text for part in parts_of(advice) if part.is_typed), "")
    is_command = advice[:1].islower() and ". " not in advice
    return typed or (advice if is_command else "")


def is_pasted(command: str, kinds: Sequence[str]) -> bool:
    """Whether one of the dumps is what it prints. nvidia-smi with other options is another question."""
    importers = (BY_KIND[kind] for kind in kinds if kind in BY_KIND)
    return any(command == importer.tool or command in importer.answers for importer in importers)


def without_pasted(finding: Finding, kinds: Sequence[str]) -> Finding:
    """The finding without its advice where that only wants what is there: it told nothing of the cause."""
    is_done = is_pasted(wanted_by(finding), kinds)
    return replace(finding, advice=_WANTS.sub("", finding.advice).strip()) if is_done else finding
