"""What the HTTP API and files answer when they refuse."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from ninja import Schema
from ninja.errors import HttpError

from stackviz.web.http.address import Note


class ErrorBody(Schema):
    """What is wrong, in words for people, and which parameter or field it is about, if it is about one."""

    error: str
    field: str | None = None


class Refusal(HttpError):
    """An answer other than yes, which the API writes as ErrorBody.

    `field`: the parameter, field or header it is about; `retry_after_s`: only where waiting helps.
    """

    def __init__(self, status: int, error: str, field: str | None = None, retry_after_s: int | None = None) -> None:
        super().__init__(status, error)
        self.field = field
        self.retry_after_s = retry_after_s


def refuse_notes(notes: Sequence[Note]) -> HttpResponse:
    """The first of what an address has wrong: whoever asks for a file does not see notes on a page."""
    note = notes[0]
    error = note.problem
    if note.choices:
        error = _("%(problem)s; choose %(choices)s") % {"problem": error, "choices": ", ".join(note.choices)}
    return JsonResponse({"error": error, "field": note.parameter}, status=422)


def refuse_others(request: HttpRequest, known: set[str] | frozenset[str]) -> None:
    """Raise Refusal for parameters that this endpoint does not have."""
    for name in sorted(set(request.GET) - known):
        raise Refusal(422, f"unknown parameter {name[:40]!r}", name[:40])
