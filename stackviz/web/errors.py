"""What the HTTP API answers when it refuses."""

from http import HTTPStatus

from django.http import HttpRequest
from ninja import Schema
from ninja.errors import HttpError

from stackviz.web.forms import charset_of


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


def refuse_charset(request: HttpRequest, advice: str) -> None:
    """Raises Refusal for a body in another charset than UTF-8; `advice` says what to send."""
    if charset := charset_of(request):
        text = f"the charset {charset[:40]!r} is not read here: {advice}"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text, "Content-Type")
