"""Reads a table of a dump back, from each of its formats, into the same rows."""

import csv
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from pyarrow import parquet

from stackviz.pages.data.formats import moment_text
from stackviz.pages.data.schema import ColumnSchema, TableSchema
from stackviz.web.http.download import safe_cell


def read(form: str, table: TableSchema, folder: Path) -> list[dict[str, Any]]:
    path = folder / f"{table.name}.{form}"
    return list({"jsonl": _json_lines, "csv": _csv, "parquet": _parquet}[form](table, path))


def _json_lines(_table: TableSchema, path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _csv(table: TableSchema, path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {column.name: _from_text(column, row[column.name]) for column in table.columns}


def _from_text(column: ColumnSchema, text: str) -> Any:
    if text == "":
        return None
    if text[0] == "'" and safe_cell(text[1:]) == text:  # the apostrophe that keeps a formula a text
        text = text[1:]
    kinds = {"integer": int, "number": float, "json": json.loads, "truth": lambda word: word == "true"}
    return kinds.get(column.type, str)(text)


def _parquet(table: TableSchema, path: Path) -> Iterator[dict[str, Any]]:
    for row in parquet.read_table(path).to_pylist():
        yield {column.name: _plain(column, row[column.name]) for column in table.columns}


def _plain(column: ColumnSchema, value: Any) -> Any:
    if column.type == "json" and value is not None:
        return json.loads(value)
    return moment_text(value) if isinstance(value, datetime) else value
