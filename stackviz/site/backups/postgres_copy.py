"""PostgreSQL: each table as COPY writes it, all in one read-only transaction, which sees one moment while others write.

No `pg_dump`: its version must fit the server's, and the image has none. The tables themselves are made by the
migrations that the backup names. What else lies in the schema is left out, and a restore leaves it alone: tables of
somebody else, and months of results that were taken out (`result_partitions --detach-before`).
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from stackviz.records.series.partitions import is_month_table
from stackviz.site.backups.archive import Archive, BackupWriter, Manifest
from stackviz.site.backups.errors import BackupError

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
# Those of columns of these tables.
_SEQUENCES = """
    SELECT sequencename, last_value FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value IS NOT NULL AND EXISTS (
        SELECT FROM pg_depend
        WHERE objid = format('%%I.%%I', schemaname, sequencename)::regclass AND classid = 'pg_class'::regclass
            AND deptype IN ('a', 'i') AND refclassid = 'pg_class'::regclass AND refobjid = ANY (%s::regclass[]))
    ORDER BY 1"""


def tables() -> list[str]:
    """Tables of this site that are there: of its models, as the migrations that were applied have them."""
    of_site = own_tables()
    return [name for (name,) in _rows(_TABLES) if name in of_site]


def own_tables() -> set[str]:
    """Names; tables of earlier migrations too, where later ones are not applied yet."""
    loader = MigrationLoader(connection)
    nodes = [node for node in loader.applied_migrations if node in loader.graph.nodes]
    models = loader.project_state(nodes).apps.get_models(include_auto_created=True)
    names = {model._meta.db_table for model in models if model._meta.managed}  # noqa: SLF001 (Django's documented API)
    return names | {MigrationRecorder.Migration._meta.db_table}  # noqa: SLF001 (the same)


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
    sequences = dict(_rows(_SEQUENCES, [_quoted(table) for table in columns]))
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
    """All tables of this site: the backup's own migrations make them anew."""
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
