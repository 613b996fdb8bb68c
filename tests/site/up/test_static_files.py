"""Static files are collected when one changed, and from an empty folder when the last time was cut off."""

import os
import time
from pathlib import Path

import pytest

from accelweb import settings as deployed
from stackviz.site.up import database
from stackviz.site.up.var_folder import CannotStart


@pytest.fixture
def source(tmp_path, settings) -> Path:
    """A folder with the site's only style sheet, collected into another as outside of tests."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "base.css").write_text("p { color: red }\n" * 100)
    settings.STORAGES = {**settings.STORAGES, "staticfiles": deployed.STORAGES["staticfiles"]}
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATICFILES_DIRS = [folder]
    return folder


def collected(settings) -> dict[str, bytes]:
    """What is collected, by the names that pages use; their compressed twins are left out."""
    root = Path(settings.STATIC_ROOT)
    return {path.name: path.read_bytes() for path in root.iterdir() if path.suffix == ".css"}


def test_nothing_is_collected_twice(source, settings):
    assert database.collect() == "8 files"
    before = collected(settings)
    assert set(before.values()) == {(source / "base.css").read_bytes()}
    assert database.collect() == "up to date"
    (source / "base.css").write_text("p { color: blue }")
    os.utime(source / "base.css", (later := time.time() + 10, later))  # within one second Django sees no change
    assert database.collect() != "up to date"
    assert collected(settings)["base.css"] == b"p { color: blue }"
    assert database.collect() == "up to date"


def test_what_was_cut_off_is_collected_from_an_empty_folder(source, settings):
    database.collect()
    whole, root = collected(settings), Path(settings.STATIC_ROOT)
    (root / ".collected").unlink()
    (root / "half.css").write_text("p {")
    (root / "base.css").write_text("p {")
    assert database.collect() != "up to date"
    assert collected(settings) == whole
    assert database.collect() == "up to date"


def test_they_are_collected_beside_other_steps(source, settings):
    collecting = database.Collecting()
    assert collecting.outcome() == "8 files"
    assert collected(settings)["base.css"] == (source / "base.css").read_bytes()


def test_files_that_cannot_be_collected_stop_the_start(source, settings, capfd):
    Path(settings.STATIC_ROOT).write_text("a file is in the way")
    with pytest.raises(CannotStart, match="could not be collected"):
        database.Collecting().outcome()
    assert "Traceback" in capfd.readouterr().err
