"""Pasted text -> what an importer reads in it, or why not, in words for whoever pasted it. No database, no request."""

from http import HTTPStatus

from django.utils.translation import gettext as _

from stackviz.importers import Reading, read_all

MOST_KB = 256  # twice the longest of the dumps collected from issues: an nvidia-smi -q -x of 119 KB
_MOST_BYTES = MOST_KB * 1024


class Refused(Exception):
    """Nothing can be shown for this text. `problem` says why and what to do; `status` is the answer's."""

    def __init__(self, problem: str, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
        super().__init__(problem)
        self.problem = problem
        self.status = status

    @property
    def is_too_big(self) -> bool:
        return self.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def too_big() -> Refused:
    problem = _("The text is longer than %(most)s KB. Paste the output of one command, without what came before it.")
    return Refused(problem % {"most": MOST_KB}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


def read_pasted(text: str) -> Reading:
    """What the text tells. Raises Refused when it is empty, too long, no text, or from no tool that is known here."""
    if len(text) > _MOST_BYTES or len(text.encode(errors="replace")) > _MOST_BYTES:
        raise too_big()
    if not text.strip():
        raise Refused(_("There is no text yet. Paste the output of one of the commands below."))
    if "\x00" in text:
        raise Refused(
            _("This is not text: there are NUL bytes in it. Open the file in an editor and paste what it shows.")
        )
    reading = next(iter(read_all(text).readings), None)
    if reading is None:
        if "| NVIDIA-SMI" in text:
            raise Refused(_("This is the short table of nvidia-smi. Paste what nvidia-smi -q -x prints: it says all."))
        raise Refused(_("No tool that is known here wrote this. Paste all that one of the commands below printed."))
    if not (reading.facts or reading.cards or reading.software):
        problem = _("This looks like %(tool)s, and nothing in it could be read.") % {"tool": reading.kind}
        raise Refused(" ".join([problem, *(f"{said}." for said in reading.problems)]))
    return reading
