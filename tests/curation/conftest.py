"""The curated catalogue, a product made by hand and a lab, for the tests of this room."""

from tests.catalog.fixtures import bandwidth, card, h100, loaded, sheet_source
from tests.labs.conftest import dark, lab

__all__ = ["bandwidth", "card", "dark", "h100", "lab", "loaded", "sheet_source"]
