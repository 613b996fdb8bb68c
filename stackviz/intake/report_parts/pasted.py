"""Pasted text, dropped files or a request body -> one text within limits, and the machines it tells of; or a refusal.

Sizes are checked before anything is read.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _

from stackviz.report.dumps import DumpedMachine, machines, mask_text
from stackviz.report.dumps.machines import is_in_words, telling, tool_name
from stackviz.report.importers import read_all
from stackviz.report.importers.deadline import Deadline, DeadlinePassed
from stackviz.report.importers.error_lines import read_question
from stackviz.report.importers.paste import NoText, decode_text, join_texts
from stackviz.web.http.at_once import COSTLY, Busy
from stackviz.web.http.rate_limit import DIAGNOSES, RateLimited, ask_to_wait, text_cost
from stackviz.web.i18n.finding_text import finding_words

MOST_KB = 1024  # eight times the longest of the dumps collected from issues: an nvidia-smi -q -x of 119 KB
MOST_BYTES = MOST_KB * 1024
MOST_FILES = 20
MOST_SECONDS = 1.5  # of work for one request's texts: a dump of 20 KB takes a hundredth of it, a log of 1 MB a tenth
MOST_MACHINES = 6  # of one text; side by side there are as many colours
_MOST_DRAINED = 32 * 1024 * 1024
_CHUNK = 64 * 1024


class Refused(Exception):
    """The text that was sent cannot be diagnosed. `problem` says why and what to do; `status` is the answer's.

    `field`: what in the request it is about.
    """

    def __init__(
        self, problem: str, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY, field: str | None = "text"
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.status = status
        self.field = field


def _too_big() -> Refused:
    problem = _("The text is larger than %(most)s KB. Send only the output of the commands.")
    return Refused(problem % {"most": MOST_KB}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


_PACKAGES = re.compile(r"^[A-Za-z0-9][\w.-]{0,80}(?:==| @ )\S", re.MULTILINE)
_INSPECTED_CHARS = 64 * 1024
_FEWEST_PACKAGES = 3


def _no_dump(text: str = "") -> Refused:
    """The refusal for a text in which nothing was recognised, and which names no program."""
    if _is_package_list(text):
        return Refused(
            _(
                "This is a list of packages without the system, the driver or the card. Add the output of "
                "python -m torch.utils.collect_env."
            )
        )
    return Refused(_("This is not the output of a supported tool. Paste the complete output of one of the tools."))


def _is_package_list(text: str) -> bool:
    return len(_PACKAGES.findall(text[:_INSPECTED_CHARS])) >= _FEWEST_PACKAGES


def _too_much_work() -> Refused:
    problem = _(
        "Reading was stopped after %(seconds)s s of work: the output of tools never takes so long. Nothing was found "
        "until then. Paste only what one or two commands printed."
    )
    return Refused(problem % {"seconds": MOST_SECONDS})


def _unreadable_output(tools: str, problems: Iterable[str]) -> Refused:
    """The refusal for output of a known tool that is truncated or empty."""
    problem = _("This looks like output of %(tool)s, but nothing in it could be read.") % {"tool": tools}
    return Refused(" ".join([problem, *map(_sentence, problems)]))


def _sentence(problem: str) -> str:
    """A problem as a sentence, without its prefix "nothing to read"."""
    problem = problem.removeprefix("nothing to read: ").rstrip(".")
    return f"{problem[:1].upper()}{problem[1:]}."


@dataclass(frozen=True, slots=True)
class Pasted:
    """At least one machine, and the lines that belong to none. `left_out`: kinds for which there was no time."""

    machines: tuple[DumpedMachine, ...]
    not_understood: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of dumps, each once, in the order of the text."""
        return tuple(dict.fromkeys(kind for machine in self.machines for kind in machine.kinds))

    @property
    def stopped(self) -> str:
        """That it was not read to the end, what was and what was not, and what to do; "" if it was read to the end."""
        if not self.left_out:
            return ""
        problem = _(
            "Reading was stopped after %(seconds)s s of work: the output of tools never takes so long. Read: %(read)s. "
            "Not looked for or not read: %(left)s. Paste only what one or two commands printed."
        )
        read, left = tool_label(self.kinds), tool_label(self.left_out)
        return problem % {"seconds": MOST_SECONDS, "read": read, "left": left}


def read_pasted(text: str, deadline: Deadline, *, may_be_hollow: bool = False, may_be_question: bool = False) -> Pasted:
    """What the text tells. Raises Refused where no known tool wrote any of it, or nothing in it could be read.

    `may_be_hollow`: that a dump tells nothing is an answer too; its problems say why. What was not read before the
    deadline is named in `left_out`. `may_be_question`: that a text names a program, and has no output of a tool, is an
    answer too.
    """
    paste = read_all(text, deadline)
    dumped = machines(paste)
    if not dumped and may_be_question and not _is_package_list(text) and (question := read_question(text)):
        dumped = machines(replace(paste, readings=(question,)))
    if not dumped:
        raise _too_much_work() if paste.left_out else _no_dump(text)
    readable = telling(dumped)
    if not readable and not may_be_hollow:
        raise _unreadable_output(tool_label(dumped[0].kinds), dumped[0].reading.problems)
    return Pasted(readable or dumped, paste.not_understood, paste.left_out)


def mask_pasted(text: str, deadline: Deadline) -> str:
    """The text without what names a person or a machine, and without secrets. Raises Refused if that takes too long."""
    try:
        return mask_text(text, deadline)
    except DeadlinePassed:
        raise _too_much_work() from None


def _check_size(request: HttpRequest) -> None:
    """Refuse a body that is too large, before it is parsed.

    It is read and forgotten, up to a bound: a browser shows no answer to a form that it could not send to its end.
    """
    stated = request.headers.get("Content-Length") or ("" if "Transfer-Encoding" in request.headers else "0")
    if not (stated.isascii() and stated.isdecimal()):
        problem = _("The request has no Content-Length. Send it with one, not chunked.")
        raise Refused(problem, HTTPStatus.BAD_REQUEST, "Content-Length")
    if int(stated) > (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_BYTES):
        _drain(request)
        raise _too_big()


def _drain(request: HttpRequest) -> None:
    left = _MOST_DRAINED
    try:
        while left > 0 and (chunk := request.read(_CHUNK)):
            left -= len(chunk)
    except (UnreadablePostError, OSError):
        return


def text_of_form(request: HttpRequest) -> str:
    """The fields `text` and all files of a form, one below the other. Raises Refused."""
    _check_size(request)
    try:
        texts, files = request.POST.getlist("text"), request.FILES
    except (RequestDataTooBig, TooManyFilesSent):
        raise _too_big() from None
    except (MultiPartParserError, TooManyFieldsSent, UnreadablePostError):
        problem = _("The form could not be read completely. Send it again.")
        raise Refused(problem, HTTPStatus.BAD_REQUEST, "body") from None
    sent = [file for _name, group in files.lists() for file in group if isinstance(file, UploadedFile)]
    if len(sent) > MOST_FILES:
        problem = _("More than %(most)s files were sent. Choose the files of one or two machines.")
        raise Refused(problem % {"most": MOST_FILES}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "files")
    return _joined([*texts, *_texts_of(sent)])


def _texts_of(files: "Iterable[UploadedFile[Any]]") -> Iterator[str]:
    left = MOST_BYTES
    for file in files:
        left -= file.size or 0
        if left < 0:
            raise _too_big()
        yield _decoded(file.read(), file.name or "")


def text_of_body(request: HttpRequest) -> str:
    """A body that is the text itself. Raises Refused."""
    _check_size(request)
    try:
        body = request.body
    except RequestDataTooBig:
        raise _too_big() from None
    except UnreadablePostError:
        problem = _("The request body was not received completely. Send it again.")
        raise Refused(problem, HTTPStatus.BAD_REQUEST, "body") from None
    if len(body) > MOST_BYTES:
        raise _too_big()
    return _joined([_decoded(body, "")])


def _decoded(content: bytes, name: str) -> str:
    try:
        return decode_text(content)
    except NoText:
        problem = (
            _("%(name)s is not text: it contains NUL bytes.") % {"name": name}
            if name
            else _("This is not text: it contains NUL bytes.")
        )
        message = " ".join([problem, _("Open it in an editor and paste its text.")])
        raise Refused(message, field="files" if name else "text") from None


def _joined(texts: Iterable[str]) -> str:
    """One text with the line ends of this system. Raises Refused when it is empty, too long, or no text."""
    whole = join_texts(texts)
    if not whole:
        raise Refused(_("There is nothing to read. Paste the output of one of the tools, or choose a file."))
    if len(whole) > MOST_BYTES or len(whole.encode(errors="replace")) > MOST_BYTES:
        raise _too_big()
    if "\x00" in whole:
        raise Refused(_("This is not text: it contains NUL bytes. Open the file in an editor and paste its text."))
    return whole


@dataclass(frozen=True, slots=True)
class ToolName:
    """`is_command`: typed unchanged, so that no language changes it."""

    text: str
    is_command: bool


def tools_of(kinds: Iterable[str]) -> tuple[ToolName, ...]:
    """The tools that write dumps of these kinds, each once."""
    names = dict.fromkeys(map(tool_name, kinds))
    return tuple(ToolName(finding_words(name), not is_in_words(name)) for name in names)


def tool_label(kinds: Iterable[str]) -> str:
    """The same in one line of text."""
    return ", ".join(tool.text for tool in tools_of(kinds))


# How much reading a client may cause in a minute: counted by length before, by work after.


FREE_S = 0.3  # of work that a request's texts pay for by their length; the page drawn from them is in it
_WORK_A_REQUEST_S = 0.05


@contextmanager
def paced(request: HttpRequest, text: str, *, paid: int = 0) -> Iterator[Deadline]:
    """Count reading this text as its length says, and afterwards as the work was more. Raises RateLimited, Busy.

    -> the deadline for all that is done with it. `paid`: what of it was counted already.
    """
    cost = text_cost(text)
    if cost > paid:
        DIAGNOSES.count(request, cost - paid)
    with COSTLY.slot():
        deadline = Deadline(MOST_SECONDS)
        try:
            yield deadline
        finally:
            if (more := work_cost(deadline.spent_s) - cost) > 0:
                DIAGNOSES.add(request, more)


def refused_for_now(limited: RateLimited) -> Refused:
    """Return the same as the problem that a form shows at the text."""
    if isinstance(limited, Busy):
        problem = _("The site is busy with other texts. Try again in %(seconds)s seconds.")
    else:
        problem = _("Too many texts came from this address. Try again in %(seconds)s seconds.")
    return Refused(problem % {"seconds": limited.retry_after_s}, HTTPStatus.TOO_MANY_REQUESTS, None)


Answer = Callable[[HttpRequest, str, Deadline], HttpResponse]
Refuse = Callable[[HttpRequest, Refused, str], HttpResponse]


def answer_pasted(request: HttpRequest, answer: Answer, refuse: Refuse) -> HttpResponse:
    """Return the answer to the text that was sent, or the page on which `refuse` says why there is none.

    `refuse` gets the text, which stays in its form; "" where it could not be read.
    """
    text = ""
    try:
        text = text_of_form(request)  # before it is counted, so that who has to wait keeps what was pasted
        with paced(request, text) as deadline:
            return answer(request, text, deadline)
    except Refused as refused:
        return refuse(request, refused, text)
    except RateLimited as limited:
        return ask_to_wait(refuse(request, refused_for_now(limited), text), limited)


def work_cost(spent_s: float) -> int:
    """As how many requests so much work counts; 0 for what usual texts take."""
    return 0 if spent_s < FREE_S else round(spent_s / _WORK_A_REQUEST_S)
