"""The curated stacks in the test's database."""

import pytest

from stackviz.catalog.change import Summary
from tests.curated import put_stacks


@pytest.fixture
def stacks(db: None) -> Summary:
    """The curated stacks, loaded. Returns what the load said."""
    return put_stacks()
