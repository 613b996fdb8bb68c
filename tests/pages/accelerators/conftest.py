"""The curated H100 and an accelerator made by hand, for the tests of this room."""

import pytest
from django.core.cache import cache

from tests.records.catalog.fixtures import bandwidth, card, h100, sheet_source

__all__ = ["bandwidth", "card", "h100", "sheet_source"]


@pytest.fixture(autouse=True)
def _empty_cache():
    """Nothing that another test rendered, perhaps with a part of it replaced."""
    cache.clear()
