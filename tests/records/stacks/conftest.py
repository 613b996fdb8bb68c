"""The curated stacks in the test's database."""

import pytest

from stackviz.records.catalog.models import CatalogueEdition
from tests.curated import copy_curated


@pytest.fixture
def stacks(db: None) -> None:
    """The curated stacks and every curated source, without accelerators."""
    copy_curated("stacks_", "catalog_source")
    CatalogueEdition.renew()  # that of the files names a catalogue with accelerators
