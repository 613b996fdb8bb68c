"""What the API's OpenAPI document states beyond types: which texts a field may be, which operation follows another.

The parsers that pages and the API share take texts and refuse in their own words; so the types of parameters stay `str`
and the document says here what the parser reads. tests/api holds the two together.
"""

from collections.abc import Callable, Iterable
from typing import Any

Schema = dict[str, Any]


def one_of(values: Iterable[str]) -> Schema:
    """A text that is one of these."""
    return {"type": "string", "enum": [*values]}


def none_or_one_of(values: Iterable[str]) -> Schema:
    """One of these; an empty text is a parameter that is not given."""
    return one_of(("", *values))


def written_as(**schema: Any) -> Callable[[Schema], None]:  # noqa: ANN401 (JSON)
    """A text with another schema, such as that of a number. An empty default, which no number is, is left out."""

    def write(written: Schema) -> None:
        if written.get("default") == "":
            del written["default"]
        written.update(schema)

    return write


def whole_number_schema(low: int, high: int) -> Callable[[Schema], None]:
    """Digits of a number from `low` to `high`."""
    return written_as(type="integer", minimum=low, maximum=high)


def links(status: int, *following: Schema) -> Schema:
    """For `openapi_extra`: where an answer of this status leads, as `link` writes it."""
    return {"responses": {status: {"links": {each["operationId"].rpartition("_api_")[2]: each for each in following}}}}


def link(operation_id: str, **parameters: str) -> Schema:
    """To an operation with parameters that are in the answer: `slug="/items/0/slug"`, a JSON pointer."""
    pointers = {name: f"$response.body#{pointer}" for name, pointer in parameters.items()}
    return {"operationId": operation_id, "parameters": pointers}
