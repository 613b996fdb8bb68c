"""Prepare the database: migrations, then curated data."""

from io import StringIO

from django.core.checks import Tags, run_checks
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from stackviz.site.up.errors import CannotStart


def migrate() -> str:
    """Apply missing migrations, also after an interrupted run. Returns the outcome as text. Raises CannotStart."""
    try:
        for problem in run_checks(tags=[Tags.database], databases=[connection.alias]):
            if problem.is_serious():
                raise CannotStart(f"{problem.msg}\n{problem.hint}")
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            call_command("migrate", verbosity=0, interactive=False)
    except OperationalError as error:
        raise CannotStart(_explain(error)) from error
    except DatabaseError as error:
        raise CannotStart(f"the database is damaged or belongs to another program: {error}\n{_way_out()}") from error
    return f"{len(missing)} migrations applied" if missing else "up to date"


def run_loader(command: str) -> str:
    """Run a loading command. Returns what its last line says of the changes, without the name and digest before it."""
    output = StringIO()
    call_command(command, stdout=output)
    lines = output.getvalue().split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "done")
    return last.partition(": ")[2] or last


def describe_location() -> str:
    """The database as text: a file, or a server without its password."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"SQLite, {settings['NAME']}"
    return f"{connection.display_name}, {settings['NAME']} on {settings['HOST'] or 'a local socket'}"


def _explain(error: OperationalError) -> str:
    if connection.vendor != "sqlite":
        return f"{describe_location()} does not answer: {str(error).strip()}\nStart it, or correct DATABASE_URL."
    return f"the database cannot be used: {error}\n{_way_out()}"


def _way_out() -> str:
    if connection.vendor != "sqlite":
        return f"The database is {describe_location()} (DATABASE_URL)."
    file = connection.settings_dict["NAME"]
    return f"The file is {file}. Restore a backup, or move it away: the next start creates an empty database."
