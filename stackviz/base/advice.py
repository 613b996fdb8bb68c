"""The advice of a finding, split into text and commands. Standard library only.

Reset it: sudo nvidia-smi --gpu-reset -i 0 (or reboot)
text "Reset it:", command "sudo nvidia-smi --gpu-reset -i 0", text "(or reboot)"
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from stackviz.base.sentence import Sentence, join_sentences

__all__ = ["Block", "Part", "blocks_of", "causes_of", "parts_of"]

MOST_CHARS = 4096  # longer advice is shown as it is

# A command begins with a program and what makes it one here: `nvidia-smi must list it` is no command.
_BEGINS = re.compile(
    r"(?<![\w/.'\"-])(?:"
    r"sudo (?=[a-z])|(?:python3?|python3? -m|\.[\\/][\w.\\/]{1,60}python[\w.]{0,4}) (?=-)"
    r"|pip3? (?=(?:install|uninstall|config|cache|list|show|index) )"
    r"|conda (?=(?:install|remove|list|update|create) )|uv (?=(?:pip|venv) )|nvidia-smi (?=-)|nvidia-ctk (?=[a-z])"
    r"|systemctl (?=[a-z])|wsl (?=--)|ldconfig (?=-)|ldd (?=--)|df (?=-)"
    r"|(?:unset|export) (?=[A-Z_]{3})|cat (?=/)|ls (?=-|/)|dkms (?=status)|lsmod(?= \|)|mokutil (?=-)|sw_vers (?=-)"
    r"|system_profiler (?=SP)|modinfo (?=[a-z])|journalctl (?=-)|docker (?=(?:run|info|pull) )|uname (?=-)"
    r"|echo (?=[$\"])"
    r")"
)
# It ends where the sentence goes on: at punctuation before a space, a bracket, or a word no command holds so; and at
# the first Chinese character or sign.
_ENDS = re.compile(
    r"\s?(?=[\u3001\u3002\u4e00-\u9fff\uff00-\uffef])|(?:(?<=\S)[,;:.)]+(?=\s|$))|\s(?=\()|\s(?=(?:to|if|and|or|of|on|for|as|must|with|then|prints|says|tells|lists|should"
    r"|is|in a|in the|in Windows|ends|until|from|shows|names|fails|contains|does not|lacks|finds|may)\b(?! ?=))"
)
_CAUSE = re.compile(r"(?:Most likely|Also possible|Less likely): |Not the cause here \(")
_BEFORE_CAUSE = re.compile(rf"(?<=\S) (?={_CAUSE.pattern})")
_QUOTED = re.compile(r"\"[^\"]{0,400}\"|'[^']{0,400}'|\$\([^()]{0,200}\)")
_PLACEHOLDER = re.compile(r"<[\w .-]{1,60}>")


@dataclass(frozen=True, slots=True)
class Part:
    """`is_typed`: a command. `is_whole`: it ends its sentence, so a box of code can hold it."""

    text: str
    is_typed: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of parts, or one command in a box: the other is empty."""

    parts: tuple[Part, ...] = ()
    typed: str = ""


def causes_of(explanation: str) -> list[str]:
    """Return an explanation as lines: what a message means, then each of its causes.

    It broke. Most likely: the cable. Less likely: the board.
    "It broke.", "Most likely: the cable.", "Less likely: the board."
    """
    lines: list[list[str]] = []
    for sentence in _sentences_of(explanation):
        if lines and not _CAUSE.match(sentence):
            lines[-1].append(sentence)
        else:
            lines.append([sentence])
    return [line[0] if len(line) == 1 else join_sentences(line) for line in lines]


def _sentences_of(explanation: str) -> list[str]:
    """Return the sentences that were joined; of a plain text, its lines."""
    if isinstance(explanation, Sentence):
        return [each for part in explanation.joined for each in _sentences_of(part)] or [explanation]
    begins = [match.end() for match in _BEFORE_CAUSE.finditer(explanation)]
    lines = [explanation[begin:end].rstrip() for begin, end in pairwise([0, *begins, len(explanation)])]
    return [line for line in lines if line]


def blocks_of(advice: str) -> list[Block]:
    """The advice as it is drawn. The first one is a paragraph, for it is headed."""
    blocks = [Block()]
    for part in parts_of(advice):
        if part.is_whole:
            blocks.append(Block(typed=part.text))
        elif blocks[-1].typed:
            blocks.append(Block((part,)))
        else:
            blocks[-1] = Block((*blocks[-1].parts, part))
    return blocks


def parts_of(advice: str) -> list[Part]:
    """The parts in their order, none empty; a command with a gap to be filled in is no whole one."""
    return list(_parts(advice)) if len(advice) <= MOST_CHARS else [Part(advice)]


def _parts(advice: str) -> Iterator[Part]:
    position = 0
    while begin := _BEGINS.search(advice, position):
        end = _end(advice, begin.start(), begin.end())
        before, typed, after = advice[position : begin.start()], advice[begin.start() : end].rstrip(), advice[end:]
        whole = not _PLACEHOLDER.search(typed) and _is_standalone(before, after)
        if before.strip():
            yield Part(before.rstrip() if whole else before)
        yield Part(typed, is_typed=True, is_whole=whole)
        position = end
        if whole and after[:1] in (".", "。"):
            position += 1
        if whole:
            position += len(advice[position:]) - len(advice[position:].lstrip())
    if advice[position:].strip():
        yield Part(advice[position:])


def _is_standalone(before: str, after: str) -> bool:
    """Return whether it follows a colon or begins a sentence, and the sentence ends with it."""
    begins = not before.strip() or before.rstrip()[-1] in ":.;：。；"
    return begins and (not after.strip() or after[0] in ".。" or after.startswith((" (", "（")))


def _end(advice: str, begin: int, position: int) -> int:
    """The end of a command; punctuation in quoted text does not end it."""
    quoted_from = begin
    while True:
        sentence_end = _ENDS.search(advice, position)
        limit = sentence_end.start() if sentence_end else len(advice)
        quoted = _QUOTED.search(advice, quoted_from)
        if quoted is None or quoted.start() >= limit:
            return limit
        position = quoted_from = quoted.end()
