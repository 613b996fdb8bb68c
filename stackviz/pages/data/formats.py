"""The formats of a table: JSON Lines, CSV and Parquet, written side by side in chunks of rows. No database.

pyarrow is optional, and imported when the first Parquet file is written, so web processes never load it.
"""

import csv
import json
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from stackviz.pages.data.schema import ColumnSchema, TableSchema
from stackviz.web.http.download import safe_cell

Row = tuple[Any, ...]
FORMATS = {"jsonl": "JSON Lines", "csv": "CSV", "parquet": "Parquet"}
CONTENT_TYPES = {
    "jsonl": "application/jsonl; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}


def written_formats() -> dict[str, str]:
    """FORMATS without Parquet where pyarrow is not installed."""
    return {form: name for form, name in FORMATS.items() if form != "parquet" or find_spec("pyarrow")}


def moment_text(moment: datetime) -> str:
    """`2026-11-20T16:00:00.000000Z`: fixed length, so that texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def compact_json(value: object) -> str:
    """JSON on one line, in ASCII: a report may contain a lone surrogate, which UTF-8 cannot encode."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


class Writer(Protocol):
    """Writes one table to one file in chunks of rows; `files` closes it."""

    def __init__(self, table: TableSchema, path: Path, files: ExitStack) -> None: ...

    def write(self, rows: Sequence[Row]) -> None: ...


class JsonLines:
    """One JSON object per line, with every column."""

    def __init__(self, table: TableSchema, path: Path, files: ExitStack) -> None:
        self._columns = table.columns
        self._file = files.enter_context(path.open("w", encoding="utf-8", newline="\n"))

    def write(self, rows: Sequence[Row]) -> None:
        self._file.writelines(compact_json(self._object(row)) + "\n" for row in rows)

    def _object(self, row: Row) -> dict[str, object]:
        return {
            column.name: moment_text(cell) if isinstance(cell, datetime) else cell
            for column, cell in zip(self._columns, row, strict=True)
        }


class Csv:
    """A header, then one line per row. Null is empty; a text that looks like a formula gets an apostrophe in front."""

    def __init__(self, table: TableSchema, path: Path, files: ExitStack) -> None:
        self._columns = table.columns
        self._writer = csv.writer(
            files.enter_context(path.open("w", encoding="utf-8", newline="")), lineterminator="\n"
        )
        self._writer.writerow([column.name for column in table.columns])

    def write(self, rows: Sequence[Row]) -> None:
        self._writer.writerows(
            [_csv_cell(column, cell) for column, cell in zip(self._columns, row, strict=True)] for row in rows
        )


def _csv_cell(column: ColumnSchema, cell: object) -> object:
    if cell is None:
        return ""
    if column.type == "json":
        return safe_cell(compact_json(cell))
    if isinstance(cell, datetime):
        return moment_text(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return safe_cell(cell)


class Parquet:
    """Typed columns with their meaning as field metadata, compressed with zstd."""

    def __init__(self, table: TableSchema, path: Path, files: ExitStack) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types = {
            "text": pa.string(), "json": pa.string(), "integer": pa.int64(), "number": pa.float64(),
            "truth": pa.bool_(), "moment": pa.timestamp("us", tz="UTC"),
        }  # fmt: skip
        self._columns = table.columns
        self._schema = pa.schema(
            [
                pa.field(
                    column.name, types[column.type], nullable=column.may_be_null, metadata={"meaning": column.meaning}
                )
                for column in table.columns
            ]
        )
        self._batch = pa.RecordBatch.from_arrays
        self._array = pa.array
        self._writer = files.enter_context(parquet.ParquetWriter(path, self._schema, compression="zstd"))

    def write(self, rows: Sequence[Row]) -> None:
        arrays = [
            self._array([_parquet_cell(column, row[index]) for row in rows], type=self._schema.field(index).type)
            for index, column in enumerate(self._columns)
        ]
        self._writer.write_batch(self._batch(arrays, schema=self._schema))


def _parquet_cell(column: ColumnSchema, cell: Any) -> object:  # noqa: ANN401 (any cell of any table)
    if cell is None or column.type != "json":
        return cell
    return compact_json(cell)


WRITERS: dict[str, type[Writer]] = {"jsonl": JsonLines, "csv": Csv, "parquet": Parquet}
