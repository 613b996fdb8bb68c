"""The curated H100 and an accelerator made by hand, for the tests of this room."""

from tests.records.catalog.fixtures import bandwidth, card, h100, sheet_source

__all__ = ["bandwidth", "card", "h100", "sheet_source"]
