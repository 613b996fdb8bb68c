r"""Text that stands as literals in something else: a notebook's lines, a program's string, a terminal recording.

Only what is certain is undone: lines in quotes that end in \n, one line with several \n that names a tool's output.
"""

import re
from collections.abc import Iterable

__all__ = ["unquote"]

_QUOTED = re.compile(
    r"[ \t]{0,80}[frbu]{0,2}(?P<mark>[\"'])"
    r"(?P<text>(?:[^\"'\\\n]|\\.|(?!(?P=mark))[\"']){0,2000})(?P=mark)"
    r"[ \t]{0,8}[,\\+)\]]{0,2}[ \t]{0,8}$"
)
_RECORDED = re.compile(r'\[\d{1,9}(?:\.\d{1,9})?, ?"o", ?("(?:[^"\\]|\\.){0,20000}")\]$')
_TELLING = ("NVIDIA-SMI", "NVSMI LOG", "PyTorch version", "| model ", "GPU0", "Chipset Model", "nvidia_smi_log")
_ESCAPES = re.compile(r"\\(?:([ntr\\\"'/])|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}
_LEAST_LINES = 3
_LEAST_BREAKS = 3


def unquote(text: str) -> str:
    """The text with such literals undone; what is no literal stays where it is."""
    if '"o"' in text:
        text = _recording(text)
    if "\\n" not in text:
        return text
    return _one_line_literals(_quoted_lines(text))


def _recording(text: str) -> str:
    """What an asciinema recording shows, in one piece."""
    lines = text.split("\n")
    shown = [match for match in map(_RECORDED.match, lines) if match]
    if len(shown) < _LEAST_LINES or len(shown) * 2 < len(lines):
        return text
    return "".join(_unescaped(match[1][1:-1]) for match in shown).replace("\r\n", "\n")


def _quoted_lines(text: str) -> str:
    r"""Runs of lines in quotes, most of which end in \n, as notebooks and programs keep what was printed."""
    if text.count("\\n") < _LEAST_LINES:
        return text
    out: list[str] = []
    run: list[tuple[str, re.Match[str]]] = []
    for line in text.split("\n"):
        match = _QUOTED.match(line) if len(line) < 2200 and line.lstrip()[:1] in "\"'frbu" else None
        if match and (match["text"].endswith("\\n") or run):
            run.append((line, match))
            continue
        out += _undone(run)
        run = []
        out.append(line)
    return "\n".join([*out, *_undone(run)])


def _undone(run: list[tuple[str, re.Match[str]]]) -> Iterable[str]:
    if len(run) < _LEAST_LINES or sum(match["text"].endswith("\\n") for _line, match in run) * 2 < len(run):
        return [line for line, _match in run]
    return "".join(_unescaped(match["text"]) for _line, match in run).removesuffix("\n").split("\n")


def _one_line_literals(text: str) -> str:
    if text.count("\\n") < _LEAST_BREAKS or not any(mark in text for mark in _TELLING):
        return text
    return "\n".join(_broken(line) if line.count("\\n") >= _LEAST_BREAKS else line for line in text.split("\n"))


def _broken(line: str) -> str:
    if not any(mark in line for mark in _TELLING):
        return line
    return _unescaped(line)


def _unescaped(literal: str) -> str:
    return _ESCAPES.sub(_escape, literal)


def _escape(match: re.Match[str]) -> str:
    if match[1]:
        return _PLAIN.get(match[1], match[1])
    code = int(match[2] or match[3], 16)
    return "" if 0xD800 <= code <= 0xDFFF else chr(code)  # half a character is none
