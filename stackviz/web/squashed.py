"""Migrations under the names of today: those of the commits before 0.1.0 were squashed to one or two a room.

Django takes a squashed migration as applied where all of those it replaces are. Where only some are, their files are
gone, and Django would leave the room out without a word.
"""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

Name = tuple[str, str]  # room, migration
BEFORE_SQUASH = "8695c0f7"  # the last commit that has all of them


class TooOld(Exception):
    """Some of the migrations that one of today replaces were applied, and others were not."""


def under_todays_names(applied: Iterable[Name]) -> set[Name]:
    """What was applied, with each complete set of squashed migrations under its new name. Raises TooOld."""
    names = set(applied)
    for squashed, migration in MigrationLoader(None).replacements.items():
        replaced = {(room, name) for room, name in migration.replaces}
        if replaced <= names:
            names.add(squashed)
        elif replaced & names and squashed not in names:
            missing = sorted(name for _room, name in replaced - names)
            raise TooOld(f"{squashed[0]} lacks {', '.join(missing)}")
        names -= replaced
    return names


@register(Tags.database)
def check_migrations(databases: Iterable[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    """A database older than the squash is refused: `migrate` runs this before anything else."""
    for alias in databases or ():
        try:
            under_todays_names(MigrationRecorder(connections[alias]).applied_migrations())
        except TooOld as problem:
            hint = f"Check out commit {BEFORE_SQUASH}, run `manage.py migrate` there, then come back to this release."
            return [Error(f"The database was made before 0.1.0: {problem}.", hint=hint, id="accelweb.E004")]
    return []
