"""Which databases the squashed migrations take over, and which they refuse."""

import pytest
from django.db.migrations.loader import MigrationLoader

from stackviz.web.squashed import TooOld, under_todays_names

SQUASHED, MIGRATION = next(
    (name, migration) for name, migration in MigrationLoader(None).replacements.items() if len(migration.replaces) > 2
)
REPLACED = set(map(tuple, MIGRATION.replaces))
ELSEWHERE = ("auth", "0001_initial")


@pytest.mark.parametrize(
    ("applied", "today"),
    [
        (set(), set()),
        ({ELSEWHERE}, {ELSEWHERE}),
        (REPLACED | {ELSEWHERE}, {SQUASHED, ELSEWHERE}),
        ({SQUASHED}, {SQUASHED}),
        (REPLACED | {SQUASHED}, {SQUASHED}),
    ],
    ids=["empty", "another room", "of before", "made today", "taken over"],
)
def test_what_was_applied_has_the_names_of_today(applied, today):
    assert under_todays_names(applied) == today


def test_a_room_with_missing_migrations_is_refused_by_name():
    missing = max(REPLACED)
    with pytest.raises(TooOld, match=f"{SQUASHED[0]} lacks {missing[1]}$"):
        under_todays_names(REPLACED - {missing})
