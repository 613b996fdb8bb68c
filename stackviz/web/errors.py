"""What the HTTP API answers when it refuses."""

from ninja import Schema
from ninja.errors import HttpError


class ErrorBody(Schema):
    """What is wrong, in words for people, and which parameter or field it is about, if it is about one."""

    error: str
    field: str | None = None


class Refused(HttpError):
    """A refusal that names the parameter it is about; the API's handler writes it as ErrorBody."""

    def __init__(self, status: int, error: str, field: str) -> None:
        super().__init__(status, error)
        self.field = field
