"""What the HTTP API answers when it refuses. Imports Ninja only."""

from ninja import Schema


class ErrorBody(Schema):
    """What is wrong, in words for people, and which parameter or field it is about, if it is about one."""

    error: str
    field: str | None = None
