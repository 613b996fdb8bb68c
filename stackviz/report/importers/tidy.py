"""Taking off what wraps a pasted dump: carriage returns, terminal escapes, quote marks, fences, log prefixes, markup.

Each step looks first whether its wrapping is there at all, so that a clean dump costs a few searches and is returned
as it was.
"""

import html
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from stackviz.report.importers.deadline import NEVER, Deadline

__all__ = ["tidy"]


def tidy(text: str, deadline: Deadline = NEVER) -> str:
    """The text as the tool printed it, as far as possible and as far as time is left. Never longer than before."""
    for step in _STEPS:
        if deadline.is_over:
            break
        text = step(text)
    return text


# ---- characters -----------------------------------------------------------------------------------------------------

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\-_=>78])"
)
_BARE_ESCAPE = re.compile(r"(?:\\x1b|\\033|\\u001b|\\e|\^\[|\u241b|\ufffd)?\[(?:\d{1,3}(?:;\d{1,3}){0,6}m|m(?!\w))")
"""`[metal::malloc]` is none of them."""

_MOJIBAKE = re.compile(
    "[\xc2-\xf4][\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
)
"""A byte that begins a character of UTF-8 and one that goes on with it, each read as a letter of a code page."""
_FULL_WIDTH = str.maketrans({"\xa0": " ", "\uff1a": ":", "\uff1d": "=", "\uff08": "(", "\uff09": ")"})
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")


def _decode(text: str) -> str:
    """Without byte order marks, and without the zero bytes of UTF-16 read as single bytes."""
    if "\x00" in text[:4096] and text.count("\x00") * 3 >= len(text):
        text = text.replace("\x00", "").removeprefix("\xff\xfe").removeprefix("\xfe\xff").removeprefix("\ufffd\ufffd")
    return text.removeprefix("\ufeff").removeprefix("\xef\xbb\xbf")


def _plain_blanks(text: str) -> str:
    """Without marks that nobody sees; full-width signs of Chinese keyboards as what tools print."""
    return text if text.isascii() else _INVISIBLE.sub("", text).translate(_FULL_WIDTH)


_JOINED = re.compile(r"(?<=information\.\.)\.[ \t]?(?=PyTorch version)")


def _parted_head(text: str) -> str:
    """`Collecting environment information...PyTorch version: 2.6.0` on two lines, as collect_env prints it."""
    return _JOINED.sub("\n", text) if "information...PyTorch" in text or "information... PyTorch" in text else text


def _drop_escapes(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "[0m" in text or "[m" in text:
        text = _BARE_ESCAPE.sub("", text)
    return text


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _repair(text: str) -> str:
    """UTF-8 that was read as a Windows code page. Only where a whole line proves it: its bytes are valid UTF-8."""
    if text.isascii() or not _MOJIBAKE.search(text):
        return text
    return "\n".join(_repaired(line) if _MOJIBAKE.search(line) else line for line in text.split("\n"))


def _repaired(line: str) -> str:
    try:
        return b"".join(map(_byte, line)).decode("utf-8")
    except ValueError:  # no byte has this character, or the bytes are no UTF-8
        return line


def _byte(letter: str) -> bytes:
    if letter < "\u0100":
        return bytes([ord(letter)])
    return letter.encode("cp1252")


# ---- markup ---------------------------------------------------------------------------------------------------------

_TAG = re.compile(
    r"</?(?:pre|code|samp|tt|kbd|span|font|blockquote|details|summary|b|i|em|strong)(?:\s[^<>]{0,200})?>", re.IGNORECASE
)
_BREAK = re.compile(r"<br ?/?>\n?|</?(?:p|div)(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:pre|code|br|div|span|details|blockquote)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,5}|#x[0-9A-Fa-f]{1,4});")
_XML = re.compile(r"<\?xml|<nvidia_smi_log|<plist")


def _drop_markup(text: str) -> str:
    """HTML around a dump. XML is left alone: its entities belong to it."""
    if "&" not in text and "<" not in text:
        return text
    if _XML.search(text):
        return text
    if "<" in text and _MARKUP.search(text):
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return _ENTITY.sub(lambda entity: _character(entity[0]), text) if "&" in text else text


@lru_cache(maxsize=256)  # a page has the same few, thousands of times
def _character(entity: str) -> str:
    return " " if entity == "&nbsp;" else html.unescape(entity)


# ---- line beginnings ------------------------------------------------------------------------------------------------
# Patterns begin with the line end before: a search for one character is quick.

_QUOTE = re.compile(r"\n[ \t]{0,3}>(?:[ \t]?>){0,9} ?")
_JOB_AND_STEP = r"(?:[^\t\n]{1,80}\t[^\t\n]{1,80}\t)?"  # as `gh run view --log` puts them
_STAMPS = (
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?![\d,;])"
    r"|\[(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]"
    r"|\[ {0,6}\d{1,7}\.\d{6}\]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,7}\])?:"
    r")(?:[ \t]|(?=\n))"
)
_STAMP = re.compile(rf"\n{_STAMPS}")
_STAMP_OF_JOB = re.compile(rf"\n{_JOB_AND_STEP}{_STAMPS}")
_BEGINS_WITH_A_STAMP = re.compile(
    r"\n(?:\d{4}-\d\d|\[ {0,6}\d|[^\t\n]{1,80}\t[^\t\n]{1,80}\t\d{4}-|[A-Z][a-z]{2} [ \d]\d \d\d:)"
)
_FENCE = re.compile(r"\n[ \t]{0,8}(?:`{3,8}|~{3,8})(?:[\w+-]{0,20}[ \t]{0,20}(?=\n)|)")
_PROMPT = re.compile(
    r"\n(?:\([\w.-]{1,40}\) )?(?:\$ )?(?:"
    r"[\w.-]{1,40}@[\w.-]{1,80}(?:: ?|\s)[^\s$#%>|]{0,120} ?[$#%]"
    r"|[$%]"
    r"|(?:PS )?[A-Za-z]:\\[^>\n|]{0,160}>"
    r"|>>>|In \[\d{1,4}\]:"
    r") ?(?=[A-Za-z./(!])"
)
_MARK_LEAST = 3


def _drop_beginnings(text: str) -> str:
    """Quote marks, time stamps, fences and prompts, in the order in which they are put on a dump's lines."""
    text = f"\n{text}"
    if text.count("\n>") + text.count("\n >") >= _MARK_LEAST:
        text = _QUOTE.sub("\n", text)
    if _BEGINS_WITH_A_STAMP.search(text):
        text = (_STAMP_OF_JOB if "\t" in text else _STAMP).sub("\n", text)
    if "```" in text or "~~~" in text:
        text = re.sub(r"`{3,8}(?=\n|$)", "", _FENCE.sub("\n", text))
    return _PROMPT.sub("\n", text)[1:] if _has_prompt(text) else text[1:]


def _has_prompt(text: str) -> bool:
    return any(mark in text for mark in ("$", "%", "# ", ":\\", ">>>", "\nIn ["))


_LINES_THAT_TELL = 5_000


def _dedent(text: str) -> str:
    """Without the blanks that every line begins with: a dump quoted as code, or from a literal of a program."""
    if not text.startswith((" ", "\t", "\n")):
        return text
    margin: str | None = None
    for line in text.split("\n", _LINES_THAT_TELL)[:_LINES_THAT_TELL]:
        if stripped := line.lstrip(" \t"):
            blanks = line[: len(line) - len(stripped)]
            margin = blanks if margin is None else _shared(margin, blanks)
            if not margin:
                return text
    return text.removeprefix(margin).replace(f"\n{margin}", "\n") if margin else text


def _shared(text: str, other: str) -> str:
    if other.startswith(text):
        return text
    length = next(
        (at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )
    return text[:length]


# ---- literals of something else: a notebook's lines, a program's string, a terminal recording -----------------------
# Only what is certain is undone: lines in quotes that end in \n, one line with several \n that names a tool's output.

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


def _unquote(text: str) -> str:
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


# ---- what is left ---------------------------------------------------------------------------------------------------

_MOST_BLANKS = 256
_BLANKS = re.compile(rf"(?<![ \t])[ \t]{{{_MOST_BLANKS}}}[ \t]+")
_SAMPLED = 32  # one of so many characters: of a row that is too long, at least eight
_MANY_BLANKS = re.compile(rf"[ \t]{{{_MOST_BLANKS // _SAMPLED}}}")


def _short_blanks(text: str) -> str:
    """No more blanks in a row than a wide table has: a pattern that may end at many places passes them from each."""
    if not _MANY_BLANKS.search(text[::_SAMPLED]):
        return text
    return _BLANKS.sub(lambda blanks: blanks[0][:_MOST_BLANKS], text)


_STEPS: tuple[Callable[[str], str], ...] = (
    _decode,
    _one_line_end,
    _unquote,
    _drop_escapes,
    _repair,
    _plain_blanks,
    _parted_head,
    _drop_markup,
    _drop_beginnings,
    _one_line_end,
    _dedent,
    _short_blanks,
)
