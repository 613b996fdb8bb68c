"""Primary keys are used again after a rolled back test; what was cached under them is not."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()
