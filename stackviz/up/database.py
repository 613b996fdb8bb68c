"""The database, brought to what this version expects: tables, then curated data. Says what it did, or what is wrong."""

from io import StringIO

from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from stackviz.up.errors import CannotStart


def migrate() -> str:
    """Applies what is missing, be it all or the rest of a migration that was cut off -> what was done, in words."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            call_command("migrate", verbosity=0, interactive=False)
    except OperationalError as error:
        raise CannotStart(_explain(error)) from error
    except DatabaseError as error:
        raise CannotStart(f"the database is not one of ours or is damaged: {error}\n{_way_out()}") from error
    return f"{len(missing)} migrations applied" if missing else "up to date"


def load(command: str) -> str:
    """Runs a loading command -> its last line: it says itself what changed."""
    output = StringIO()
    call_command(command, stdout=output)
    lines = output.getvalue().split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "done")


def place() -> str:
    """Where the data is, for people: a file, or a server without its password."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"SQLite, {settings['NAME']}"
    return f"{connection.display_name}, {settings['NAME']} on {settings['HOST'] or 'a local socket'}"


def _explain(error: OperationalError) -> str:
    if connection.vendor != "sqlite":
        return f"{place()} does not answer: {str(error).strip()}\nStart it, or mend DATABASE_URL."
    return f"the database cannot be used: {error}\n{_way_out()}"


def _way_out() -> str:
    if connection.vendor != "sqlite":
        return f"It is {place()} (DATABASE_URL)."
    file = connection.settings_dict["NAME"]
    return f"It is {file}. Put a good copy in its place, or move it away: the next start makes an empty one."
