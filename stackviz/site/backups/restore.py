"""Restore a backup: verify it, refuse what would lose data, replace the database, bring it up to this release."""

from datetime import date
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Report
from stackviz.records.series.partitions import is_partitioned, make_months, partition_of
from stackviz.site.backups import postgres_copy, sqlite_copy
from stackviz.site.backups.archive import Archive, Manifest
from stackviz.site.backups.errors import BackupError
from stackviz.web.squashed import BEFORE_SQUASH, TooOld, under_todays_names


def restore_backup(path: Path, *, replace: bool) -> Manifest:
    """Make the database what it was. Raises BackupError, DatabaseError; the database is replaced as a whole, or not.

    `replace`: also where people, labs or reports are stored. A backup of an earlier release is migrated.
    """
    archive = Archive(path)
    try:
        _refuse(archive.manifest, replace=replace)
        _refuse_hollow(archive)
        if connection.vendor == "sqlite":
            connection.close()
            sqlite_copy.read_database(archive, Path(connection.settings_dict["NAME"]))
        else:
            _restore_postgres(archive)
    finally:
        archive.close()
    call_command("migrate", verbosity=0, interactive=False)
    record("backup.restored", f"backup taken at {archive.manifest.taken_at}", version=archive.manifest.site_version)
    for name in caches:
        caches[name].clear()  # pages of the database that was here
    return archive.manifest


def check_backup(path: Path) -> Manifest:
    """The manifest of a file that could be restored by this release. Raises BackupError."""
    archive = Archive(path)
    try:
        _refuse_other_releases(archive.manifest)
        _refuse_hollow(archive)
        if archive.manifest.database == "sqlite":
            sqlite_copy.check_copy(archive, path.parent)
    finally:
        archive.close()
    return archive.manifest


def _refuse(manifest: Manifest, *, replace: bool) -> None:
    if manifest.database != connection.vendor:
        raise BackupError(f"this is a backup of {manifest.database}, and the site's database is {connection.vendor}")
    _refuse_other_releases(manifest)
    if not replace and (stored := _what_is_stored()):
        raise BackupError(f"this database is in use: {stored}. Take a backup of it first, then add --replace")


def _refuse_hollow(archive: Archive) -> None:
    """A file with a sound manifest that lacks what a restore of its database needs."""
    manifest = archive.manifest
    if manifest.database == "sqlite":
        missing = {sqlite_copy.PART} - manifest.parts.keys()
    else:
        extra = manifest.extra
        missing = {name for name in ("columns", "sequences") if not isinstance(extra.get(name), dict)}
        missing |= {"months"} if not isinstance(extra.get("months"), list) else set()
        missing |= {f"{postgres_copy.FOLDER}{table}" for table in extra.get("columns") or ()} - manifest.parts.keys()
    if missing:
        raise BackupError(f"the backup is incomplete; it lacks {', '.join(sorted(missing)[:3])}")


def _refuse_other_releases(manifest: Manifest) -> None:
    """Refuse a backup of a newer release, and one from before the migrations were squashed."""
    known = MigrationExecutor(connection).loader.disk_migrations
    unknown = [f"{app}.{name}" for app, name in sorted(_applied(manifest)) if (app, name) not in known]
    if unknown:
        raise BackupError(
            f"the backup was taken by a newer release ({manifest.site_version}): this one does not know "
            f"{', '.join(unknown[:3])}. Upgrade the site, then restore"
        )


def _applied(manifest: Manifest) -> set[tuple[str, str]]:
    """The migrations of the backup under the names of today."""
    try:
        return under_todays_names((app, name) for app, name in manifest.migrations)
    except TooOld as problem:
        raise BackupError(
            f"the backup was taken before 0.1.0: {problem}. Restore it with commit {BEFORE_SQUASH}, "
            "take a new backup there, and restore that one"
        ) from None


def _what_is_stored() -> str:
    """`2 users, 1 labs`; empty for a database without people, labs and reports, whatever the catalogue has."""
    if Lab._meta.db_table not in connection.introspection.table_names():  # noqa: SLF001 (Django's documented API)
        return ""
    counts = {"users": User.objects.count(), "labs": Lab.objects.count(), "reports": Report.objects.count()}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


@transaction.atomic
def _restore_postgres(archive: Archive) -> None:
    """In one transaction, the new tables too: whatever fails, the database stays as it was."""
    months = [date.fromisoformat(month) for month in archive.manifest.extra["months"]]
    _refuse_detached(months)
    postgres_copy.drop_tables()
    executor = MigrationExecutor(connection, _check_constraints)
    executor.migrate(_newest_of_each_app(archive.manifest, executor))
    if months and is_partitioned():
        make_months(months[0], months[-1])
    postgres_copy.read_tables(archive)


def _refuse_detached(months: list[date]) -> None:
    """A month of the backup that the database has as a table of its own has to make room first."""
    if both := sorted({partition_of(month) for month in months} & set(postgres_copy.detached_months())):
        raise BackupError(
            f"the backup has months that were taken out of this database: {', '.join(both)}. "
            "Export these tables and drop them, then restore"
        )


def _check_constraints(action: str, *_args: Any, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
    """After each migration, as its commit would: no table with checks that wait can be altered by the next one."""
    if action == "apply_success":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _newest_of_each_app(manifest: Manifest, executor: MigrationExecutor) -> list[tuple[str, str]]:
    """Migrations of the backup that no other one of their app follows."""
    applied = _applied(manifest)
    nodes = executor.loader.graph.node_map
    followed = {
        key for key in applied if any(child.key[0] == key[0] and child.key in applied for child in nodes[key].children)
    }
    return sorted(applied - followed)
