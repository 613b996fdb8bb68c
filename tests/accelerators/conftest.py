"""The curated catalogue and a product made by hand, for the tests of this room."""

from tests.catalog.fixtures import bandwidth, card, h100, loaded, sheet_source

__all__ = ["bandwidth", "card", "h100", "loaded", "sheet_source"]
