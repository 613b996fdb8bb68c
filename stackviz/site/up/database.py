"""Prepare the database and the static files: migrations, curated data, what changed since the last start."""

import hashlib
import multiprocessing
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import Tags, run_checks
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from stackviz.site.up.var_folder import CannotStart


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


if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def collect() -> str:
    """Collect, hash and compress all files unless nothing changed. Returns the outcome as text."""
    if settings.DEBUG:
        return "served from the source folders (DEBUG)"
    root = Path(settings.STATIC_ROOT)
    stamp = root / ".collected"
    wanted = static_fingerprint()
    if stamp.exists() and stamp.read_text() == wanted:
        return "up to date"
    # Without the stamp an earlier run was interrupted, perhaps within a file: start from an empty folder.
    was_cut_off = not stamp.exists()
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", verbosity=0, interactive=False, clear=was_cut_off)
    stamp.write_text(wanted)
    return f"{sum(1 for path in root.rglob('*') if path.is_file())} files"


class Collecting:
    """`collect` in a second process, on another core; begin before the first query: connections are not shared."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._outcome, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_collect_and_tell, args=(sender,), daemon=True)
        self._process.start()
        sender.close()

    def outcome(self) -> str:
        """Wait until it is done -> the outcome as text. Raises CannotStart."""
        try:
            outcome: str = self._outcome.recv()
        except EOFError:
            raise CannotStart("static files could not be collected; see above") from None
        self._process.join()
        return outcome


def _collect_and_tell(sender: "Connection[str, str]") -> None:
    sender.send(collect())


def static_fingerprint() -> str:
    """Changes when a file is added, removed or edited, or when the storage settings change."""
    digest = hashlib.sha256(f"{django.__version__} {settings.STORAGES['staticfiles']}".encode())
    config = apps.get_app_config("staticfiles")
    ignored = config.ignore_patterns if isinstance(config, StaticFilesConfig) else []
    for finder in get_finders():
        for path, storage in finder.list(ignored):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
