"""What a database must keep it can check by itself: a copy, a backup and another program open the file without Django."""

import sqlite3
from contextlib import closing

from tests.curated import migrated_file


def test_no_constraint_needs_a_function_of_python(tmp_path):
    with closing(sqlite3.connect(migrated_file())) as database:
        database.execute("VACUUM INTO ?", [str(tmp_path / "copy.sqlite3")])
        (outcome,) = database.execute("PRAGMA integrity_check").fetchone()
    assert outcome == "ok"
