"""Bytes -> JSON document, refusing what JSON parsers quietly let through.

Refused: bytes that are not UTF-8, NaN and Infinity, a key named twice in one object, the NUL character and unpaired
surrogates (PostgreSQL stores neither), nesting deeper than LIMITS.depth. The common case costs one pass in C; only
when something is wrong a second, slow pass finds the place.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from stackviz.report.format.limits import LIMITS, ReportError, ReportTooLarge

__all__ = ["BODY", "check_tree", "decode"]

BODY = "body"
"""The path of an error about the bytes as a whole."""

_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NUMBERS = frozenset({int, float, bool})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class _Suspect(Exception):
    """The fast pass met something the slow pass must find."""


class _Constant:
    """Placeholder where NaN or an infinity was written."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Pairs(list[tuple[str, Any]]):
    """An object as written, repeated keys included."""


def decode(body: bytes | str) -> object:
    """The JSON document in a body; raises ReportError. Depth is checked by the reader of each part, see check_tree."""
    text = _text_of(body)
    if "\x00" in text:
        raise ReportError(BODY, "holds a NUL character")
    try:
        document: object = _FAST.decode(text)
    except _Suspect:
        _look_closely(text)
        raise AssertionError("the quick pass met something that the slow one did not find") from None
    except (ValueError, RecursionError) as error:
        _refuse(error)
    if "\\u" in text and _ESCAPE.search(text):
        _look_closely(text)
    return document


def check_tree(value: object, path: str, depth: int) -> None:
    """Refuse a value that is too deep, or holds a number or text no reader could keep. `depth`: of `value` itself.

    Values are met in the order written, parents first; no recursion, and no path is written down before it is needed.
    """
    names: list[str | int] = [path]
    waiting: list[Iterator[tuple[str | int, object]]] = [iter([(path, value)])]
    while waiting:
        for name, inner in waiting[-1]:
            names[-1] = name
            problem = _problem_with(inner, depth + len(waiting) - 1)
            if problem:
                raise ReportError(_path_of(names), problem)
            if isinstance(inner, dict | list | tuple) and inner:
                waiting.append(_members(inner, names))
                names.append("")
                break
        else:
            waiting.pop()
            names.pop()


def _path_of(names: Iterable[str | int]) -> str:
    path = ""
    for name in names:
        if isinstance(name, int):
            path += f"[{name}]"
        else:
            path += f".{name}" if path else name
    return path or BODY


def _text_of(body: bytes | str) -> str:
    if isinstance(body, str):
        if len(body) > LIMITS.body_bytes or len(body.encode(errors="surrogatepass")) > LIMITS.body_bytes:
            raise ReportTooLarge(BODY, f"is over {LIMITS.body_bytes} bytes")
        if _UNSTORABLE.search(body):
            raise ReportError(BODY, "holds a NUL character or an unpaired surrogate")
        return body
    if len(body) > LIMITS.body_bytes:
        raise ReportTooLarge(BODY, f"is {len(body)} bytes, over {LIMITS.body_bytes}")
    try:
        return str(body, "utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(BODY, f"is not UTF-8: byte {error.start}") from None


def _refuse(error: ValueError | RecursionError) -> NoReturn:
    if isinstance(error, json.JSONDecodeError):
        raise ReportError(BODY, f"is not JSON: {error.msg}, line {error.lineno} column {error.colno}") from None
    if isinstance(error, RecursionError):
        raise ReportError(BODY, f"is nested deeper than {LIMITS.depth}") from None
    raise ReportError(BODY, "holds an integer with too many digits") from None


def _look_closely(text: str) -> None:
    """Name the place of what the quick pass met; return if it was only text that looks like it."""
    try:
        document = _SLOW.decode(text)
    except (ValueError, RecursionError) as error:
        _refuse(error)
    check_tree(document, "", 1)


def _problem_with(value: object, level: int) -> str | None:
    if isinstance(value, dict | list | tuple):
        return f"is nested deeper than {LIMITS.depth}" if level > LIMITS.depth else None
    if isinstance(value, str):
        if len(value) > LIMITS.string_chars:
            return f"is {len(value)} characters long, over {LIMITS.string_chars}"
        return "holds a NUL character or an unpaired surrogate" if _UNSTORABLE.search(value) else None
    if isinstance(value, _Constant):
        return f"is {value.text}, which JSON does not have"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if abs(value) <= LIMITS.integer_max else "is an integer beyond 64 bits"
    if isinstance(value, float):
        return None if abs(value) <= LIMITS.number_max else "is not a finite number of ordinary size"
    return f"is a Python {type(value).__name__}, which JSON does not have"


def _members(
    container: "_Pairs | dict[Any, Any] | list[Any] | tuple[Any, ...]", names: list[str | int]
) -> Iterator[Any]:
    """(name or number, value) of what is inside, keys checked; `names` lead to it. Nothing where all is sound."""
    if isinstance(container, dict):
        _check_keys(container, names)
        return iter(container.items())
    if isinstance(container, _Pairs):
        _check_keys([name for name, _value in container], names)
        return iter(container)
    return iter(()) if _are_sound_numbers(container) else enumerate(container)


def _check_keys(keys: Iterable[Any], names: list[str | int]) -> None:
    seen: set[str] = set()
    for key in keys:
        if not isinstance(key, str):
            raise ReportError(_path_of(names), "has a key that is not text")
        if len(key) > LIMITS.name_chars or _UNSTORABLE.search(key):
            problem = f"has a key that is over {LIMITS.name_chars} characters or unprintable"
            raise ReportError(_path_of(names), problem)
        if key in seen:
            raise ReportError(_path_of([*names, key]), "is named twice")
        seen.add(key)


def _are_sound_numbers(numbers: "list[Any] | tuple[Any, ...]") -> bool:
    """Whether all are plainly numbers of ordinary size: a look by builtins in C, at millions of samples."""
    if not set(map(type, numbers)) <= _NUMBERS:
        return False
    return (
        max(numbers) <= LIMITS.integer_max and min(numbers) >= -LIMITS.integer_max and not any(map(math.isnan, numbers))
    )


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Suspect
    return members


def _no_constant(_text: str) -> NoReturn:
    raise _Suspect


_FAST = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant)
_SLOW = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_Constant)
