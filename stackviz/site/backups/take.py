"""Take a backup."""

from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from stackviz.records.series.partitions import is_partitioned, months
from stackviz.site.backups import postgres_copy, sqlite_copy
from stackviz.site.backups.archive import Manifest, writing
from stackviz.site.backups.errors import BackupError


def take_backup(path: Path) -> Manifest:
    """Write the whole database to a new file, as it is at one moment. Raises BackupError, OSError."""
    if path.exists():
        raise BackupError(f"{path} exists; choose another name, or remove it")
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    if not applied:
        raise BackupError("this database has no tables of accelweb")
    with writing(path) as archive:
        if connection.vendor == "sqlite":
            sqlite_copy.write_database(Path(connection.settings_dict["NAME"]), archive)
            extra = {}
        else:
            extra = postgres_copy.write_tables(archive)
            extra["months"] = [month.isoformat() for month in months()] if is_partitioned() else []
        return archive.finish(
            {
                "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "site_version": settings.VERSION,
                "database": connection.vendor,
                "migrations": [[app, name] for app, name in applied],
                "extra": extra,
            }
        )
