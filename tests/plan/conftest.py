"""The curated catalogue and stacks, as comparisons have them."""

from tests.compare.conftest import curated  # noqa: F401 (a fixture)
