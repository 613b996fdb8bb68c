"""The curated stacks in the test's database."""

import pytest

from tests.curated import copy_curated


@pytest.fixture
def stacks(db: None) -> None:
    """The curated stacks and every curated source, without accelerators."""
    copy_curated("stacks_", "catalog_source", "catalog_catalogueedition")
