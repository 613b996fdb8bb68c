"""Messages with meaning and causes in a table, and codes that a table sorts by kind. Standard library only."""

from collections.abc import Collection, Mapping
from typing import cast

from stackviz.report.messages.symptom import Cause, SeverityName, Symptom, table_rows

__all__ = ["code_members", "table_symptoms"]

Wording = tuple[tuple[str, ...], tuple[str, ...]]
"""Patterns and anchors."""


def table_symptoms(name: str, wordings: Mapping[str, Wording], general: Collection[str] = ()) -> dict[str, Symptom]:
    """Return the messages of a table by their keys. A row without a message is a further cause of the one above.

    Those without a wording are members of a family. `general`: keys of those that give way to others.
    """
    groups: list[list[dict[str, str]]] = []
    for row in table_rows(name):
        if row["message"]:
            groups.append([])
        groups[-1].append(row)
    return {
        rows[0]["key"]: _symptom(rows, wordings.get(rows[0]["key"], ((), ())), is_general=rows[0]["key"] in general)
        for rows in groups
    }


def _symptom(rows: list[dict[str, str]], wording: Wording, *, is_general: bool) -> Symptom:
    first = rows[0]
    patterns, anchors = wording
    return Symptom(
        key=first["key"],
        message=first["message"],
        patterns=patterns,
        anchors=anchors,
        component=first["component"],
        severity=cast("SeverityName", first["severity"] or "broken"),
        meaning=first["meaning"],
        causes=tuple(Cause(text=row["cause"], sign=row["sign"], remedy=row["remedy"]) for row in rows),
        ask=first["ask"],
        rules=tuple(first["rules"].split()),
        is_general=is_general,
        source_title=first["source_title"],
        source_url=first["source_url"],
    )


def code_members(name: str, by_key: Mapping[str, Symptom], columns: Collection[str]) -> dict[str, Symptom]:
    """Return the message of each code in these columns of a table, whose column `key` names it.

    A code without a key is of a message that is read by itself, or of no error.
    """
    return {
        row[column].lower(): by_key[row["key"]]
        for row in table_rows(name)
        if row["key"]
        for column in columns
        if row[column]
    }
