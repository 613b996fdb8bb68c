"""Addresses that must never be named: in no committed file but their own list."""

from stackviz.records.catalog.never_named import forbidden_address_in, never_named
from tests.architecture.test_files import committed_files
from tests.live import ROOT

MAY_NAME = {"data/never_named.csv", "test_never_named.py", "test_check.py"}


def test_never_named_lines_are_complete():
    assert never_named()
    assert all(line.address and line.instead and line.reason for line in never_named())
    assert [line for line in never_named() if forbidden_address_in(line.instead)] == []


def test_no_committed_file_names_one():
    naming = []
    for name in committed_files():
        if name.endswith(tuple(MAY_NAME)):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        if forbidden_address_in(text):
            naming.append(name)
    assert naming == []
