"""The answer as Markdown, fit for a comment in an issue tracker.

What a dump states is escaped: it makes no heading, link, image, tag or list, mentions nobody, refers to no issue and
ends no fence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stackviz.base.advice import blocks_of
from stackviz.report.dumps.machines import tool_name

__all__ = ["MOST_CHARS", "code_span", "escape_text", "fence", "to_markdown"]

MOST_CHARS = 60_000  # a comment on GitHub holds 65,536
_MOST_FINDINGS = 20
_MOST_TEXT = 2_000
_MOST_LINES = 10  # of what was not understood
_SUMMARY = ("os.name", "os.version", "python.version", "torch.version", "torch.cuda_version", "nvidia.driver_version")
_CUT = "The rest is left out: it is longer than a comment may be."

Document = Mapping[str, Any]

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#!|~&^$]|:(?=//))")
_BEGINS_BLOCK = re.compile(r"^(\d{1,9}(?=[.)](?: |$))|(?=[-+=]))")
_REFERS = re.compile(r"(?:@|\\#|\bGH-)(?=\w)|\bwww(?=\.)", re.IGNORECASE)
_JOINER = "\N{WORD JOINER}"  # invisible; after it no name, number or host is recognised


def escape_text(text: str, longest: int = _MOST_TEXT) -> str:
    """The text in one line, as it reads: no sign in it is one of Markdown, none makes a link or notifies anybody."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * longest]).split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    line = _BEGINS_BLOCK.sub(r"\1\\", _SIGNS.sub(r"\\\1", line))
    return _REFERS.sub(lambda match: match[0] + _JOINER, line)


def code_span(text: str, longest: int = 300) -> str:
    """The text in one line as code, whatever back quotes are in it."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * longest]).split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    ticks = _longest_run(line, least=0) + 1
    space = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{'`' * ticks}{space}{line}{space}{'`' * ticks}"


def fence(text: str, language: str = "") -> str:
    """The text as a block of code that it cannot end."""
    ticks = "`" * max(3, _longest_run(text, least=2) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _longest_run(text: str, least: int) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=least)


def to_markdown(document: Document) -> str:
    """The findings of each machine, worst first, with what to do, evidence and source; at most MOST_CHARS."""
    blocks: list[str] = []
    length = 0
    for block in _blocks(document):
        length += len(block) + 2
        if length > MOST_CHARS:
            blocks.append(_CUT)
            break
        blocks.append(block)
    return "\n\n".join(blocks) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    others = document.get("machines", [])
    yield f"## Diagnosis: {document['verdict']}" if not others else "## Diagnosis"
    if document.get("left_out"):
        yield escape_text(document["problems"][0])
    if not document["kinds"]:
        yield "No supported dump and no known error message was found."
        return
    if others:
        yield f"### Machine 1: {document['verdict']}"
    yield from _machine(document)
    for number, other in enumerate(others, 2):
        yield f"### Machine {number}: {other['verdict']}"
        yield f"A separate machine, because {escape_text(other['differs'])}."
        yield from _machine(other)
    yield from _unread(document["not_understood"])


def _machine(document: Document) -> Iterator[str]:
    yield "Read: " + ", ".join(code_span(tool_name(kind)) for kind in document["kinds"])
    rows = list(_summary(document))
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])
    findings = [finding for finding in document["findings"] if finding["severity"] != "cannot-tell"]
    for finding in findings[:_MOST_FINDINGS]:
        yield from _finding(finding)
    if len(findings) > _MOST_FINDINGS:
        yield f"And {len(findings) - _MOST_FINDINGS} more findings."
    yield from _open_questions([finding for finding in document["findings"] if finding["severity"] == "cannot-tell"])


def _summary(document: Document) -> Iterator[str]:
    cards: dict[str, int] = {}
    for card in document["cards"]:
        cards[card["reported_name"]] = cards.get(card["reported_name"], 0) + 1
    for name, count in list(cards.items())[:8]:
        yield f"| card | {f'{count} × ' if count > 1 else ''}{escape_text(name, 120)} |"
    for name in _SUMMARY:
        value = document["facts"].get(name)
        if value is not None:
            yield f"| {code_span(name)} | {escape_text(str(value), 120)} |"


def _finding(finding: Document) -> Iterator[str]:
    yield f"**{finding['severity']}: {escape_text(finding['title'], 400)}**"
    if finding["explanation"]:
        yield escape_text(finding["explanation"])
    is_first = True
    for block in blocks_of(finding["advice"]):
        if block.typed:
            yield fence(block.typed, "sh")
        elif block.parts:
            text = "".join(code_span(part.text) if part.is_typed else _escape_spaced(part.text) for part in block.parts)
            yield f"What to do: {text}" if is_first else text
        is_first = is_first and not (block.typed or block.parts)
    if finding.get("similar"):
        yield "Similar messages, not the same: " + ", ".join(code_span(each["message"]) for each in finding["similar"])
    evidence = "; ".join(
        f"{code_span(name)} {escape_text(str(value), 200)}" for name, value in finding["evidence"].items()
    )
    yield "\n".join(filter(None, (f"- evidence: {evidence}" if evidence else "", f"- source: {_source(finding)}")))


def _escape_spaced(text: str) -> str:
    """As escape_text, with a space at either end where the text has one: it stands between commands."""
    before, after = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() else "")
    return f"{before}{escape_text(text)}{after}"


def _source(finding: Document) -> str:
    title, address = finding["source"]["title"], finding["source"]["url"]
    is_plain = re.fullmatch(r"https://[\w./~%?=&;,+:@#-]{4,300}", address)
    return f"[{escape_text(title, 200)}](<{address}>)" if is_plain else escape_text(title, 200)


def _open_questions(findings: Sequence[Document]) -> Iterator[str]:
    if findings:
        lines = [
            f"- {escape_text(finding['title'], 300)}"
            + (f": {code_span(finding['advice'])}" if finding["advice"] else "")
            for finding in findings[:_MOST_FINDINGS]
        ]
        yield "\n".join(["Not told by this text, with the command that tells:", "", *lines])


def _unread(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        more = len(lines) - _MOST_LINES
        rest = [f"and {more} more"] if more > 0 else []
        yield "Lines that were not understood:\n\n" + fence(
            "\n".join([*(line[:160] for line in lines[:_MOST_LINES]), *rest]), "text"
        )
