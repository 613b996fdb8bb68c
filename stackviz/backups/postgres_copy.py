"""PostgreSQL: each table as COPY writes it, all in one read-only transaction, which sees one moment while others write.

No `pg_dump`: its version must fit the server's, and the image has none. The tables themselves are made by the
migrations that the backup names. Months of results that were taken out (`result_partitions --detach-before`) are
left out: no migration makes them, and a restore leaves those of the database alone.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from stackviz.backups.archive import Archive, BackupWriter, Manifest
from stackviz.backups.errors import BackupError
from stackviz.benchmarks.partitions import is_month_table

FOLDER = "tables/"
NAMED = 5  # tables, in a message
# A partition's rows are read through the table it is a part of.
_TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname"""
_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum"""
_SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1"


def tables() -> list[str]:
    """Without months that were taken out."""
    return [name for (name,) in _rows(_TABLES) if not is_month_table(name)]


def detached_months() -> list[str]:
    """Tables of the months that were taken out of the results."""
    return [name for (name,) in _rows(_TABLES) if is_month_table(name)]


@transaction.atomic
def write_tables(archive: BackupWriter) -> dict[str, Any]:
    """Returns what a restore needs besides the tables: their columns, in order, and where sequences stand."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    columns = _columns()
    for table, names in columns.items():
        archive.add(f"{FOLDER}{table}", _copied(table, names))
    sequences = {name: value for name, value in _rows(_SEQUENCES) if value is not None}
    return {"columns": columns, "sequences": sequences}


def _columns() -> dict[str, list[str]]:
    """Table -> its columns, in order."""
    return {table: [name for (name,) in _rows(_COLUMNS, _quoted(table))] for table in tables()}


def _copied(table: str, columns: list[str]) -> Iterator[bytes]:
    # A partitioned table has no rows of its own: COPY takes a query.
    query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(_names(columns), sql.Identifier(table))
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(query) as copy:
        for block in copy:
            yield bytes(block)


@transaction.atomic
def read_tables(archive: Archive) -> None:
    """All rows of all tables, which are as the backup's migrations made them, instead of what they hold.

    Raises BackupError where the backup has other tables or columns than those.
    """
    columns = backed_up_columns(archive.manifest)
    _refuse_other_tables(columns, _columns())
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(_names(tables())))
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for table, names in columns.items():
            statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _names(names))
            with connection.wrap_database_errors, cursor.copy(statement) as copy:
                for block in archive.blocks(f"{FOLDER}{table}"):
                    copy.write(block)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name, value in archive.manifest.extra["sequences"].items():
            cursor.execute("SELECT setval(%s::regclass, %s)", [_quoted(name), value])


def backed_up_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Table -> columns. Backups of earlier releases also have months that were taken out; these stay in the file."""
    columns: dict[str, list[str]] = manifest.extra["columns"]
    return {table: names for table, names in columns.items() if not is_month_table(table)}


def _refuse_other_tables(backup: dict[str, list[str]], made: dict[str, list[str]]) -> None:
    others = sorted(backup.keys() ^ made.keys())
    others += [table for table in sorted(backup.keys() & made.keys()) if set(backup[table]) != set(made[table])]
    if others:
        raise BackupError(
            f"the backup has other tables or columns than its migrations make: {', '.join(others[:NAMED])}. "
            "Nothing was changed"
        )


def drop_tables() -> None:
    """Everything in the schema but months that were taken out: the backup's own migrations make it anew."""
    if names := tables():
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE {} CASCADE").format(_names(names)))


def _names(names: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _rows(query: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    with connection.cursor() as cursor:
        cursor.execute(query, values or None)
        return list(cursor.fetchall())
