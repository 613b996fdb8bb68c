import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live import Site


@pytest.fixture(autouse=True)
def _programs_of_the_server(monkeypatch) -> None:
    """`pg_dump` and `psql` of the server that tests start: another version is refused."""
    if (found := importlib.util.find_spec("pgserver")) and "TEST_DATABASE_URL" not in os.environ:
        programs = Path(found.origin).parent / "pginstall" / "bin"
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def site_without_tables(tmp_path) -> Iterator[Callable[[str], Site]]:
    """`site_without_tables(database_url)`; the address is empty for SQLite."""
    made: list[Site] = []

    def make(database_url: str = "") -> Site:
        folder = tmp_path / f"empty{len(made)}"
        folder.mkdir()
        made.append(Site(folder, database_url=database_url))
        return made[-1]

    yield make
    for site in made:
        site.stop()
