"""The one line of a text that reports an error and that no message explains: its form tells, not its words.

Of a traceback the exception at its end, of a build or a log the first line that complains. Where it is known, the
program that it is of.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.messages import find_messages, quote_line
from stackviz.report.importers.reading import Reading, without_digits
from stackviz.report.messages.named_programs import NAMED_PROGRAMS, program_in

__all__ = ["IMPORTER", "KIND", "QUESTION", "read_question", "state_program_around"]

KIND = "error-line"
QUESTION = "question"  # the kind of a text that names a program, and has neither an error nor output
_MOST_LINES = 3_000  # that differ in more than digits, from the begin of the text and from its end
_LONGEST_LINE = 600
_LONGEST_TRACEBACK = 60  # lines above an exception that are its own
_MOST_VAGUE = 200  # lines that only may be errors
_INSPECTED = 16 * 1024  # characters around the line in which its program may be named


class _Form(IntEnum):
    """How certainly a line is an error, and the one that its text is about."""

    NAMES_FAILURE = 1  # "failed", "cannot", "unable to", in a line of a program that is known
    ERROR = 2  # "error:", "[ERROR]", "E0215 12:33"
    FATAL = 3  # a crash, a kernel's BUG, an error of a GPU's interface
    WRAPPER = 4  # an exception that only says that another process failed
    EXCEPTION = 5


_RAISED = re.compile(
    r"(?:Error|Exception|Failure|Fault|Exit|Interrupt|NotFound|OutOf[A-Z]\w{2,20})(?:: (?P<reason>\S)|:?$)"
)
_CLASS = re.compile(r"(?P<before>^|[\s\]):])(?:[A-Za-z_]\w{0,60}\.){0,6}(?:[A-Z]\w{0,60})?$")
"""The name of an exception up to its last word, and what stands before it."""
_WRAPPER = re.compile(
    r"CalledProcessError|ChildFailedError|SystemExit|KeyboardInterrupt|EngineDeadError|RayTaskError|ProcessRaisedException"
    r"|See root cause above|See stack trace|initialization failed|Error compiling objects|subprocess-exited-with-error"
    r"|non-zero exit status|exited with code|Error building extension|Failed to build installable wheels",
    re.IGNORECASE,
)
_FATAL = re.compile(
    r"(?i:\b(?:CUDA|HIP|cuDNN|cuBLAS|NCCL|NVML|Metal|SYCL|UR|OpenCL|Vulkan|MIOpen|rocBLAS|TensorRT)"
    r"(?: driver| runtime)? (?:error|failure)\b)"
    r"|\bNVRM: .{0,200}(?:(?i:fail|error|unable|cannot|unknown|not ))|\*ERROR\*|\bBUG: |\bOops\b"
    r"|kernel panic|\bpanic(?::|ked at)|^fatal(?: error)?[ :]|\bFATAL\b|terminate called|Segmentation fault"
    r"|core dumped|GPU (?:HANG|reset|fault|lost)|\b(?:SIGSEGV|SIGABRT|SIGILL|SIGBUS)\b|Illegal instruction|Bus error"
    r"|(?i:assertion .{0,200}failed)|GGML_ASSERT|\(Code \d{1,2}\)|0x[cC]0000\w{3}\b|Faulting module"
    r"|(?i:procedure entry point|could not be located in the dynamic link|was not found\. Reinstalling"
    r"|has stopped (?:working|responding|this device)|stopped responding)|symbol lookup error"
    r"|\b[A-Z]{2,8}_(?:RESULT_|STATUS_)?ERROR_\w+|\bCL_\w+_FAILURE\b|ErrorDeviceLost|DEVICE_LOST"
)
_ERROR = re.compile(
    r"(?:^|[\s\[(|>\"'])(?:[Ee]rror|ERROR|ERR|CRITICAL|错误|报错)"
    r"(?:\[\w{1,12}\]|\]| [A-Z]{1,4}\d{2,5}| \d{1,6})?(?:: ?\S|\] ?\S)"
    r"|(?:^|\s)ERROR\b|\[E\]|(?:^|\s)[EF]\d{4} \d\d:\d\d|(?i:level\"?[=:]\"?(?:error|fatal))"
    r"|[Ee]rror response from daemon|\w[Ee]rror: \S|错误[:：]|失败[:：]"
)
_FAILURE = re.compile(
    r"\b(?:failed|failure|cannot|can't|could not|couldn't|unable to|no such|not found|not supported|unsupported|denied"
    r"|refused|invalid|mismatch|incompatible|timed out|timeout|aborted|missing|out of memory|insufficient|crashed|hung"
    r"|lost)\b|失败|无法",
    re.IGNORECASE,
)
_LIKELY = re.compile(
    r"fail|cannot|can't|could|unable|no such|not |unsupported|denied|refused|invalid|mismatch|incompatible|timed out"
    r"|timeout|abort|missing|out of|insufficient|crashed|hung|lost|失败|无法|错误|报错|error|exception|fatal|panic"
    r"|bug: |oops|terminate|fault|dumped|hang|assert|\(code |0xc000|sig|exit|interrupt|\[err|critical|illegal|stopped"
    r"|[ef]\d{4}|\[e\]|reset"
)
"""Of lines in lower case: what each that one of the patterns above matches has."""
_NOISE = re.compile(
    r"\bnpm (?:ERR!|error|warn)|\b(?:no|0|zero|without|any) errors?\b"
    r"|\berrors?\s{0,40}[:=]\s{0,4}(?:0|none|no|null|n/a|false|success)(?:$|[,;|}])"
    r"|Warning: |\bWARNING\b|\[W\]|\b(?:INFO|DEBUG)\b.{0,60}\berror(?: rate|_rate|s)?[ =:]|error[_ ](?:rate|bars?)"
    r"|\bECC\b|[Cc]orrectable|raise [A-Z]\w+|^\s{0,40}(?:except|if|def|return|assert|import|from|#|//)\b|\*\*\*"
    r"|During handling of the above|direct cause of the following|NO_ERROR|[Cc]ould not collect|^\"detail\""
    r"|^https?://\S+$|\?\s*$|\"\"\"",
)
"""npm's own complaints, counters, warnings and lines of a program's source."""


@dataclass(frozen=True, slots=True)
class _ErrorLine:
    """One line with the form of an error, and where it lies."""

    form: _Form
    span: Span
    line: str


def find_error_line(text: str) -> list[Span]:
    """Where the line that matters most lies, with the traceback above it; nothing where messages explain it."""
    lines = list(_error_lines(text))
    if not lines:
        return []
    spans = find_messages(text)
    exceptions = [line for line in lines if line.form is _Form.EXCEPTION]
    if exceptions and _is_explained(exceptions[-1], spans):
        return []
    left = [line for line in lines if not _is_explained(line, spans)]
    chosen = _telling(left)
    return [_with_traceback(text, chosen)] if chosen else []


def _telling(lines: Sequence[_ErrorLine]) -> _ErrorLine | None:
    """The last exception; else the first line of the most certain form: what comes after it follows from it."""
    exceptions = [line for line in lines if line.form is _Form.EXCEPTION]
    if exceptions:
        return exceptions[-1]
    certain = [line for line in lines if line.form in (_Form.ERROR, _Form.FATAL)]
    if certain:
        return max(certain, key=lambda line: line.form)
    vague = (line for line in lines[:_MOST_VAGUE] if line.form is _Form.NAMES_FAILURE and program_in(line.line))
    wrappers = [line for line in lines if line.form is _Form.WRAPPER]
    return next(vague, wrappers[-1] if wrappers else None)


_ANSWER = 1_200  # characters below the name of an exception in which its message may go on


def _is_explained(error: _ErrorLine, spans: Sequence[Span]) -> bool:
    """Whether a message lies in the line, or, of an exception, in the lines that go on with it."""
    end = error.span.end + (_ANSWER if error.form >= _Form.WRAPPER else 0)
    return any(span.start <= end and error.span.start <= span.end for span in spans)


def _error_lines(text: str) -> Iterator[_ErrorLine]:
    """Each different line with the form of an error, in the order of the text; of equal ones the last."""
    different: dict[str, tuple[int, str]] = {}
    at = 0
    for line in text.split("\n"):
        short = line[:_LONGEST_LINE]
        key = without_digits(short)
        different.pop(key, None)
        different[key] = (at, short)
        at += len(line) + 1
    lines = list(different.values())
    for start, line in (*lines[:_MOST_LINES], *lines[max(_MOST_LINES, len(lines) - _MOST_LINES) :]):
        if form := _form_of(line.strip()):
            yield _ErrorLine(form, Span(start, start + len(line)), line.strip())


def _form_of(line: str) -> _Form | None:
    if not _LIKELY.search(line.lower()):
        return None
    form = _exception_form(line) or _other_form(line)
    return None if form and _NOISE.search(line) else form


def _exception_form(line: str) -> _Form | None:
    """Of `ValueError: text`, behind a log's prefix too, and of a line that is nothing but the name of an exception."""
    for match in _RAISED.finditer(line):
        name = _CLASS.search(line[: match.start()])
        if name and (match["reason"] or name.start() == 0):
            return _Form.WRAPPER if _WRAPPER.search(line) else _Form.EXCEPTION
    return None


def _other_form(line: str) -> _Form | None:
    if _FATAL.search(line):
        return _Form.FATAL
    if _ERROR.search(line):
        return _Form.WRAPPER if _WRAPPER.search(line) else _Form.ERROR
    return _Form.NAMES_FAILURE if _FAILURE.search(line) else None


_OF_TRACEBACK = re.compile(r"\s|Traceback \(most recent call last\)|\S{0,80}\s{0,8}File \"")


def _with_traceback(text: str, error: _ErrorLine) -> Span:
    start = error.span.start
    if error.form < _Form.WRAPPER:
        return error.span
    for _ in range(_LONGEST_TRACEBACK):
        above = text.rfind("\n", 0, max(0, start - 1)) + 1
        line = text[above : max(0, start - 1)]
        if not start or not _OF_TRACEBACK.match(line):
            break
        start = above
        if line.startswith("Traceback"):
            break
    return Span(start, error.span.end)


_FRAME = re.compile(r"(?:site|dist)-packages[/\\](\w{1,60})")


def read_error_line(text: str) -> Reading:
    """Never raises. The line at the end of this piece, without what names a person or a machine, and whose it is.

    Its program is the one that it names, or that of the package in which the traceback ends: what narrows more.
    """
    reading = Reading(kind=KIND)
    line = text.rstrip().rpartition("\n")[2][:_LONGEST_LINE]
    reading.sheet.state("message.unexplained", quote_line(line) or None)
    of_package = next(filter(None, map(program_in, reversed(_FRAME.findall(text)))), None)
    named = [program for _name, program in filter(None, (program_in(line), of_package))]
    program = min(named, key=NAMED_PROGRAMS.index, default=None)
    reading.sheet.state("message.program", program.key if program else None)
    return reading


def state_program_around(reading: Reading, text: str, span: Span) -> None:
    """State the program that the text around an error line names, where the line itself names none."""
    around = text[max(0, span.start - _INSPECTED) : span.end + _INSPECTED]
    if "message.program" not in reading.facts and (program := program_in(around)):
        reading.sheet.state("message.program", program[1].key)
        reading.sheet.state("message.program_word", program[0])


def read_question(text: str) -> Reading | None:
    """Return the program that a text names in which nothing was recognised; None for one that names none."""
    program = program_in(text[: 4 * _INSPECTED])
    if program is None:
        return None
    reading = Reading(kind=QUESTION)
    reading.sheet.state("message.program", program[1].key)
    reading.sheet.state("message.program_word", program[0])
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="an error that no rule explains",
    tells="the line itself, and which program it is of",
    trust=10,
    find=find_error_line,
    read=read_error_line,
    is_typed=True,
)
