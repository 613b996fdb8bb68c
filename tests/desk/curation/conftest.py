"""The curated H100, an accelerator made by hand and a lab, for the tests of this room."""

from tests.records.catalog.fixtures import bandwidth, card, h100, sheet_source
from tests.records.labs.conftest import dark, desk, lab

__all__ = ["bandwidth", "card", "dark", "desk", "h100", "lab", "sheet_source"]
